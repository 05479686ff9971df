//! The join word under threads: a result changes hands once.

use crate::sync::{AtomicU32, Ordering};
use cmwq_core::completion::{Completed, JoinWord, Joining};
use cmwq_core::step::Step;

/// What the handle's side learns.
pub use cmwq_core::completion::Joining as Polled;

/// The driver of [`JoinWord`].
#[derive(Debug)]
pub struct JoinCell {
    word: AtomicU32,
}

impl Default for JoinCell {
    fn default() -> Self {
        JoinCell { word: AtomicU32::new(JoinWord::default().bits()) }
    }
}

impl JoinCell {
    #[cfg_attr(cmwq_loom, track_caller)]
    fn update<A>(&self, transition: impl Fn(JoinWord) -> Step<JoinWord, A>) -> A {
        // Ordering: acquire pairs with `complete`'s release: who sees DONE sees the result.
        let mut bits = self.word.load(Ordering::Acquire);
        loop {
            match transition(JoinWord::from_bits(bits)) {
                Step::Keep(answer) => return answer,
                Step::Write(next, answer) => {
                    // Ordering: release publishes the result (worker) or the waker (handle); acquire takes the other's.
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

    /// Worker: the result lies in its place. Answers what is owed to the handle. Never blocks.
    pub fn complete(&self) -> Completed {
        self.update(JoinWord::complete)
    }

    /// Handle: whether the result is there. Never blocks.
    pub fn is_done(&self) -> bool {
        // Ordering: acquire pairs with `complete`.
        JoinWord::from_bits(self.word.load(Ordering::Acquire)).is_done()
    }

    /// Handle: announces a sleeper; [`Joining::Pending`] carries no value, sleep on [`JoinCell::sleep_value`].
    pub fn announce_waiter(&self) -> Joining {
        self.update(JoinWord::announce_waiter)
    }

    /// Handle: the waker lies in its place and is the worker's to call. Never blocks.
    pub fn publish_waker(&self) -> Joining {
        self.update(JoinWord::publish_waker)
    }

    /// Handle: wants the waker's place back to change it. Never blocks.
    pub fn retract_waker(&self) -> Joining {
        self.update(JoinWord::retract_waker)
    }

    /// Handle: gives up its interest. [`Joining::Ready`]: the result is the handle's to drop. Never blocks.
    pub fn detach(&self) -> Joining {
        self.update(JoinWord::detach)
    }

    /// Whether a waker is published.
    pub fn has_waker(&self) -> bool {
        // Ordering: relaxed: only the handle's side sets it, and asks.
        JoinWord::from_bits(self.word.load(Ordering::Relaxed)).has_waker()
    }

    /// The word to sleep on, and the value it has while nothing has happened since
    /// [`JoinCell::announce_waiter`] answered pending.
    pub fn sleep_value(&self) -> (&AtomicU32, u32) {
        // Ordering: acquire pairs with `complete`.
        (&self.word, self.word.load(Ordering::Acquire))
    }
}
