//! What every item begins with, whatever it runs.

use crate::pool::{Near, Pwq};
use crate::worker::Runner;
use cmwq_core::id::PwqId;
use cmwq_core::work::{Ended, WorkWord};
use cmwq_ring::sync::{AtomicPtr, AtomicU32, Ordering};
use cmwq_ring::{Link, WorkCell};
use cmwq_sys::futex::wake_all_at;
use std::cell::Cell;
use std::panic::Location;
use std::ptr::NonNull;

/// The common first part of every item. `repr(C)` and first in its container, so that a pointer to it is a pointer
/// to the
/// whole item.
///
/// Invariants:
/// * `W1 one claimer`: `pwq`, `slot`, `place` are written only by whoever owns PENDING and has not yet pushed.
/// * `W3 pending owns links`: `next`, `prev`, `inactive` belong to the pusher until the push, then to the taker
///   of the inbox and the holder of the pool lock.
/// * `W5 pending keeps alive`: a pushed item is kept alive by a reference that its run (or cancel) gives back.
#[repr(C)]
pub(crate) struct Header {
    /// W: by its own protocol.
    pub(crate) word: WorkCell,
    /// L (W3).
    pub(crate) next: Cell<Option<NonNull<Header>>>,
    /// L (W3).
    pub(crate) prev: Cell<Option<NonNull<Header>>>,
    /// I.
    pub(crate) vtable: &'static VTable,
    /// Owner of PENDING (W1). Cancellers read it at any time, and use it only as an address to look up.
    pub(crate) pwq: PwqCell,
    /// The holder of the lock of this pwq's pool: set while the item is in one of that pool's lists.
    pub(crate) listed: PwqCell,
    /// Owner of PENDING (W1), until the start: the pwq whose worker runs it, or ran it last.
    pub(crate) ran_at: Cell<Option<NonNull<Pwq>>>,
    /// Owner of PENDING (W1): where it was submitted.
    pub(crate) place: Cell<&'static Location<'static>>,
    /// Counts handles and pending instances.
    refs: AtomicU32,
    /// Owner of PENDING (W1): the slot of the phase it arrived at.
    pub(crate) slot: Cell<u8>,
    /// L (W3).
    pub(crate) inactive: Cell<bool>,
    /// Owner of PENDING (W1): the CPU it was submitted from, its lower bits: a hint for the worker.
    pub(crate) cpu: Cell<u8>,
    /// Owner of PENDING (W1): where the pool's workers are seen: a hint for who waits.
    pub(crate) near: Cell<Near>,
}

/// The address of a pwq, or none; read by threads that do not own the field.
pub(crate) struct PwqCell(AtomicPtr<Pwq>);

impl PwqCell {
    fn new() -> PwqCell {
        PwqCell(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// The address.
    #[inline]
    pub(crate) fn get(&self) -> Option<NonNull<Pwq>> {
        // Ordering: relaxed: owners are ordered by the item's word and the pool's lock; to others it is a hint.
        NonNull::new(self.0.load(Ordering::Relaxed))
    }

    /// Sets it. For its owner.
    #[inline]
    pub(crate) fn set(&self, pwq: Option<NonNull<Pwq>>) {
        // Ordering: relaxed, as in `get`.
        self.0.store(pwq.map_or(std::ptr::null_mut(), NonNull::as_ptr), Ordering::Relaxed);
    }
}

/// What differs between kinds of items.
pub(crate) struct VTable {
    /// Runs the item to its end and gives back the pending instance's reference.
    ///
    /// # Safety
    /// The caller is the worker that claimed the item and has not run it yet.
    pub(crate) run: unsafe fn(NonNull<Header>, &Runner<'_>),
    /// Frees the item. Runs user code (drops), which must not unwind out of it.
    ///
    /// # Safety
    /// The last reference has been given back.
    pub(crate) free: unsafe fn(NonNull<Header>),
    /// Whether the item may be freed by its owner while it runs, so that (address, function) tells whether it runs.
    pub(crate) owned_by_caller: bool,
}

impl Header {
    pub(crate) fn new(
        vtable: &'static VTable,
        word: WorkWord,
        refs: u32,
        place: &'static Location<'static>,
    ) -> Self {
        Header {
            word: WorkCell::new(word),
            next: Cell::new(None),
            prev: Cell::new(None),
            vtable,
            pwq: PwqCell::new(),
            listed: PwqCell::new(),
            ran_at: Cell::new(None),
            place: Cell::new(place),
            refs: AtomicU32::new(refs),
            slot: Cell::new(0),
            inactive: Cell::new(false),
            cpu: Cell::new(0),
            near: Cell::new(Near::default()),
        }
    }

    /// An instance has ended: wakes those who wait for it, if there are any.
    pub(crate) fn tell(&self, ended: Ended) {
        if ended.wake {
            wake_all_at(self.word.futex_address());
        }
    }

    /// Takes another reference.
    pub(crate) fn retain(&self) {
        // Ordering: relaxed: a reference is only made from another one.
        let old = self.refs.fetch_add(1, Ordering::Relaxed);
        assert!(old < u32::MAX / 2, "too many handles of one item");
    }

    /// Gives back a reference; the last one frees the item.
    ///
    /// # Safety
    /// The caller owns a reference and does not use the item afterwards.
    pub(crate) unsafe fn release(this: NonNull<Header>) {
        // SAFETY: W5 pending keeps alive: the caller's reference does.
        let header = unsafe { this.as_ref() };
        // Ordering: release, so that what was done under this reference comes before the free; acquire for the one
        // who frees.
        if header.refs.fetch_sub(1, Ordering::AcqRel) == 1 {
            // SAFETY: that was the last reference.
            unsafe { (header.vtable.free)(this) };
        }
    }
}

// SAFETY: L: the link is one field, written and read only by whoever owns it (W3 pending owns links); the header's
// alignment is that of a 64-bit word.
unsafe impl Link for Header {
    unsafe fn below(this: NonNull<Self>) -> Option<NonNull<Self>> {
        // SAFETY: W3 pending owns links: the caller owns the item.
        unsafe { this.as_ref() }.next.get()
    }
    unsafe fn set_below(this: NonNull<Self>, below: Option<NonNull<Self>>) {
        // SAFETY: W3 pending owns links: the caller owns the item.
        unsafe { this.as_ref() }.next.set(below);
    }
}

/// An item in a pool, as the core knows it. Compared and hashed by address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Handle(pub(crate) NonNull<Header>);

// SAFETY: a handle is an address; what may be done with it is governed by W1, W3, W5.
unsafe impl Send for Handle {}

/// What must be known of a claimed item after it has run and may be gone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Claimed {
    pub(crate) handle: Handle,
    pub(crate) pwq: PwqId,
    pub(crate) owned_by_caller: bool,
}
