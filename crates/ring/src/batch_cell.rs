//! The batch word under threads.

use crate::sync::{AtomicU32, Ordering};
use cmwq_core::step::Step;
use cmwq_core::worker::BatchWord;

/// The driver of [`BatchWord`].
#[derive(Debug)]
pub struct BatchCell {
    word: AtomicU32,
}

impl Default for BatchCell {
    fn default() -> Self {
        BatchCell { word: AtomicU32::new(BatchWord::default().bits()) }
    }
}

impl BatchCell {
    #[cfg_attr(cmwq_loom, track_caller)]
    fn update<A>(&self, transition: impl Fn(BatchWord) -> Step<BatchWord, A>) -> A {
        // Ordering: acquire pairs with the release of `fill` and of the other transitions.
        let mut bits = self.word.load(Ordering::Acquire);
        loop {
            match transition(BatchWord::from_bits(bits)) {
                Step::Keep(answer) => return answer,
                Step::Write(next, answer) => {
                    // Ordering: the owner's take and a recall decide on one word who has an item; acquire and
                    // release order what either does with it.
                    match self.word.compare_exchange_weak(
                        bits,
                        next.bits(),
                        Ordering::AcqRel,
                        Ordering::Acquire,
                    ) {
                        Ok(_) => return answer,
                        Err(seen) => bits = seen,
                    }
                }
            }
        }
    }

    /// Owner, under the pool lock, when nothing is left: `count` new items lie in places `0..count`.
    pub fn fill(&self, count: usize) {
        // Ordering: release publishes the places; a recall reads them under the lock.
        self.word.store(BatchWord::filled(count).bits(), Ordering::Release);
    }

    /// Owner: starts the next item. Never blocks.
    pub fn take(&self) -> Option<usize> {
        self.update(BatchWord::take)
    }

    /// Anyone under the pool lock: takes back the places not started. Never blocks.
    pub fn recall(&self) -> core::ops::Range<usize> {
        let (from, to) = self.update(BatchWord::recall);
        from..to
    }

    /// How many items of the batch have been started. Under the pool lock.
    pub fn started(&self) -> usize {
        // Ordering: acquire pairs with the owner's take: items before the last started one have ended.
        BatchWord::from_bits(self.word.load(Ordering::Acquire)).next()
    }
}
