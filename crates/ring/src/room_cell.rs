//! The room of a queue under threads.

use crate::sync::{AtomicU32, Ordering};
use cmwq_core::queue::RoomWord;
use cmwq_core::step::Step;

/// The driver of [`RoomWord`], with the limit.
#[derive(Debug)]
pub struct RoomCell {
    word: AtomicU32,
    max: u32,
}

impl RoomCell {
    /// Room for this many pending items.
    pub fn new(max: u32) -> RoomCell {
        RoomCell { word: AtomicU32::new(RoomWord::default().bits()), max }
    }

    /// The limit.
    pub fn max(&self) -> u32 {
        self.max
    }

    #[cfg_attr(cmwq_loom, track_caller)]
    fn update<A>(&self, transition: impl Fn(RoomWord) -> Step<RoomWord, A>) -> A {
        // Ordering: relaxed: the word is all that submitters, workers and waiters share about room; what they pass
        // each other goes by the item's word and the inbox.
        let mut bits = self.word.load(Ordering::Relaxed);
        loop {
            match transition(RoomWord::from_bits(bits)) {
                Step::Keep(answer) => return answer,
                Step::Write(next, answer) => {
                    // Ordering: relaxed, as above.
                    match self.word.compare_exchange(bits, next.bits(), Ordering::Relaxed, Ordering::Relaxed)
                    {
                        Ok(_) => return answer,
                        Err(seen) => bits = seen,
                    }
                }
            }
        }
    }

    /// How many items are pending. Out of date when it returns.
    pub fn pending(&self) -> u32 {
        // Ordering: relaxed: a number to look at.
        RoomWord::from_bits(self.word.load(Ordering::Relaxed)).pending()
    }

    /// Takes a place for an item, if there is one. Never blocks.
    #[must_use = "a place that was not given is not to be used"]
    pub fn take(&self) -> bool {
        self.update(|word| word.take(self.max))
    }

    /// Takes a place in any case. Never blocks.
    pub fn force(&self) {
        self.update(RoomWord::force);
    }

    /// Gives a place back. `true`: the caller wakes all who sleep on [`RoomCell::futex`]. Never blocks.
    #[must_use = "who sleeps is to be woken"]
    pub fn give(&self) -> bool {
        self.update(RoomWord::give)
    }

    /// The value to sleep on until there may be room; `None`: there is some now. Never blocks.
    pub fn announce_waiter(&self) -> Option<u32> {
        self.update(|word| word.wait(self.max))
    }

    /// What to sleep on.
    pub fn futex(&self) -> &AtomicU32 {
        &self.word
    }
}
