//! The waiter's steps: take everything; was it enough? Else say so, look again, sleep.

use super::property::{Reached, Reaches, Rule};
use super::scenario::Scenario;
use super::state::{At, Row, State, Word};
use super::variant::Variant;

/// The waiter about to take its next step.
pub(super) struct Wait<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) variant: Variant,
    pub(super) reached: &'a Reaches,
    pub(super) state: &'a mut State,
}

impl State {
    /// How many messages can be reached: those before the first that is linked to nothing.
    fn reachable(&self) -> usize {
        let messages = self.list.as_slice();
        messages.iter().position(|&m| self.unlinked >> m & 1 == 1).unwrap_or(messages.len())
    }
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
                let seen = self.state.list.as_slice().len() as u8;
                self.goto(At::Clear(seen));
            }
            At::Take => {
                let reachable = self.state.reachable();
                self.take(reachable);
            }
            At::Clear(seen) => {
                self.take(usize::from(seen));
                self.state.list = Row::default();
                self.state.forced = false;
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
        }
    }

    /// One step on the head: the oldest so many messages are the waiter's, in the order of their posts.
    fn take(&mut self, count: usize) {
        let mut taken = self.state.list.as_slice()[..count].to_vec();
        let mut left = Row::default();
        self.state.list.as_slice()[count..].iter().for_each(|&m| left.push(m));
        self.state.list = left;
        let forced = self.state.forced && count > 0;
        self.state.forced &= !left.as_slice().is_empty();
        let posters = |m: &u8| self.scenario.poster_of(*m);
        if taken.windows(2).any(|two| posters(&two[0]) == posters(&two[1])) {
            self.reached.mark(Reached::TwoInOneTake);
        }
        if self.is(Variant::Unreversed) {
            taken.reverse();
        }
        for message in taken {
            self.deliver(message);
            self.state.waiter.have += 1;
        }
        let all = self.scenario.messages();
        if self.state.taken.as_slice().len() == usize::from(all) {
            self.reached.mark(Reached::AllTaken);
        }
        if forced {
            // As for a wait that is over: the caller has something to do at once.
            self.state.waiter.have = self.state.waiter.have.max(self.scenario.need);
        }
        if self.is(Variant::CountApart) {
            self.goto(At::Discount);
        } else {
            self.judge();
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
            self.goto(At::Take);
            if self.state.list.as_slice().is_empty() {
                self.goto(At::Park);
            }
        } else {
            self.goto(At::Park);
        }
        if self.is(Variant::CreditEventfdWaiter) && self.state.waiter.at == At::Park {
            self.goto(At::Asleep);
        }
    }

    fn park(&mut self) {
        let need = self.state.need(self.scenario);
        match &mut self.state.word {
            Word::Nothing => {}
            Word::Credit(credit) => *credit = need,
            Word::Futex(word, stored) => {
                word.announce().apply(word);
                *stored = need;
            }
            Word::Ring(word) => *word = word.park(need),
        }
        self.goto(if self.is(Variant::NoSecondLook) { At::Asleep } else { At::SecondLook });
    }

    fn second_look(&mut self) {
        let (length, forced) = match self.variant {
            Variant::CountApart => (self.state.count, self.state.forced),
            Variant::PushInTwo => (self.state.reachable() as u8, self.state.forced && self.state.reachable() > 0),
            _ => (self.state.list.as_slice().len() as u8, self.state.forced),
        };
        let need = self.state.need(self.scenario);
        if forced || length >= need {
            self.reached.mark(Reached::SecondLook);
            self.goto(At::Unpark);
        } else if self.is(Variant::HelpedFutex) {
            self.goto(At::Enter);
        } else {
            self.goto(At::Asleep);
        }
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
            let need = self.state.need(self.scenario);
            if !self.state.forced && self.state.list.as_slice().len() < usize::from(need) {
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
            Word::Ring(word) => *word = word.resume(),
        }
    }
}
