//! The node word: how many items of one queue are active on one NUMA node, and whether pwqs wait for a count.
//!
//! The pwqs of a queue whose pools lie in one node share a limit. An item that is to become active takes a *count* from
//! this word; its reported end gives it back. Where no count is left the pwq announces itself in a bitmap beside the
//! word (one bit a member) and then applies [`NodeWord::wait`]; who gives back a count while somebody waits keeps it in
//! hand and passes it on to the next member whose bit it can clear. See the essay on pwqs.

use crate::step::Step;

const NR: u64 = 0xffff;
const MAX_SHIFT: u32 = 16;
const WAITING: u64 = 1 << 32;
const TURN_SHIFT: u32 = 33;
const TURN_ONE: u64 = 1 << TURN_SHIFT;

/// Bits 0..16: counts given out, those in hand included. Bits 16..32: the most that may be. Bit 32: somebody may wait.
/// Bits 33..64: how many announcements have been made, modulo 2^31.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NodeWord(u64);

/// What a pwq that has announced itself learns.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Waited {
    /// A count was left after all: it is the caller's.
    Got,
    /// It waits. `first`: nobody did before, so that ends which others have not reported matter from now on.
    Waits {
        /// Nobody waited before.
        first: bool,
    },
}

/// What remains to be done for a count.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Passing {
    /// Nothing.
    Done,
    /// The caller has one count in hand and owes it to a member that waits: look for one, and if there is none try
    /// [`NodeWord::quiet`] with this turn.
    InHand {
        /// The number of announcements before the look.
        turn: u32,
    },
}

impl NodeWord {
    /// No count given out.
    pub const fn new(max: u32) -> NodeWord {
        NodeWord((max as u64) << MAX_SHIFT)
    }

    /// The word from its stored bits.
    pub const fn from_bits(bits: u64) -> NodeWord {
        NodeWord(bits)
    }

    /// The word's stored bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Counts given out.
    pub const fn nr(self) -> u32 {
        (self.0 & NR) as u32
    }

    /// The most counts that may be given out.
    pub const fn max(self) -> u32 {
        (self.0 >> MAX_SHIFT & NR) as u32
    }

    /// Whether a pwq may wait for a count.
    pub const fn is_waiting(self) -> bool {
        self.0 & WAITING != 0
    }

    const fn turn(self) -> u32 {
        (self.0 >> TURN_SHIFT) as u32
    }

    /// Takes up to `want` counts. None while somebody waits: a newcomer does not jump the line.
    pub const fn take(self, want: u32) -> Step<NodeWord, u32> {
        let room = self.max().saturating_sub(self.nr());
        let taken = if want < room { want } else { room };
        if self.is_waiting() || taken == 0 {
            return Step::Keep(0);
        }
        Step::Write(NodeWord(self.0 + taken as u64), taken)
    }

    /// A pwq whose bit is set asks once more, and waits if nothing is left.
    pub const fn wait(self) -> Step<NodeWord, Waited> {
        if !self.is_waiting() && self.nr() < self.max() {
            return Step::Write(NodeWord(self.0 + 1), Waited::Got);
        }
        let next = (self.0 | WAITING).wrapping_add(TURN_ONE);
        Step::Write(NodeWord(next), Waited::Waits { first: !self.is_waiting() })
    }

    /// Gives back counts. While somebody waits and the limit allows it, one of them stays in the caller's hand; for the
    /// others go on with [`NodeWord::more`] when it has been passed on.
    pub const fn give(self, count: u32) -> Step<NodeWord, Passing> {
        if self.is_waiting() && self.nr() - count < self.max() {
            return Step::Write(NodeWord(self.0 - (count - 1) as u64), Passing::InHand { turn: self.turn() });
        }
        Step::Write(NodeWord(self.0 - count as u64), Passing::Done)
    }

    /// After a count has been passed on, or the limit been raised: takes another one in hand, if there is one and
    /// somebody waits.
    pub const fn more(self) -> Step<NodeWord, Passing> {
        if self.is_waiting() && self.nr() < self.max() {
            return Step::Write(NodeWord(self.0 + 1), Passing::InHand { turn: self.turn() });
        }
        Step::Keep(Passing::Done)
    }

    /// No bit was found set: gives back the count in hand, and nobody waits any more - unless somebody has announced
    /// itself since `turn`: then look again.
    pub const fn quiet(self, turn: u32) -> Step<NodeWord, Passing> {
        if self.turn() != turn {
            return Step::Keep(Passing::InHand { turn: self.turn() });
        }
        Step::Write(NodeWord((self.0 & !WAITING) - 1), Passing::Done)
    }

    /// Changes the limit. The caller then goes on with [`NodeWord::more`].
    pub const fn set_max(self, max: u32) -> Step<NodeWord, ()> {
        let kept = self.0 & !(NR << MAX_SHIFT);
        Step::Write(NodeWord(kept | (max as u64) << MAX_SHIFT), ())
    }
}

/// The member to be served next: the first one from `from` on, in a circle, whose bit is set. `word` answers the bits
/// of members `64 * n ..`.
pub fn next_in_line(members: usize, from: usize, word: impl Fn(usize) -> u64) -> Option<usize> {
    let words = members.div_ceil(64);
    let from = if from < members { from } else { 0 };
    let (first, bit) = (from / 64, from % 64);
    let after = word(first) & (u64::MAX << bit);
    if after != 0 {
        return Some(first * 64 + after.trailing_zeros() as usize);
    }
    for step in 1..=words {
        let at = (first + step) % words;
        let bits = word(at);
        if bits != 0 {
            return Some(at * 64 + bits.trailing_zeros() as usize);
        }
    }
    None
}

#[cfg(test)]
#[path = "node_tests.rs"]
mod tests;
