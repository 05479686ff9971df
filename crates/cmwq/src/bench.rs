//! What the benchmarks need and users do not. Not covered by any promise of stability.

mod inline;
mod load;
mod stops;

pub use crate::item::raw::RawWork;
pub use crate::pool::Shape;
use crate::queue::{Queue, spin_near};
pub use crate::steps::{At, Step, Who};
use crate::worker::WaitPolicy;
pub use cmwq_core::id::{Sleeper, WorkerId};
use cmwq_ring::Futex;
use cmwq_ring::sync::{AtomicU32, AtomicU64, Ordering};
use cmwq_sys::futex::LinuxFutex;
pub use inline::Inline;
pub use load::{Batch, Producer, Round};
use std::cell::Cell;
pub use stops::{Stop, Stops};

static REFUSE_CREATION: AtomicU32 = AtomicU32::new(0);
static COMPLETION_WAKES: AtomicU64 = AtomicU64::new(0);

/// Makes every creation of a worker thread in this process fail (or succeed again), to see what then happens.
pub fn refuse_creation(refuse: bool) {
    // Ordering: relaxed: a switch for tests, ordering nothing.
    REFUSE_CREATION.store(u32::from(refuse), Ordering::Relaxed);
}

thread_local! {
    static REFUSE_MEMORY: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Refuses the calling thread memory that it asks for to create a queue, once: after so many requests that are granted.
/// Answers how many were left of the refusal that was ordered before, if it has not come.
pub fn refuse_memory(after: Option<u32>) -> Option<u32> {
    REFUSE_MEMORY.replace(after)
}

pub(crate) fn memory_is_refused() -> bool {
    let left = REFUSE_MEMORY.get();
    REFUSE_MEMORY.set(left.and_then(|left| left.checked_sub(1)));
    left == Some(0)
}

pub(crate) fn creation_is_refused() -> bool {
    // Ordering: relaxed, as above.
    REFUSE_CREATION.load(Ordering::Relaxed) != 0
}

/// Wake-ups issued by [`Completion::complete`] in this process so far.
pub fn completion_wakes() -> u64 {
    // Ordering: relaxed: a number for people.
    COMPLETION_WAKES.load(Ordering::Relaxed)
}

const OPEN: u32 = 0;
const WAITING: u32 = 1;
const DONE: u32 = 2;

/// The kernel's completion, for one waiter: made anew each round, completed by the item's function.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Completion {
    state: AtomicU32,
}

impl Completion {
    /// Makes it ready for another round. For the waiter, after it has waited.
    pub fn reinit(&self) {
        // Ordering: relaxed: published by the submission that follows.
        self.state.store(OPEN, Ordering::Relaxed);
    }

    /// Completes it and wakes the waiter if it sleeps. Never blocks.
    pub fn complete(&self) {
        // Ordering: release publishes the item's work, acquire pairs with the waiter's announcement.
        if self.state.swap(DONE, Ordering::AcqRel) == WAITING {
            // Ordering: relaxed: a number for people.
            COMPLETION_WAKES.fetch_add(1, Ordering::Relaxed);
            LinuxFutex::wake_one(&self.state);
        }
    }

    /// Waits until it is complete, as the policy says.
    pub fn wait(&self, policy: WaitPolicy) {
        self.wait_for(policy, false);
    }

    /// The same, for an item of this queue submitted by this thread: if a worker of the queue is on this CPU it is
    /// given
    /// the CPU.
    #[inline]
    pub fn wait_on(&self, queue: &Queue, policy: WaitPolicy) {
        self.wait_for(policy, queue.inner().here().near.is_here());
    }

    #[inline]
    fn wait_for(&self, policy: WaitPolicy, near: bool) {
        // Ordering: acquire pairs with `complete`.
        let done = || self.state.load(Ordering::Acquire) == DONE;
        if spin_near(policy, near, done) {
            return;
        }
        // Ordering: acquire pairs with `complete`, release announces the sleep.
        let announced = self.state.compare_exchange(OPEN, WAITING, Ordering::AcqRel, Ordering::Acquire);
        if announced.is_err() {
            return;
        }
        while !done() {
            LinuxFutex::wait(&self.state, WAITING, None);
        }
    }
}
