//! The waiter's steps: take everything; was it enough? Else say so, look again, sleep.

use super::property::{Reached, Reaches, Rule};
use super::scenario::Scenario;
use super::state::{At, State, Word};
use super::variant::Variant;
use cmwq_core::completion::{HeadWord, Rester};

/// The waiter about to take its next step.
pub(super) struct Wait<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) variant: Variant,
    pub(super) reached: &'a Reaches,
    pub(super) state: &'a mut State,
}

impl Wait<'_> {
    fn is(&self, variant: Variant) -> bool {
        self.variant == variant
    }

    fn goto(&mut self, at: At) {
        self.state.waiter.at = at;
    }

    /// The waiter's next step; `expires`: its deadline passes.
    pub(super) fn step(&mut self, expires: bool) {
        match self.state.waiter.at {
            At::Take if self.is(Variant::TakeInTwo) => {
                let seen = self.state.head;
                self.goto(At::Clear(seen));
            }
            // Behind a message that is not linked nothing can be reached.
            At::Take if self.state.unlinked != 0 => self.judge(),
            At::Take => {
                let taken = self.state.head.take().apply(&mut self.state.head);
                self.take(taken);
            }
            At::Clear(seen) => {
                self.state.head = HeadWord::from_bits(self.state.head.bits() & HeadWord::KEPT);
                self.take(seen);
            }
            At::Discount => {
                self.state.count = 0;
                self.judge();
            }
            At::Park => self.park(),
            At::SecondLook => self.second_look(),
            At::Enter => self.enter(),
            At::Asleep => self.wake(expires),
            At::Unpark => {
                self.resume();
                self.goto(At::Take);
            }
            At::Ended => unreachable!("it takes no step"),
        }
    }

    /// T1, one step on the head: what was there is the waiter's, in the order of the posts.
    fn take(&mut self, seen: HeadWord) {
        let mut taken = self.state.list(seen).as_slice().to_vec();
        let poster = |m: &u8| self.scenario.poster_of(*m);
        if taken.windows(2).any(|two| poster(&two[0]) == poster(&two[1])) {
            self.reached.mark(Reached::TwoInOneTake);
        }
        if !self.is(Variant::Unreversed) {
            taken.reverse();
        }
        self.state.waiter.have += taken.len() as u8;
        taken.into_iter().for_each(|message| self.deliver(message));
        if self.state.taken.as_slice().len() == usize::from(self.scenario.messages()) {
            self.reached.mark(Reached::AllTaken);
        }
        if seen.is_forced() {
            // As for a wait that is over: the caller has something to do at once.
            self.state.waiter.have = self.scenario.need;
        }
        match seen.is_closed() {
            true => self.goto(At::Ended),
            false if self.is(Variant::CountApart) => self.goto(At::Discount),
            false => self.judge(),
        }
    }

    fn deliver(&mut self, message: u8) {
        if self.state.taken.contains(message) {
            self.state.break_rule(Rule::ExactlyOnce, "a message is handed out twice");
            return;
        }
        let of = self.scenario.poster_of(message);
        let later = |&&m: &&u8| m > message && self.scenario.poster_of(m) == of;
        if self.state.taken.as_slice().iter().any(|m| later(&m)) {
            self.state.break_rule(Rule::Order, "a message is handed out after a later one of its poster");
        }
        self.state.taken.push(message);
    }

    /// Enough, or too late: the wait is over, and the next one begins.
    fn judge(&mut self) {
        let waiter = &mut self.state.waiter;
        if waiter.have >= self.scenario.need || waiter.timed_out {
            (waiter.have, waiter.timed_out) = (0, false);
            let more = self.state.head.newest() != 0 && self.state.unlinked == 0;
            self.goto(if more { At::Take } else { At::Park });
        } else {
            self.goto(At::Park);
        }
        if self.is(Variant::CreditEventfdWaiter) && self.state.waiter.at == At::Park {
            self.goto(At::Asleep);
        }
    }

    /// T2.
    fn park(&mut self) {
        let need = self.state.need(self.scenario);
        match &mut self.state.word {
            Word::Nothing => {}
            Word::Credit(credit) => *credit = need,
            Word::Futex(word, stored) => {
                word.announce().apply(word);
                *stored = need;
            }
            Word::Ring(word) => word.park(need.into(), Rester::Thread).apply(word),
        }
        self.goto(if self.is(Variant::NoSecondLook) { At::Asleep } else { At::SecondLook });
    }

    /// T3.
    fn second_look(&mut self) {
        let head = self.state.head;
        let need = u32::from(self.state.need(self.scenario));
        let due = match self.variant {
            Variant::CountApart => {
                head.is_forced() || head.is_closed() || u32::from(self.state.count) >= need
            }
            _ => head.is_due(need) && self.state.unlinked == 0,
        };
        if due {
            self.reached.mark(Reached::SecondLook);
        }
        self.goto(match due {
            true => At::Unpark,
            false if self.is(Variant::HelpedFutex) => At::Enter,
            false => At::Asleep,
        });
    }

    /// The system queues the waiter unless its word has changed since it parked.
    fn enter(&mut self) {
        let Word::Futex(word, _) = self.state.word else { unreachable!("only a futex has a queue") };
        if word.is_parked() {
            self.state.queued = true;
            self.goto(At::Asleep);
        } else {
            self.goto(At::Unpark);
        }
    }

    fn wake(&mut self, expires: bool) {
        if expires {
            self.reached.mark(Reached::DeadlinePassed);
            self.state.waiter.timeouts -= 1;
            self.state.waiter.timed_out = true;
        } else {
            self.reached.mark(Reached::Woken);
            self.state.token = false;
            if !self.state.head.is_due(self.state.need(self.scenario).into()) {
                self.reached.mark(Reached::SpuriousPass);
            }
        }
        self.state.queued = false;
        self.goto(At::Unpark);
    }

    fn resume(&mut self) {
        if self.variant.is_credit() || self.is(Variant::HelpedFutex) {
            // A thread that runs has consumed what woke it.
            self.state.token = false;
        }
        match &mut self.state.word {
            Word::Nothing => {}
            Word::Credit(credit) => *credit = 0,
            Word::Futex(word, _) => word.resume().apply(word),
            Word::Ring(word) => word.resume().apply(word),
        }
    }
}
