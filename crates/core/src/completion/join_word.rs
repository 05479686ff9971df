//! The join word: one result, one handle, one worker.
//!
//! | bit | field | set by | means |
//! |---|---|---|---|
//! | 0 | DONE | the worker | the result lies in its place and belongs to the handle (or is dropped if DETACHED) |
//! | 1 | WAITING | the handle | a thread sleeps on this word |
//! | 2 | WAKER | the handle | the waker's place is filled and belongs to the worker |
//! | 3 | DETACHED | the handle | nobody will ask for the result |
//!
//! While WAKER is clear the waker's place belongs to the handle; whoever sets DONE while WAKER is set takes it. After
//! DONE with WAKER clear nobody but the handle touches it. So a waker is called at most once and dropped exactly once.

use crate::step::Step;

const DONE: u32 = 1;
const WAITING: u32 = 1 << 1;
const WAKER: u32 = 1 << 2;
const DETACHED: u32 = 1 << 3;

/// The word of one join. See the table in the module's documentation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct JoinWord(u32);

/// What the worker owes after it has completed.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Completed {
    /// A thread sleeps on the word.
    pub wake: bool,
    /// The waker's place is filled and now the worker's: take it and wake it.
    pub waker: bool,
    /// Nobody asks for the result: drop it.
    pub detached: bool,
}

/// What the handle's side learns.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Joining {
    /// The result is there. A waker published before has been, or will be, called by the worker, unless it had been
    /// retracted.
    Ready,
    /// Not yet; what was asked for has been done.
    Pending,
}

impl JoinWord {
    /// The word from its stored bits.
    pub const fn from_bits(bits: u32) -> JoinWord {
        JoinWord(bits)
    }

    /// The word's stored bits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether the result is there.
    pub const fn is_done(self) -> bool {
        self.0 & DONE != 0
    }

    /// Whether a waker is published.
    pub const fn has_waker(self) -> bool {
        self.0 & WAKER != 0
    }

    /// Worker: the result is in its place.
    pub const fn complete(self) -> Step<JoinWord, Completed> {
        let answer = Completed {
            wake: self.0 & WAITING != 0,
            waker: self.0 & WAKER != 0,
            detached: self.0 & DETACHED != 0,
        };
        Step::Write(JoinWord(self.0 | DONE), answer)
    }

    const fn unless_done(self, bits: u32) -> Step<JoinWord, Joining> {
        if self.is_done() {
            Step::Keep(Joining::Ready)
        } else {
            Step::Write(JoinWord(bits), Joining::Pending)
        }
    }

    /// Handle: a thread is about to sleep.
    pub const fn announce_waiter(self) -> Step<JoinWord, Joining> {
        self.unless_done(self.0 | WAITING)
    }

    /// Handle: the waker is in its place.
    pub const fn publish_waker(self) -> Step<JoinWord, Joining> {
        self.unless_done(self.0 | WAKER)
    }

    /// Handle: the waker's place shall be the handle's again.
    pub const fn retract_waker(self) -> Step<JoinWord, Joining> {
        self.unless_done(self.0 & !WAKER)
    }

    /// Handle: nobody will ask.
    pub const fn detach(self) -> Step<JoinWord, Joining> {
        self.unless_done(self.0 | DETACHED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every reachable word: whoever completes learns exactly what the handle had announced, and nothing the handle
    /// does after DONE changes the word.
    #[test]
    fn the_worker_learns_what_the_handle_announced() {
        for bits in 0..16 {
            let before = JoinWord(bits & !DONE);
            let mut word = before;
            let owed = word.complete().apply(&mut word);
            assert!(word.is_done());
            assert_eq!(owed.wake, before.0 & WAITING != 0);
            assert_eq!(owed.waker, before.has_waker());
            assert_eq!(owed.detached, before.0 & DETACHED != 0);
            let done = word;
            for step in [word.announce_waiter(), word.publish_waker(), word.retract_waker(), word.detach()] {
                assert_eq!(step.apply(&mut word), Joining::Ready);
                assert_eq!(word, done);
            }
        }
    }

    #[test]
    fn a_waker_can_be_replaced_until_the_result_is_there() {
        let mut word = JoinWord::default();
        assert_eq!(word.publish_waker().apply(&mut word), Joining::Pending);
        assert_eq!(word.retract_waker().apply(&mut word), Joining::Pending);
        assert!(!word.has_waker());
        assert!(!word.complete().apply(&mut word).waker, "a retracted waker is not called");
        assert_eq!(word.publish_waker().apply(&mut word), Joining::Ready);
    }
}
