//! The head of a completion ring: what has been posted and not yet taken, in one word.
//!
//! | bits | field | means |
//! |---|---|---|
//! | 0 | FORCED | one of the messages wants the receiver woken whatever it waits for |
//! | 1 | CLOSED | nothing is accepted any more |
//! | 2..20 | length | messages in the list; stays at its maximum |
//! | 20..64 | newest | the node posted last, 0 for none; the driver says how a node is named in 44 bits |
//!
//! The layout is the same on every target: an address of 48 bits whose lowest four are zero fits, and so does one of
//! 32.

use crate::step::Step;

const FORCED: u64 = 1;
const CLOSED: u64 = 1 << 1;
const LENGTH_SHIFT: u32 = 2;
const LENGTH_BITS: u32 = 18;
const NEWEST_SHIFT: u32 = LENGTH_SHIFT + LENGTH_BITS;

/// The word. See the table in the module's documentation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct HeadWord(u64);

/// Whether a message may wait until the receiver has as many as it wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Urgency {
    /// Wakes the receiver.
    Forced,
    /// Counts; wakes the receiver when its count is reached.
    Lazy,
}

/// What a post learns.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Post {
    /// In the list; the node it lies on.
    Posted {
        /// The node that was the newest, 0 for none.
        below: u64,
    },
    /// The ring is closed; nothing was posted.
    Closed,
}

impl HeadWord {
    /// Names of nodes are below this.
    pub const NODES_END: u64 = 1 << (u64::BITS - NEWEST_SHIFT);
    /// The length that means "this many, or more". A list so long is due, whatever the receiver wants.
    pub const LENGTH_MAX: u32 = (1 << LENGTH_BITS) - 1;
    /// What a take keeps.
    pub const KEPT: u64 = CLOSED;
    /// What a close sets.
    pub const CLOSE: u64 = CLOSED;

    /// The word from its stored bits.
    #[inline]
    pub const fn from_bits(bits: u64) -> HeadWord {
        HeadWord(bits)
    }

    /// The word's stored bits.
    #[inline]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The node posted last, 0 for none.
    #[inline]
    pub const fn newest(self) -> u64 {
        self.0 >> NEWEST_SHIFT
    }

    /// How many messages the list has; [`HeadWord::LENGTH_MAX`] for that many or more.
    #[inline]
    pub const fn length(self) -> u32 {
        (self.0 >> LENGTH_SHIFT) as u32 & Self::LENGTH_MAX
    }

    /// Whether one of the messages is forced.
    #[inline]
    pub const fn is_forced(self) -> bool {
        self.0 & FORCED != 0
    }

    /// Whether the ring is closed.
    #[inline]
    pub const fn is_closed(self) -> bool {
        self.0 & CLOSED != 0
    }

    /// Whether a receiver that waits for `need` messages has something to do.
    #[inline]
    pub const fn is_due(self, need: u32) -> bool {
        self.0 & (FORCED | CLOSED) != 0 || self.length() >= need || self.length() == Self::LENGTH_MAX
    }

    /// A poster puts a chain of `count` nodes on top, `newest` being its last.
    #[inline]
    pub const fn post(self, newest: u64, count: u32, urgency: Urgency) -> Step<HeadWord, Post> {
        debug_assert!(newest != 0 && newest < Self::NODES_END && count > 0);
        if self.is_closed() {
            return Step::Keep(Post::Closed);
        }
        let sum = self.length().saturating_add(count);
        let length = if sum > Self::LENGTH_MAX { Self::LENGTH_MAX } else { sum };
        let forced = match urgency {
            Urgency::Forced => FORCED,
            Urgency::Lazy => self.0 & FORCED,
        };
        let next = newest << NEWEST_SHIFT | (length as u64) << LENGTH_SHIFT | forced;
        Step::Write(HeadWord(next), Post::Posted { below: self.newest() })
    }

    /// The receiver takes everything; the answer is what the word said.
    #[inline]
    pub const fn take(self) -> Step<HeadWord, HeadWord> {
        Step::Write(HeadWord(self.0 & Self::KEPT), self)
    }

    /// Nothing is accepted from now on; what is there stays.
    #[inline]
    pub const fn close(self) -> Step<HeadWord, HeadWord> {
        Step::Write(HeadWord(self.0 | Self::CLOSE), self)
    }
}

#[cfg(test)]
#[path = "head_word_tests.rs"]
mod tests;
