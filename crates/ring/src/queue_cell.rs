//! Arrivals and departures of a queue's flush phases under threads.

use crate::sync::{AtomicU32, AtomicU64, Ordering};
use cmwq_core::limits::PHASE_SLOTS;
use cmwq_core::queue::{QueueWord, slot};
use cmwq_core::step::Step;

/// The driver of [`QueueWord`].
#[derive(Debug)]
pub struct QueueCell {
    word: AtomicU64,
}

impl Default for QueueCell {
    fn default() -> Self {
        QueueCell { word: AtomicU64::new(QueueWord::OPEN.bits()) }
    }
}

impl QueueCell {
    /// The word as it is now. Never blocks.
    #[inline]
    pub fn read(&self) -> QueueWord {
        // Ordering: acquire pairs with the transitions' release. The second look of an arrival needs no more: if the
        // closer's look at the arrival count did not see the arrival, the arrival's read-modify-write came later on
        // that word, read from the closer's, and so sees the closed phase here.
        QueueWord::from_bits(self.word.load(Ordering::Acquire))
    }

    /// Applies a transition. Never blocks.
    pub fn update<A>(&self, transition: impl Fn(QueueWord) -> Step<QueueWord, A>) -> A {
        let mut word = self.read();
        loop {
            match transition(word) {
                Step::Keep(answer) => return answer,
                Step::Write(next, answer) => {
                    // Ordering: release, for `read`; acquire, so that one closer sees another's close.
                    let swap = self.word.compare_exchange_weak(
                        word.bits(),
                        next.bits(),
                        Ordering::AcqRel,
                        Ordering::Acquire,
                    );
                    match swap {
                        Ok(_) => return answer,
                        Err(seen) => word = QueueWord::from_bits(seen),
                    }
                }
            }
        }
    }
}

/// Whether submissions are counted for flushes. Not under `--cfg cmwq_uncounted`: that build is for measuring what the
/// counting costs, and its flushes, drains and drops wait for nothing.
pub const COUNTED: bool = cfg!(not(cmwq_uncounted));

/// Counts of arrivals, one per phase slot, of one CPU. Written by the threads that submit there.
#[derive(Debug)]
pub struct Arrivals {
    counts: [AtomicU32; PHASE_SLOTS],
    /// The queue word at which its pwq was last listed from here.
    listed: AtomicU64,
}

/// No queue word: its drains never reach the last number.
const NEVER: u64 = u64::MAX;

impl Default for Arrivals {
    fn default() -> Self {
        Arrivals { counts: core::array::from_fn(|_| AtomicU32::new(0)), listed: AtomicU64::new(NEVER) }
    }
}

impl Arrivals {
    /// Whether the pwq that is submitted to from here is known to be listed at the word's phase. Never blocks.
    #[inline]
    pub fn is_listed(&self, word: QueueWord) -> bool {
        // Ordering: acquire pairs with `set_listed`: who relies on the listing sees the word as new as the lister
        // saw it. Without it a close that missed the listing could be missed as well.
        self.listed.load(Ordering::Acquire) == word.bits()
    }

    /// Notes that the pwq is listed at the word's phase. Never blocks.
    pub fn set_listed(&self, word: QueueWord) {
        // Ordering: release publishes the listing, and what the lister saw of the queue word.
        self.listed.store(word.bits(), Ordering::Release);
    }

    /// A submission arrives at a phase. It must look at the queue word again afterwards. Never blocks.
    #[inline]
    pub fn arrive(&self, phase: u32) {
        // Ordering: acquire and release, so that this and the closer's look are ordered on one word (see `look`).
        self.counts[slot(phase)].fetch_add(1, Ordering::AcqRel);
    }

    /// How many have arrived at a phase, for a flush that has closed it. A read-modify-write: an arrival it does not
    /// see comes after it on this word and sees the closed phase. Never blocks.
    pub fn look(&self, phase: u32) -> u32 {
        // Ordering: with a plain load, arrival and closer could each miss the other (store buffering).
        self.counts[slot(phase)].fetch_add(0, Ordering::AcqRel)
    }
}

const WAITED: u32 = 1;
const ONE: u32 = 2;

/// Counts of departures, one per phase slot, of one pwq. Written by its pool's workers, slept on by flushes.
#[derive(Debug)]
pub struct Departures {
    counts: [AtomicU32; PHASE_SLOTS],
    targets: [AtomicU32; PHASE_SLOTS],
}

impl Default for Departures {
    fn default() -> Self {
        Departures {
            counts: core::array::from_fn(|_| AtomicU32::new(0)),
            targets: core::array::from_fn(|_| AtomicU32::new(0)),
        }
    }
}

impl Departures {
    /// `count` items of a phase's slot have ended. Answers whether flushes that sleep on
    /// [`Departures::futex`] must be woken. Never blocks.
    #[must_use = "a flush may sleep"]
    pub fn depart(&self, slot: usize, count: u32) -> bool {
        // Ordering: release publishes the items' work to the flush; acquire pairs with `announce_waiter`, for the
        // target.
        let old = self.counts[slot].fetch_add(count.wrapping_mul(ONE), Ordering::AcqRel);
        if old & WAITED == 0 {
            return false;
        }
        let now = (old >> 1).wrapping_add(count);
        // Ordering: relaxed: written before the WAITED bit that was read with acquire.
        let target = self.targets[slot].load(Ordering::Relaxed);
        if is_before(now, target) {
            return false;
        }
        // Ordering: relaxed is enough: the bit is only a hint to look; the sleepers compare the whole word.
        self.counts[slot].fetch_and(!WAITED, Ordering::Relaxed);
        true
    }

    /// How many have departed from a phase. Read before the arrivals are looked at. Never blocks.
    pub fn look(&self, phase: u32) -> u32 {
        // Ordering: acquire pairs with `depart`: who sees an item's departure sees its work.
        self.counts[slot(phase)].load(Ordering::Acquire) >> 1
    }

    /// A flush announces that it sleeps until `target` have departed. Answers the value to sleep on, `None` when the
    /// target has been reached. Never blocks.
    pub fn announce_waiter(&self, phase: u32, target: u32) -> Option<u32> {
        // Ordering: relaxed: published by the bit below. Two flushes of one phase store targets that differ only by
        // arrivals that did not stay; the lower one wakes early, and both look again.
        self.targets[slot(phase)].store(target, Ordering::Relaxed);
        // Ordering: release publishes the target, acquire as in `look`.
        let old = self.counts[slot(phase)].fetch_or(WAITED, Ordering::AcqRel);
        is_before(old >> 1, target).then_some(old | WAITED)
    }

    /// Starts again from zero, for another queue: nobody sleeps here, and every item that arrived has departed.
    /// Never blocks.
    pub fn reset(&self) {
        for count in &self.counts {
            // Ordering: relaxed: published with the new queue. A late `depart` has added already; what it does after
            // that at most wakes a flush of the new queue for no reason.
            count.store(0, Ordering::Relaxed);
        }
    }

    /// The word a flush of this phase sleeps on.
    pub fn futex(&self, slot: usize) -> &AtomicU32 {
        &self.counts[slot]
    }
}

/// Counts of 31 bits that wrap.
fn is_before(count: u32, target: u32) -> bool {
    let behind = target.wrapping_sub(count) & 0x7fff_ffff;
    behind != 0 && behind < 0x4000_0000
}
