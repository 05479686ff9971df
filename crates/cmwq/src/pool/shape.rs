//! How a submission reaches the worklist.
//!
//! The engine's own shape is the inbox. The two older ones exist to be measured against it, on the same locks, loops,
//! spinning and claiming, and can be chosen only by the benchmarks.

use super::{Hold, Pool};
use crate::item::Header;
use crate::worker::clock;
use cmwq_core::pool::ClaimPolicy;
use cmwq_core::pool::Event;
use cmwq_core::time::Tick;
use std::ptr::NonNull;

/// How a submission reaches the worklist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "bench"),
    allow(dead_code, unreachable_pub, reason = "the older shapes can be chosen by the benchmarks only")
)]
pub enum Shape {
    /// One push; the pool lock is not taken.
    #[default]
    Inbox,
    /// Under the pool lock, and wake-ups are issued before it is released.
    UnderLock,
    /// Under the pool lock, and wake-ups are issued after it is released.
    Deferred,
}

impl Pool {
    /// A submission in one of the older shapes.
    ///
    /// # Safety
    /// As for [`Pool::submit`].
    pub(super) unsafe fn submit_locked(&self, item: NonNull<Header>) {
        let mut hold: Hold<'_> = self.hold(self.submission_time());
        // SAFETY: W1 one claimer: it is the caller's, and not given to the core yet.
        hold.arrive(item, unsafe { item.as_ref() });
        hold.step(Event::Submitted);
        let issued = hold.release();
        if issued > 0 {
            self.submit_wakes.add(u64::from(issued));
        }
    }
}

impl Pool {
    /// The core looks at the time of a submission only to stamp a picked worker.
    fn submission_time(&self) -> Tick {
        if self.setup.config.claim == ClaimPolicy::Stamp { clock::now() } else { Tick(0) }
    }
}
