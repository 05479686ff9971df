//! Items without workers: who queues them also runs them, so that a queue's flushes are seen by themselves.

use crate::queue::{Queue, QueueInner, Slot};
use cmwq_core::id::{PwqId, Sleeper};
use cmwq_core::queue::slot;
use cmwq_ring::sync::{AtomicU32, AtomicU64, Ordering};
use cmwq_ring::{CacheLine, Inbox, Link, Received};
use std::cell::Cell;
use std::fmt;
use std::ptr::NonNull;

/// A queue's own arrivals, departures and flushes, over inboxes like those of its pools, one for each CPU.
pub struct Inline {
    queue: Queue,
    is_counted: bool,
    inboxes: Box<[CacheLine<Inbox<Item>>]>,
    items: Box<[CacheLine<Item>]>,
}

struct Item {
    below: Cell<Option<NonNull<Item>>>,
    /// Owner of `is_pending`: the slot of the phase it arrived at.
    slot: Cell<u8>,
    is_pending: AtomicU32,
    runs: AtomicU64,
}

// SAFETY: `below` is touched by the pusher before the push and by the taker after the take alone.
unsafe impl Link for Item {
    unsafe fn below(this: NonNull<Self>) -> Option<NonNull<Self>> {
        // SAFETY: the caller owns it.
        unsafe { this.as_ref() }.below.get()
    }

    unsafe fn set_below(this: NonNull<Self>, below: Option<NonNull<Self>>) {
        // SAFETY: the caller owns it.
        unsafe { this.as_ref() }.below.set(below);
    }
}

// SAFETY: the cells of an item are touched by whoever has set `is_pending` and not pushed it, or has taken it; both
// hand it on by a release that the next one acquires. The rest is atomics.
unsafe impl Sync for Inline {}
// SAFETY: as above; nothing in it belongs to a thread.
unsafe impl Send for Inline {}

impl fmt::Debug for Inline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inline").field("cpus", &self.inboxes.len()).finish_non_exhaustive()
    }
}

/// Of the lease on each inbox.
const PWQ: PwqId = PwqId(0);

impl Inline {
    /// This many items over the CPUs of a queue, counted for its flushes, or not at all.
    pub fn new(queue: &Queue, items: usize, is_counted: bool) -> Inline {
        let inbox = |_| {
            let inbox = Inbox::new(Sleeper::Manager);
            let _ = inbox.take();
            inbox.lease(PWQ);
            CacheLine(inbox)
        };
        let item = |_| {
            CacheLine(Item {
                below: Cell::new(None),
                slot: Cell::new(0),
                is_pending: AtomicU32::new(0),
                runs: AtomicU64::new(0),
            })
        };
        let cpus = queue.inner().slots.len();
        Inline {
            queue: queue.clone(),
            is_counted,
            inboxes: (0..cpus).map(inbox).collect(),
            items: (0..items).map(item).collect(),
        }
    }

    fn to(&self, cpu: usize) -> (&QueueInner, &Slot) {
        let inner = self.queue.inner();
        (inner, &inner.slots[cpu])
    }

    /// Queues an item on a CPU. Never blocks.
    ///
    /// # Panics
    /// When there is no such item or CPU, the item is pending, or the queue refuses it.
    #[inline]
    pub fn submit(&self, item: usize, cpu: usize) {
        let item = &*self.items[item];
        let mut phase = 0;
        if self.is_counted {
            let (queue, to) = self.to(cpu);
            phase = queue.arrive(to, None).expect("an open queue");
        }
        // Ordering: acquire pairs with the release of who ran it last.
        assert_eq!(item.is_pending.swap(1, Ordering::AcqRel), 0, "the item is pending");
        item.slot.set(slot(phase) as u8);
        // SAFETY: the items live as long as the inboxes; this one is ours since the swap.
        let _ = unsafe { self.inboxes[cpu].push(NonNull::from(item), PWQ) };
    }

