//! How a thread waits: spin, give way, sleep.

use super::clock;
use cmwq_core::time::Span;
use std::cell::Cell;
use std::hint;

/// How workers wait for items and callers wait for results, before they sleep in the kernel.
///
/// A sleep costs a system call on each side and 10 to 80 us until the other CPU runs again; spinning costs the CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitPolicy {
    /// Sleep at once. The least CPU time when results take long; every item pays for a wake-up.
    Park,
    /// Spin for up to 3 us, then sleep. Gives nothing to other threads of the same CPU meanwhile.
    Pause,
    /// Spin for up to 3 us, then give way to other threads (`sched_yield`) for up to 50 us, then sleep.
    Yield,
    /// Like [`WaitPolicy::Yield`] while that is worth it: each thread keeps a score that rises when a wait ended
    /// before the
    /// sleep and falls four times as fast when it did not; at zero the thread sleeps at once and tries every 16th
    /// time.
    /// Dense items are served without system calls, sparse ones cost no spinning.
    #[default]
    Adaptive,
}

const PAUSE: Span = Span::from_us(3);
const YIELD: Span = Span::from_us(50);
const SCORE_FIRST: i8 = 8;
const SCORE_MAX: i8 = 32;
const MISS: i8 = 4;
const RETRY: u8 = 16;

/// The score of one waiting thread.
#[derive(Debug)]
pub(crate) struct Patience {
    score: Cell<i8>,
    skipped: Cell<u8>,
}

impl Default for Patience {
    fn default() -> Self {
        Patience::new()
    }
}

impl Patience {
    pub(crate) const fn new() -> Self {
        Patience { score: Cell::new(SCORE_FIRST), skipped: Cell::new(0) }
    }

    /// Spins and gives way as the policy says until `ready`; `false`: sleep now. `near`: the thread waited for is
    /// believed
    /// to be on this CPU, where it cannot run before this one gives way, so that a pause would be lost time.
    #[inline]
    pub(crate) fn spin(&self, policy: WaitPolicy, near: bool, mut ready: impl FnMut() -> bool) -> bool {
        match policy {
            WaitPolicy::Park => false,
            // No time passes there for one who looks.
            _ if cfg!(cmwq_shuttle) => ready(),
            WaitPolicy::Pause => pause(&mut ready).is_none(),
            WaitPolicy::Yield => pause_and_give_way(near, &mut ready),
            WaitPolicy::Adaptive => {
                if !self.is_worth_it() {
                    return false;
                }
                let hit = pause_and_give_way(near, &mut ready);
                self.learn(hit);
                hit
            }
        }
    }

    fn is_worth_it(&self) -> bool {
        if self.score.get() > 0 {
            return true;
        }
        let skipped = self.skipped.get() + 1;
        self.skipped.set(skipped % RETRY);
        skipped == RETRY
    }

    fn learn(&self, hit: bool) {
        let score = self.score.get();
        self.score.set(if hit { (score + 1).clamp(1, SCORE_MAX) } else { (score - MISS).max(0) });
    }
}

#[inline]
fn pause_and_give_way(near: bool, ready: &mut impl FnMut() -> bool) -> bool {
    if near {
        return ready() || give_way(clock::now(), ready);
    }
    pause(ready).is_none_or(|since| give_way(since, ready))
}

/// `None` when ready; else when the pause began.
fn pause(ready: &mut impl FnMut() -> bool) -> Option<cmwq_core::time::Tick> {
    // The first rounds read no clock: most waits end in them.
    for _ in 0..32 {
        if ready() {
            return None;
        }
        hint::spin_loop();
    }
    let since = clock::now();
    loop {
        for _ in 0..16 {
            if ready() {
                return None;
            }
            hint::spin_loop();
        }
        if clock::now().since(since) >= PAUSE {
            return Some(since);
        }
    }
}

fn give_way(since: cmwq_core::time::Tick, ready: &mut impl FnMut() -> bool) -> bool {
    loop {
        std::thread::yield_now();
        if ready() {
            return true;
        }
        if clock::now().since(since) >= YIELD {
            return false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_waits_stop_spinning_and_dense_ones_start_again() {
        let patience = Patience::new();
        let mut looks = 0u32;
        let mut miss = || {
            let mut looked = 0;
            assert!(!patience.spin(WaitPolicy::Adaptive, false, || {
                looked += 1;
                false
            }));
            looks += looked;
            looked
        };
        while miss() > 0 {}
        let silent = (0..RETRY - 2).filter(|_| miss() == 0).count();
        assert_eq!(silent, usize::from(RETRY) - 2, "while the score is low nothing is tried");
        assert!(miss() > 0, "every sixteenth wait tries");
        // The next try hits: the score is positive again.
        for _ in 0..RETRY {
            patience.spin(WaitPolicy::Adaptive, false, || true);
        }
        assert!(miss() > 0);
    }

    #[test]
    fn park_never_looks() {
        assert!(!Patience::new().spin(WaitPolicy::Park, false, || unreachable!()));
    }
}
