//! What a queue's handles share.

use crate::engine::Shared;
use crate::pool::{Near, Node, Pool, Pwq};
use crate::worker::current_queue;
use cmwq_ring::sync::AtomicU32;
use cmwq_ring::{Arrivals, CacheLine, Listing, QueueCell, RoomCell};
use cmwq_sys::affinity::current_cpu;
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

/// Where a submission from one CPU goes. Immutable for the queue's life.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) pwq: NonNull<Pwq>,
    /// The CPU's number, its lower bits.
    pub(crate) cpu: u8,
    /// The pwq's number in `joints`.
    pub(crate) joint: u32,
    /// Where the workers of its pool are seen.
    pub(crate) near: Near,
    /// The arrival counts of that CPU, in the queue's `arrivals`.
    pub(crate) leaf: NonNull<Arrivals>,
    /// Whether the engine uses this CPU (others are mapped onto one that it does).
    pub(crate) usable: bool,
}

/// One of the queue's pwqs, its pool, and the leaves that count its arrivals.
pub(crate) struct Joint {
    pub(crate) pwq: NonNull<Pwq>,
    pub(crate) pool: Arc<Pool>,
    pub(crate) leaves: Vec<u32>,
}

/// Legend: `I` immutable, `W` by the protocol of its word.
pub(crate) struct QueueInner {
    /// I: unique in the process, from 1.
    pub(crate) id: u64,
    /// I.
    pub(crate) name: Arc<str>,
    /// W: the phase and who may submit.
    pub(crate) word: CacheLine<QueueCell>,
    /// W: phases below it are known to be empty.
    pub(crate) done: AtomicU32,
    /// W: one a CPU.
    pub(crate) arrivals: Arc<Vec<CacheLine<Arrivals>>>,
    /// W: which of `joints` have been used in a phase.
    pub(crate) listing: Listing,
    /// I: by CPU number.
    pub(crate) slots: Box<[Slot]>,
    /// I.
    pub(crate) joints: Box<[Joint]>,
    /// How many items may be active.
    pub(super) limits: super::limits::Limits,
    /// W: how many items may be pending, if that is limited.
    pub(super) room: Option<Arc<RoomCell>>,
    /// W: whether an item has ever been delayed.
    pub(super) has_delayed: AtomicU32,
    pub(crate) engine: Weak<Shared>,
}

// SAFETY: pwq addresses point into pools that `joints` keeps alive, leaf addresses into `arrivals`; the rest is
// immutable or atomics.
unsafe impl Send for QueueInner {}
// SAFETY: as above.
unsafe impl Sync for QueueInner {}

impl QueueInner {
    /// The slot of the CPU the caller runs on.
    #[inline]
    pub(crate) fn here(&self) -> &Slot {
        let cpu = current_cpu() as usize;
        if cpu < self.slots.len() { &self.slots[cpu] } else { &self.slots[cpu % self.slots.len()] }
    }

    /// The slot of a CPU, if the engine uses it.
    pub(crate) fn slot_of(&self, cpu: u32) -> Option<&Slot> {
        self.slots.get(cpu as usize).filter(|slot| slot.usable)
    }

    /// Whether the calling thread is inside an item of this queue.
    pub(crate) fn is_current(&self) -> bool {
        current_queue() == Some(self.id)
    }
}

/// Gives the pwq back. Not when the queue's last handle is dropped: a delayed item that was taken off its timer before
/// may be on its way into the queue. It is refused, but its arrival departs at the pwq (F10 pwqs stay).
impl Drop for Joint {
    fn drop(&mut self) {
        self.pool.leave(self.pwq);
    }
}

impl Drop for QueueInner {
    fn drop(&mut self) {
        if let Some(engine) = self.engine.upgrade() {
            let name = engine.queue_names.lock().remove(&self.id);
            drop(name);
        }
    }
}

impl Joint {
    /// The number of its pwq in this node, if it is a member.
    pub(super) fn place_in(&self, node: &Arc<Node>) -> Option<(usize, NonNull<Pwq>)> {
        Some((self.pool.number_in(node, self.pwq)?, self.pwq))
    }

    pub(crate) fn pwq(&self) -> &Pwq {
        // SAFETY: the pool, which `self` keeps alive, owns the pwq.
        unsafe { self.pwq.as_ref() }
    }
}

#[cfg(test)]
#[path = "inner_tests.rs"]
mod tests;
