//! A poster's steps.

use super::property::{Reached, Reaches};
use super::scenario::{Post, Scenario};
use super::state::{At, Pc, Poster, State, Word};
use super::variant::Variant;
use cmwq_core::completion::{self, HeadWord, Owed, Urgency};
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
            Pc::Link(message) => {
                self.state.unlinked &= !(1 << message);
                self.goto(Pc::Look);
            }
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

    fn post(&self) -> (Post, u8) {
        let call = usize::from(self.state.posters[self.poster].call);
        (self.scenario.posters[self.poster][call], self.scenario.message(self.poster, call))
    }

    /// P1, one step on the head: the messages of the call, their number, and whether they are forced.
    fn step_push(&mut self) {
        let (post, first) = self.post();
        let was_empty = self.state.head.newest() == 0;
        if post.closes() {
            let _ = self.state.head.close().apply(&mut self.state.head);
        } else if !self.push(post, first) {
            self.reached.mark(Reached::Refused);
            self.done();
            return;
        }
        self.state.posters[self.poster].head = self.state.head;
        match self.variant {
            Variant::PushInTwo if !post.closes() => {
                self.state.unlinked |= 1 << first;
                self.goto(Pc::Link(first));
            }
            Variant::CountApart if !post.closes() => self.goto(Pc::Count),
            Variant::EmptyDecides | Variant::CreditEventfdWaiter if !was_empty && !post.closes() => {
                self.done()
            }
            Variant::CreditEventfdWaiter => self.goto(Pc::Issue),
            _ => self.goto(Pc::Look),
        }
    }

    /// Whether the ring took the messages.
    fn push(&mut self, post: Post, first: u8) -> bool {
        let urgency = match post.forced && !self.is(Variant::ForcedUntold) {
            true => Urgency::Forced,
            false => Urgency::Lazy,
        };
        let last = first + post.length - 1;
        let head = &mut self.state.head;
        match head.post(u64::from(last) + 1, post.length.into(), urgency).apply(head) {
            completion::Post::Closed => return false,
            completion::Post::Posted { below } => self.state.below[usize::from(first)] = below as u8,
        }
        for message in first..=last {
            self.state.pushed |= 1 << message;
            if message > first {
                self.state.below[usize::from(message)] = message;
            }
        }
        true
    }

    fn step_count(&mut self) {
        self.state.count += self.post().0.length;
        self.state.posters[self.poster].count = self.state.count;
        self.goto(Pc::Look);
    }

    /// P2, reads the waiter's word. Nothing is owed unless the waiter sleeps and what is there is worth waking for.
    fn step_look(&mut self) {
        let head = self.state.posters[self.poster].head;
        let word = self.state.word;
        if !self.is_owed(word, head) {
            self.done();
            return;
        }
        self.state.posters[self.poster].saw = word;
        self.reached.mark(match (head.is_closed(), head.length() >= word.need()) {
            (true, _) => Reached::DueByClose,
            (_, true) => Reached::DueByCount,
            _ => Reached::DueByForce,
        });
        let claims =
            self.variant.is_credit() || self.is(Variant::HelpedFutex) || self.is(Variant::UnparkedEarly);
        self.goto(match claims {
            true => Pc::Claim,
            false if self.is(Variant::MarkFirst) => Pc::Mark,
            false => Pc::Issue,
        });
    }

    fn is_owed(&self, word: Word, head: HeadWord) -> bool {
        match word {
            Word::Nothing => false,
            Word::Credit(credit) => credit > 0 && head.is_due(word.need()),
            Word::Futex(wake, _) => (wake.is_parked() || wake.is_woken()) && head.is_due(word.need()),
            Word::Ring(rest) if self.is(Variant::CountApart) && !head.is_closed() => {
                let enough = u32::from(self.state.posters[self.poster].count) >= word.need();
                rest.is_parked() && (head.is_forced() || enough)
            }
            Word::Ring(rest) => match rest.owed(head) {
                Owed::Wake(_) => true,
                // It knows of its own force, if nobody else does.
                Owed::Nothing => self.is(Variant::ForcedUntold) && rest.is_parked() && self.post().0.forced,
            },
        }
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
                    Word::Ring(rest) => rest.resume().apply(rest),
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
                let blind = self.variant == Variant::EpochIgnored && before.is_parked();
                word.issued(if blind { before } else { seen }).apply(word);
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
        let (post, first) = self.post();
        for message in (first..first + post.length).filter(|m| self.state.pushed >> m & 1 == 1) {
            self.state.returned |= 1 << message;
        }
        self.state.closed |= post.closes();
        let me = &mut self.state.posters[self.poster];
        *me = Poster { call: me.call + 1, ..Poster::default() };
        let is_owed = |p: &Poster| matches!(p.pc, Pc::Claim | Pc::Issue | Pc::Wake);
        let beside = self.state.posters.iter().any(is_owed);
        if beside
            && self.state.waiter.at == At::Asleep
            && self.state.is_due(self.scenario, self.state.returned)
        {
            self.reached.mark(Reached::ReturnedBesideOwed);
        }
    }
}
