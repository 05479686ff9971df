//! The joint of one queue with one pool.

use super::node::{self, Membership, Node};
use super::saturation::Saturation;
use super::{Joining, Pool};
use crate::item::{Header, wake};
use crate::stats::{Counter, Hint};
use cmwq_core::id::PwqId;
use cmwq_ring::{COUNTED, CacheLine, Departures, Futex, Lock, MailCell, RoomCell};
use cmwq_sys::futex::LinuxFutex;
use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::Waker;

/// Lives as long as its pool; given to a new queue after its old one is gone. Workers may touch it (to wake a
/// flush) when
/// the queue no longer exists.
pub(crate) struct Pwq {
    /// I: the pool, which owns this.
    pool: NonNull<Pool>,
    /// I: its gate in the pool's core.
    pub(crate) id: PwqId,
    /// The number of the queue that uses it now. Written before the queue's first submission.
    pub(crate) queue: Counter,
    /// Whether a worker whose item waits for one of this queue may run it. Written with `queue`.
    pub(super) run_on_wait: Hint,
    /// L: its place in the node whose limit it shares; none: it has its own limit.
    node: UnsafeCell<Option<Membership>>,
    /// L, set while nothing of it is queued; then read by who runs or takes back its items: the room of its queue.
    room: UnsafeCell<Option<Arc<RoomCell>>>,
    /// L: who is to hear of the first item that waits behind the limit, until it does.
    pub(super) saturation: UnsafeCell<Option<Arc<Saturation>>>,
    /// W: what other pools have for it.
    pub(super) mail: MailCell,
    /// Whose it is, `mail` says (N2).
    pub(super) message: Header,
    /// Who is to be told, besides the sleepers, when a phase may be empty. Locked for a few instructions.
    wakers: Lock<Vec<Waker>, LinuxFutex>,
    /// W: what has ended, by phase.
    pub(crate) departures: CacheLine<Departures>,
}

/// Owns a pwq at an address that others hold. (A box that moves claims to be the only way to what is in it.)
pub(super) struct PwqHome(NonNull<Pwq>);

impl PwqHome {
    /// Moves it to a place that has room for it alone.
    pub(super) fn new(mut place: Vec<Pwq>, pwq: Pwq) -> PwqHome {
        place.push(pwq);
        PwqHome(NonNull::from(Box::leak(place.into_boxed_slice())).cast())
    }

    pub(super) fn address(&self) -> NonNull<Pwq> {
        self.0
    }
}

impl std::ops::Deref for PwqHome {
    type Target = Pwq;
    fn deref(&self) -> &Pwq {
        // SAFETY: made by `new`, freed by `drop`, and never borrowed exclusively in between.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for PwqHome {
    fn drop(&mut self) {
        // SAFETY: made by `new` from a box of one, which is laid out as a box of it and which nobody else frees; pwqs
        // are used only while their pool lives.
        drop(unsafe { Box::from_raw(self.0.as_ptr()) });
    }
}

// SAFETY: owns a `Pwq`, which may be sent and shared.
unsafe impl Send for PwqHome {}

// SAFETY: the pool is Sync and outlives its pwqs; `node` is touched under the pool's lock, the message by its sender or
// the taker of the inbox (N2 one sender); the rest is atomics.
unsafe impl Send for Pwq {}
// SAFETY: as above.
unsafe impl Sync for Pwq {}

impl Pwq {
    pub(super) fn new(pool: &Pool, id: PwqId) -> Pwq {
        Pwq {
            pool: NonNull::from(pool),
            id,
            queue: Counter::default(),
            run_on_wait: Hint::default(),
            node: UnsafeCell::new(None),
            room: UnsafeCell::new(None),
            saturation: UnsafeCell::new(None),
            mail: MailCell::default(),
            message: node::message(),
            wakers: Lock::new(Vec::new()),
            departures: CacheLine::default(),
        }
    }

    /// Its place in a node, if it shares a limit.
    ///
    /// # Safety
    /// The caller holds the pool's lock for as long as it uses the answer.
    pub(super) unsafe fn node(&self) -> Option<&Membership> {
        // SAFETY: L1 one holder: written under the lock only.
        unsafe { (*self.node.get()).as_ref() }
    }

    /// A number that all items under the same limit as this pwq's share, and the node if it is one that has the limit.
    ///
    /// # Safety
    /// As for [`Pwq::node`].
    pub(super) unsafe fn limit(&self) -> (usize, Option<&Node>) {
        // SAFETY: passed on.
        match unsafe { self.node() } {
            Some(member) => (Arc::as_ptr(&member.node).addr(), Some(&member.node)),
            None => (NonNull::from(self).addr().get(), None),
        }
    }

    /// Gives it to a queue, with a place in a node or a limit of its own.
    ///
    /// # Safety
    /// The caller holds the pool's lock, and nothing of the pwq is queued.
    pub(super) unsafe fn set_up(&self, node: Option<Membership>, queue: &Joining) {
        // SAFETY: L1 one holder.
        unsafe { *self.node.get() = node };
        // SAFETY: nothing is queued, so nobody reads it.
        unsafe { *self.room.get() = queue.room.clone() };
        // SAFETY: L1 one holder.
        unsafe { *self.saturation.get() = queue.saturation.clone() };
        self.queue.set(queue.id);
        self.run_on_wait.set(queue.run_on_wait);
    }

    /// An item of it has started, or was taken back: whoever waits for room in the queue is told.
    ///
    /// # Safety
    /// The caller has the item, whose end has not been reported.
    #[inline]
    pub(crate) unsafe fn make_room(&self) {
        // SAFETY: not written while an item of the pwq is queued or runs.
        if let Some(room) = unsafe { (*self.room.get()).as_ref() } {
            leave_room(room);
        }
    }

    /// Whether nothing is on the way to it from others of its last node.
    ///
    /// # Safety
    /// The caller holds the pool's lock.
    pub(super) unsafe fn is_quiet(&self) -> bool {
        // SAFETY: passed on.
        let node = unsafe { self.node() };
        self.mail.is_empty() && node.is_none_or(|m| m.node.counts.read().nr() == 0)
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

    /// Leaves a waker for the next time that a flush may have ended. Announce the wait afterwards, and look again.
    pub(crate) fn leave_waker(&self, waker: &Waker) {
        let waker = waker.clone();
        let mut wakers = self.wakers.lock();
        if !wakers.iter().any(|other| other.will_wake(&waker)) {
            wakers.push(waker);
            return;
        }
        drop(wakers);
        // User code: `waker` is dropped after the lock.
    }

    /// `count` items that arrived at the phase of `slot` have ended; wakes flushes that wait for them. Not under a
    /// pool's lock: wakers are user code.
    #[inline]
    pub(crate) fn depart(&self, slot: usize, count: u32) {
        if COUNTED && self.departures.depart(slot, count) {
            self.wake_flushes(slot);
        }
    }

    #[cold]
    fn wake_flushes(&self, slot: usize) {
        LinuxFutex::wake_all(self.departures.futex(slot));
        let wakers = std::mem::take(&mut *self.wakers.lock());
        wakers.into_iter().for_each(wake);
    }
}

/// Gives a place back and wakes those who wait for one.
pub(crate) fn leave_room(room: &RoomCell) {
    if room.give() {
        LinuxFutex::wake_all(room.futex());
    }
}
