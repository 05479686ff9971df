//! The word of a completion ring's receiver: what it waits for, and whether the wake-up that is due has been issued.
//!
//! | bits | field | means |
//! |---|---|---|
//! | 0..2 | state | RUN: awake, or will look. PARKED: asleep or about to be. ISSUED: its wake-up has returned |
//! | 2 | TASK | a task rests, not a thread: its waker is to be called |
//! | 3..21 | need | how many messages it waits for |
//! | 21..64 | epoch | grows with each rest |
//!
//! Only the receiver stores RUN and PARKED; others may turn one certain PARKED into ISSUED, by a compare-and-swap of
//! the whole word. There is no state for "somebody is going to": a wake-up that has not returned counts for nothing.

use super::HeadWord;
use crate::step::Step;

const STATE: u64 = 3;
const RUN: u64 = 0;
const PARKED: u64 = 1;
const ISSUED: u64 = 2;
const TASK: u64 = 4;
const NEED_SHIFT: u32 = 3;
const EPOCH_SHIFT: u32 = 21;
const EPOCH_ONE: u64 = 1 << EPOCH_SHIFT;

/// The word. See the table in the module's documentation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RestWord(u64);

/// Who rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rester {
    /// A thread, in a system call or in an event loop.
    Thread,
    /// A task, whose waker has been left.
    Task,
}

/// What a poster owes the receiver after its post.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Owed {
    /// Nothing: the receiver is awake or will look, a wake-up of its rest has returned, or it wants more.
    Nothing,
    /// A wake-up, by whoever sees this, and then [`RestWord::issued`] with this word.
    Wake(RestWord),
}

impl RestWord {
    /// The largest need that is told apart from a larger one.
    pub const NEED_MAX: u32 = HeadWord::LENGTH_MAX;

    /// The word from its stored bits.
    #[inline]
    pub const fn from_bits(bits: u64) -> RestWord {
        RestWord(bits)
    }

    /// The word's stored bits.
    #[inline]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether the receiver rests and no wake-up of this rest is known to have returned.
    #[inline]
    pub const fn is_parked(self) -> bool {
        self.0 & STATE == PARKED
    }

    /// Who rests.
    #[inline]
    pub const fn rester(self) -> Rester {
        if self.0 & TASK == 0 { Rester::Thread } else { Rester::Task }
    }

    /// How many messages the receiver waits for.
    #[inline]
    pub const fn need(self) -> u32 {
        (self.0 >> NEED_SHIFT) as u32 & Self::NEED_MAX
    }

    /// Receiver: is about to rest until `need` messages are there, at least one.
    #[inline]
    pub const fn park(self, need: u32, rester: Rester) -> Step<RestWord, ()> {
        let need = if need > Self::NEED_MAX { Self::NEED_MAX } else { need };
        let need = if need == 0 { 1 } else { need };
        let task = match rester {
            Rester::Thread => 0,
            Rester::Task => TASK,
        };
        let epoch = (self.0 >> EPOCH_SHIFT << EPOCH_SHIFT).wrapping_add(EPOCH_ONE);
        Step::Write(RestWord(epoch | (need as u64) << NEED_SHIFT | task | PARKED), ())
    }

    /// Receiver: is up, and will take before it rests again.
    #[inline]
    pub const fn resume(self) -> Step<RestWord, ()> {
        Step::Write(RestWord(self.0 >> EPOCH_SHIFT << EPOCH_SHIFT | RUN), ())
    }

    /// Poster: what it owes, the head being what its own post (or close) made of it, and this word read afterwards.
    #[inline]
    pub const fn owed(self, head: HeadWord) -> Owed {
        if self.is_parked() && head.is_due(self.need()) { Owed::Wake(self) } else { Owed::Nothing }
    }

    /// Poster: a wake-up owed to `parked` has returned. Another rest is left alone.
    #[inline]
    pub const fn issued(self, parked: RestWord) -> Step<RestWord, ()> {
        if self.0 == parked.0 { Step::Write(RestWord(self.0 & !STATE | ISSUED), ()) } else { Step::Keep(()) }
    }
}

#[cfg(test)]
#[path = "rest_word_tests.rs"]
mod tests;
