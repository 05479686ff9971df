//! The batch word: which of a worker's claimed items it has started, so that others can take back the rest.
//!
//! Items claimed together lie in numbered places. The worker starts the next one by a transition of this word; under
//! the pool lock anyone may recall those not started (a worker whose item blocks returns its own, a watching or idle
//! worker takes back what a stuck one holds). The word is refilled by its worker only, under the pool lock, when it
//! is
//! empty; a recall also holds the lock: a `take` therefore never meets a refilled word it has not filled itself.

use crate::step::Step;

/// Bits 0..8: the place to start next. Bits 8..16: one past the last place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BatchWord(u32);

impl BatchWord {
    /// A batch of `count` items, none of them started.
    pub const fn filled(count: usize) -> BatchWord {
        assert!(count < 256);
        BatchWord((count as u32) << 8)
    }

    /// The word from its stored bits.
    pub const fn from_bits(bits: u32) -> BatchWord {
        BatchWord(bits)
    }

    /// The word's stored bits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The place that is started next; also the number of items started so far.
    pub const fn next(self) -> usize {
        (self.0 & 0xff) as usize
    }

    /// One past the last place.
    pub const fn end(self) -> usize {
        (self.0 >> 8 & 0xff) as usize
    }

    /// The worker starts its next item: answers its place, or `None` when nothing is left (or it was recalled).
    pub const fn take(self) -> Step<BatchWord, Option<usize>> {
        if self.next() < self.end() {
            Step::Write(BatchWord(self.0 + 1), Some(self.next()))
        } else {
            Step::Keep(None)
        }
    }

    /// Takes back everything not started: answers the places `next..end`.
    pub const fn recall(self) -> Step<BatchWord, (usize, usize)> {
        let (next, end) = (self.next(), self.end());
        if next < end {
            Step::Write(BatchWord(next as u32 | (next as u32) << 8), (next, end))
        } else {
            Step::Keep((end, end))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_started_or_recalled_once() {
        for count in 0..=16 {
            for started in 0..=count {
                let mut word = BatchWord::filled(count);
                for place in 0..started {
                    assert_eq!(word.take().apply(&mut word), Some(place));
                }
                let (from, to) = word.recall().apply(&mut word);
                assert_eq!((to - from, if from < to { from } else { started }), (count - started, started));
                assert_eq!(word.take().apply(&mut word), None);
                assert_eq!(word.next(), started, "a recall does not change what has been started");
                let again = word.recall().apply(&mut word);
                assert_eq!(again.0, again.1, "nothing is recalled twice");
            }
        }
    }
}
