//! Recording what threads do to a pool's lock-free words. Bounded, the newest stay; off by default.

use super::Pool;
use crate::worker::{clock, current_worker};
use cmwq_core::pool::record::{Change, Thread, Transition};
use cmwq_ring::sync::{AtomicU32, AtomicU64, Ordering};
use std::cell::Cell;

/// No pool keeps more: some seconds of a busy one.
const TRANSITIONS_MAX: usize = 1 << 16;

/// One transition, and which it is: odd while it is written.
#[derive(Default)]
struct Slot {
    stamp: AtomicU64,
    words: [AtomicU64; 3],
}

/// A ring of them, written without a lock.
pub(super) struct Transitions {
    slots: Box<[Slot]>,
    next: AtomicU64,
}

thread_local! {
    /// The number of a thread that is no worker, from 1.
    static NUMBER: Cell<u32> = const { Cell::new(0) };
}

static NUMBERS: AtomicU32 = AtomicU32::new(0);

fn this_thread() -> Thread {
    if let Some(worker) = current_worker() {
        return Thread::Worker(worker);
    }
    if NUMBER.get() == 0 {
        // Ordering: relaxed: a number of its own.
        NUMBER.set(NUMBERS.fetch_add(1, Ordering::Relaxed).wrapping_add(1));
    }
    Thread::Other(NUMBER.get())
}

impl Transitions {
    /// With room for this many bytes.
    pub(super) fn new(bytes: usize) -> Transitions {
        let count = (bytes / size_of::<Slot>()).clamp(1, TRANSITIONS_MAX);
        Transitions { slots: (0..count).map(|_| Slot::default()).collect(), next: AtomicU64::new(0) }
    }

    fn note(&self, change: Change) {
        let transition = Transition { now: clock::now(), thread: this_thread(), change };
        // Ordering: relaxed: it gives out places.
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let slot = &self.slots[(number % self.slots.len() as u64) as usize];
        // Ordering: acquire: the words below are not written before it. A writer that is a whole ring late may meet
        // this one: then the stamp is not the one it left, and the reader leaves the slot out.
        slot.stamp.swap(2 * number + 1, Ordering::AcqRel);
        for (to, word) in slot.words.iter().zip(transition.to_words()) {
            // Ordering: release pairs with the acquire in `read`: who sees the word sees the odd stamp before it.
            to.store(word, Ordering::Release);
        }
        // Ordering: release publishes the words.
        slot.stamp.swap(2 * number + 2, Ordering::AcqRel);
    }

    /// What is there, the oldest first, by the order of the notes.
    fn read(&self) -> Vec<Transition> {
        let mut found: Vec<(u64, Transition)> = self.slots.iter().filter_map(Slot::read).collect();
        found.sort_unstable_by_key(|&(stamp, _)| stamp);
        found.into_iter().map(|(_, transition)| transition).collect()
    }
}

impl Slot {
    /// `None`: nothing, or somebody writes.
    fn read(&self) -> Option<(u64, Transition)> {
        // Ordering: acquire pairs with the release after the words.
        let stamp = self.stamp.load(Ordering::Acquire);
        if stamp == 0 || stamp % 2 == 1 {
            return None;
        }
        // Ordering: acquire: see `note`; a word of a later writer comes with its stamp.
        let words = std::array::from_fn(|at| self.words[at].load(Ordering::Acquire));
        // Ordering: relaxed: the loads above come before it.
        let again = self.stamp.load(Ordering::Relaxed);
        Some((stamp, Transition::from_words(words)?)).filter(|_| again == stamp)
    }
}

impl Pool {
    /// The calling thread has changed a word.
    #[inline(always)]
    pub(crate) fn note(&self, change: impl FnOnce() -> Change) {
        if let Some(transitions) = &self.transitions {
            transitions.note(change());
        }
    }

    /// What threads have done to its words, if that is recorded.
    pub(super) fn transitions(&self) -> Vec<Transition> {
        self.transitions.as_ref().map_or_else(Vec::new, Transitions::read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cmwq_core::id::WorkerId;

    #[test]
    fn the_newest_stay_in_the_order_of_each_thread() {
        let transitions = Transitions::new(64 * size_of::<Slot>());
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| (0..1000).for_each(|n| transitions.note(Change::Announced(WorkerId(n)))));
            }
        });
        let found = transitions.read();
        assert!(found.len() > 60 && found.len() <= 64, "{}", found.len());
        let threads: std::collections::BTreeSet<Thread> = found.iter().map(|t| t.thread).collect();
        for thread in threads {
            let own = found.iter().filter(|t| t.thread == thread).map(|t| match t.change {
                Change::Announced(worker) => worker.0,
                other => panic!("nobody noted {other:?}"),
            });
            assert!(own.is_sorted(), "a thread's transitions are in its order");
        }
        assert!(found.last().is_some_and(|last| last.change == Change::Announced(WorkerId(999))));
    }
}
