//! Stopping threads between a decision and the wake-up that it owes, and between a wake-up and the lock.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use cmwq::bench::{At, Sleeper, Step, Who};

/// One step in so many is long.
const ONE_IN: u64 = 3;

/// What the hook does, and how many threads it holds.
#[derive(Debug)]
pub(super) struct Delays {
    length: Duration,
    /// Where a decided wake-up is issued under the lock, nobody is stopped before it.
    after_lock: bool,
    random: AtomicU64,
    wakers: AtomicU32,
    woken: AtomicU32,
}

impl Delays {
    pub(super) fn new(length: Duration, after_lock: bool, seed: u64) -> Delays {
        let random = AtomicU64::new(seed);
        Delays { length, after_lock, random, wakers: AtomicU32::new(0), woken: AtomicU32::new(0) }
    }

    /// A number that is next for all threads.
    pub(super) fn random(&self) -> u64 {
        // Ordering: relaxed: any number will do.
        let mut x = self.random.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    /// The hook.
    pub(super) fn at(&self, at: &At<'_>) {
        let worker = matches!(at.whom, Some(Sleeper::Worker(_)));
        // The culler is not stopped: it is to come while others are.
        let waker = at.who != Who::Manager && self.after_lock && worker;
        let held = match at.step {
            Step::Pushed | Step::Decided | Step::Claimed if waker => &self.wakers,
            Step::Woken => &self.woken,
            _ => return,
        };
        if !self.random().is_multiple_of(ONE_IN) {
            return;
        }
        // Ordering: relaxed: numbers for those who look on.
        held.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(self.length);
        // Ordering: relaxed, as above.
        held.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether a thread that owes a wake-up is stopped, and no woken one is.
    pub(super) fn only_wakers(&self) -> bool {
        // Ordering: relaxed, as above.
        self.wakers.load(Ordering::Relaxed) > 0 && self.woken.load(Ordering::Relaxed) == 0
    }

    /// Whether anybody is stopped.
    pub(super) fn anybody(&self) -> bool {
        // Ordering: relaxed, as above.
        self.wakers.load(Ordering::Relaxed) + self.woken.load(Ordering::Relaxed) > 0
    }
}
