//! A poster's steps.

use super::property::{Reached, Reaches};
use super::scenario::Scenario;
use super::state::{At, Pc, Poster, State, Word};
use super::variant::Variant;
use cmwq_core::pool::Claim;

/// One poster about to take its next step.
pub(super) struct Drive<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) variant: Variant,
    pub(super) reached: &'a Reaches,
    pub(super) state: &'a mut State,
    pub(super) poster: usize,
}

impl Drive<'_> {
    fn is(&self, variant: Variant) -> bool {
        self.variant == variant
    }

    fn goto(&mut self, pc: Pc) {
        self.state.posters[self.poster].pc = pc;
    }

    /// The poster's next step.
    pub(super) fn step(&mut self) {
        match self.state.posters[self.poster].pc {
            Pc::Push => self.step_push(),
            Pc::Link(behind) => self.step_link(behind),
            Pc::Count => self.step_count(),
            Pc::Look => self.step_look(),
            Pc::Claim => self.step_claim(),
            Pc::Issue => self.step_issue(),
            Pc::Wake => {
                self.wake_thread();
                self.goto(Pc::Mark);
            }
            Pc::Mark => self.step_mark(),
        }
    }

    /// One step on the head: the messages of the call, their number, and whether they are forced.
    fn step_push(&mut self) {
        let call = usize::from(self.state.posters[self.poster].call);
        let post = self.scenario.posters[self.poster][call];
        let first = self.scenario.message(self.poster, call);
        let was_empty = self.state.list.as_slice().is_empty();
        for message in first..first + post.length {
            self.state.list.push(message);
            self.state.pushed |= 1 << message;
        }
        if !self.is(Variant::ForcedUntold) {
            self.state.forced |= post.forced;
        }
        let (length, forced) = (self.state.list.as_slice().len() as u8, self.state.forced || post.forced);
        let me = &mut self.state.posters[self.poster];
        (me.length, me.forced) = (length, forced);
        match self.variant {
            Variant::PushInTwo => {
                self.state.unlinked |= 1 << first;
                self.goto(Pc::Link(Some(first)));
            }
            Variant::CountApart => self.goto(Pc::Count),
            Variant::EmptyDecides if !was_empty => self.done(),
            Variant::CreditEventfdWaiter if !was_empty => self.done(),
            Variant::CreditEventfdWaiter => self.goto(Pc::Issue),
            _ => self.goto(Pc::Look),
        }
    }

    fn step_link(&mut self, message: Option<u8>) {
        for message in message {
            self.state.unlinked &= !(1 << message);
        }
        self.goto(Pc::Look);
    }

    fn step_count(&mut self) {
        let call = usize::from(self.state.posters[self.poster].call);
        self.state.count += self.scenario.posters[self.poster][call].length;
        self.state.posters[self.poster].length = self.state.count;
        self.goto(Pc::Look);
    }

    /// Reads the waiter's word. Nothing is owed unless the waiter sleeps and what is there is worth waking for.
    fn step_look(&mut self) {
        let me = self.state.posters[self.poster];
        let word = self.state.word;
        let (asleep, need) = match word {
            Word::Nothing => (false, 0),
            Word::Credit(credit) => (credit > 0, credit),
            Word::Futex(word, need) => (word.is_parked() || word.is_woken(), need),
            Word::Ring(word) => (word.is_parked(), word.need()),
        };
        let due = me.forced || me.length >= need;
        self.state.posters[self.poster].saw = word;
        if !asleep || !due {
            self.done();
            return;
        }
        self.reached.mark(if me.length >= need { Reached::DueByCount } else { Reached::DueByForce });
        let claims = self.variant.is_credit() || self.is(Variant::HelpedFutex) || self.is(Variant::UnparkedEarly);
        self.goto(if claims {
            Pc::Claim
        } else if self.is(Variant::MarkFirst) {
            Pc::Mark
        } else {
            Pc::Issue
        });
    }

    fn step_claim(&mut self) {
        let saw = self.state.posters[self.poster].saw;
        match &mut self.state.word {
            Word::Futex(word, _) => match word.claim().apply(word) {
                Claim::Issue(claimed) | Claim::Help(claimed) => {
                    self.state.posters[self.poster].saw = Word::Futex(claimed, 0);
                    self.goto(Pc::Issue);
                }
                Claim::Nothing => self.done(),
            },
            word if *word == saw => {
                match word {
                    Word::Credit(credit) => *credit = 0,
                    Word::Ring(ring) => *ring = ring.resume(),
                    _ => unreachable!("nothing else is claimed"),
                }
                self.goto(Pc::Issue);
            }
            // It has changed since: the poster looks again.
            _ => self.goto(Pc::Look),
        }
    }

    fn step_issue(&mut self) {
        if self.is(Variant::HelpedFutex) {
            if std::mem::take(&mut self.state.queued) {
                self.goto(Pc::Wake);
            } else {
                self.goto(Pc::Mark);
            }
            return;
        }
        if self.variant.is_credit() {
            self.wake_thread();
        } else {
            self.state.token = true;
        }
        let marks = matches!(self.state.posters[self.poster].saw, Word::Ring(_));
        if marks && !self.is(Variant::MarkFirst) && !self.is(Variant::UnparkedEarly) {
            self.goto(Pc::Mark);
        } else {
            self.done();
        }
    }

    /// Wakes the waiter as a thread: nothing is left for a sleep it has not begun.
    fn wake_thread(&mut self) {
        self.state.token |= matches!(self.state.waiter.at, At::SecondLook | At::Asleep);
    }

    fn step_mark(&mut self) {
        let saw = self.state.posters[self.poster].saw;
        let marked = match (&mut self.state.word, saw) {
            (Word::Futex(word, _), Word::Futex(claimed, _)) => {
                let before = *word;
                word.issued(claimed).apply(word);
                before != *word
            }
            (Word::Ring(word), Word::Ring(seen)) => {
                let before = *word;
                let claimed = if self.variant == Variant::EpochIgnored { before } else { seen };
                *word = word.issued(claimed);
                before != *word
            }
            _ => unreachable!("only wake-ups under a word are marked"),
        };
        self.reached.mark(if marked { Reached::Marked } else { Reached::LateMark });
        if self.is(Variant::MarkFirst) && marked {
            self.goto(Pc::Issue);
        } else {
            self.done();
        }
    }

    /// The call returns.
    fn done(&mut self) {
        let call = usize::from(self.state.posters[self.poster].call);
        let post = self.scenario.posters[self.poster][call];
        let first = self.scenario.message(self.poster, call);
        for message in first..first + post.length {
            self.state.returned |= 1 << message;
        }
        self.state.posters[self.poster] = Poster { call: call as u8 + 1, ..Poster::default() };
        let is_owed = |p: &Poster| matches!(p.pc, Pc::Claim | Pc::Issue | Pc::Wake);
        let beside = self.state.posters.iter().any(is_owed);
        if beside && self.state.waiter.at == At::Asleep && self.state.is_due(self.scenario, self.state.returned) {
            self.reached.mark(Reached::ReturnedBesideOwed);
        }
    }
}
