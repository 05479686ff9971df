//! The joint of one queue with one pool.

use super::Pool;
use crate::item::Header;
use crate::stats::Counter;
use cmwq_core::id::PwqId;
use cmwq_ring::{CacheLine, Departures};
use std::ptr::NonNull;

/// Lives as long as its pool; given to a new queue after its old one is gone. Workers may touch it (to wake a flush) when
/// the queue no longer exists.
pub(crate) struct Pwq {
    /// I: the pool, which owns this.
    pool: NonNull<Pool>,
    /// I: its gate in the pool's core.
    pub(crate) id: PwqId,
    /// The number of the queue that uses it now. Written before the queue's first submission.
    pub(crate) queue: Counter,
    /// W: what has ended, by phase.
    pub(crate) departures: CacheLine<Departures>,
}

// SAFETY: the pool is Sync and outlives its pwqs; the rest is atomics.
unsafe impl Send for Pwq {}
// SAFETY: as above.
unsafe impl Sync for Pwq {}

impl Pwq {
    pub(super) fn new(pool: &Pool, id: PwqId) -> Pwq {
        Pwq { pool: NonNull::from(pool), id, queue: Counter::default(), departures: CacheLine::default() }
    }

    /// The pool.
    pub(crate) fn pool(&self) -> &Pool {
        // SAFETY: the pool owns its pwqs and is not moved (it lives in an `Arc`).
        unsafe { self.pool.as_ref() }
    }

    /// Steps P3 and P4 of a submission; see [`Pool::submit`].
    ///
    /// # Safety
    /// As for [`Pool::submit`]; the item is addressed to this pwq.
    #[inline]
    pub(crate) unsafe fn submit(&self, item: NonNull<Header>) {
        // SAFETY: passed on.
        unsafe { self.pool().submit(item, self.id) };
    }

    /// `count` items that arrived at the phase of `slot` have ended; wakes flushes that wait for them.
    pub(crate) fn depart(&self, slot: usize, count: u32) {
        if self.departures.depart(slot, count) {
            use cmwq_ring::Futex;
            cmwq_sys::futex::LinuxFutex::wake_all(self.departures.futex(slot));
        }
    }
}