    /// Runs what is queued on a CPU now. Never blocks.
    ///
    /// # Panics
    /// When there is no such CPU.
    #[inline]
    pub fn run(&self, cpu: usize) {
        let inbox = &*self.inboxes[cpu];
        if let Some(item) = inbox.take_one(PWQ) {
            // SAFETY: taken.
            let slot = unsafe { run(item) }.0;
            self.depart(cpu, slot, 1);
        } else if inbox.has_items() {
            let received = inbox.take();
            inbox.lease(PWQ);
            if let Received::Items(first) = received {
                self.run_all(cpu, first);
            }
        }
    }

    /// As a worker does: the ends of one phase are published together.
    fn run_all(&self, cpu: usize, first: NonNull<Item>) {
        let (mut at, mut ended, mut count) = (Some(first), 0, 0);
        while let Some(item) = at {
            // SAFETY: of a list that was taken.
            let (slot, next) = unsafe { run(item) };
            if slot != ended && count > 0 {
                self.depart(cpu, ended, count);
                count = 0;
            }
            ended = slot;
            count += 1;
            at = next;
        }
        self.depart(cpu, ended, count);
    }

    #[inline]
    fn depart(&self, cpu: usize, slot: u8, count: u32) {
        if self.is_counted {
            let (queue, to) = self.to(cpu);
            queue.pwq(to).depart(usize::from(slot), count);
        }
    }

    /// How often an item has run. A flush that owes the item orders its run before this.
    ///
    /// # Panics
    /// When there is no such item.
    pub fn runs(&self, item: usize) -> u64 {
        // Ordering: relaxed: see above.
        self.items[item].runs.load(Ordering::Relaxed)
    }
}

/// Answers the slot of the phase it arrived at, and the item after it.
///
/// # Safety
/// The caller has taken it.
unsafe fn run(item: NonNull<Item>) -> (u8, Option<NonNull<Item>>) {
    // SAFETY: alive as long as its inbox.
    let item = unsafe { item.as_ref() };
    let found = (item.slot.get(), item.below.get());
    // Ordering: relaxed: written by one taker at a time; published by the departure.
    item.runs.store(item.runs.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    // Ordering: release pairs with the next submission's acquire.
    item.is_pending.store(0, Ordering::Release);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Engine, Topology};

    #[test]
    fn what_is_queued_runs_once_and_flushes_wait_for_it() {
        let topology = Topology::synthetic("node:2/core:4").unwrap();
        let engine = Engine::builder().topology(topology).build().unwrap();
        let queue = engine.queue("inline").per_cpu().build().unwrap();
        let inline = Inline::new(&queue, 3, true);
        for round in 1..=40 {
            inline.submit(0, 5);
            inline.submit(1, 5);
            inline.submit(2, 7);
            let mut flush = Box::pin(queue.flush_async());
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            inline.run(5);
            assert!(flush.as_mut().poll(&mut context).is_pending(), "one on the other CPU is owed");
            inline.run(7);
            assert!(flush.as_mut().poll(&mut context).is_ready());
            assert_eq!([0, 1, 2].map(|item| inline.runs(item)), [round; 3]);
        }
    }

    /// More threads than a queue has slots, two on each CPU: flushes find no slot free, and then that slots are free.
    #[test]
    fn flushes_that_wait_for_slots_all_return() {
        let topology = Topology::synthetic("node:2/core:5").unwrap();
        let engine = Engine::builder().topology(topology).wait(crate::WaitPolicy::Park).build().unwrap();
        let queue = engine.queue("inline").per_cpu().build().unwrap();
        let inline = Inline::new(&queue, 20, true);
        std::thread::scope(|scope| {
            for thread in 0..20 {
                let (queue, inline) = (&queue, &inline);
                scope.spawn(move || {
                    for round in 1..=50_000 {
                        inline.submit(thread, thread % 10);
                        inline.run(thread % 10);
                        queue.flush().unwrap();
                        assert_eq!(inline.runs(thread), round, "it is owed");
                    }
                });
            }
        });
    }
}
