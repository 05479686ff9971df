//! The item a leaseholder is inside, as far as others must know it.

use crate::item::{Handle, Header};
use cmwq_ring::sync::{AtomicPtr, Ordering};
use std::ptr;
use std::sync::atomic::AtomicUsize;

/// The caller-owned item that the leaseholder is inside, by (address, function), so that the same item, queued again while it
/// runs, is kept for that worker; nothing while it is inside another kind of item.
///
/// An item is written here before it lets go of PENDING, and taken out before the leaseholder tries to take the next one. So
/// whoever holds the lock and has drained the inbox finds the item asked for exactly if the leaseholder may still be
/// inside it: the drain comes after the last item that was taken (both write the inbox word), and the item asked for was
/// queued after its start.
#[derive(Default)]
pub(crate) struct Leased {
    item: AtomicPtr<Header>,
    function: AtomicUsize,
}

impl Leased {
    /// Leaseholder: it is about to run this item.
    pub(crate) fn set(&self, item: Handle, function: usize) {
        // Ordering: relaxed: the store below publishes it.
        self.function.store(function, Ordering::Relaxed);
        // Ordering: release pairs with `is`, as in `clear`; the item's release of PENDING publishes it to those who ask for it.
        self.item.store(item.0.as_ptr(), Ordering::Release);
    }

    /// Leaseholder: it is inside none.
    pub(crate) fn clear(&self) {
        // Ordering: relaxed: written by the leaseholder alone.
        if !self.item.load(Ordering::Relaxed).is_null() {
            // Ordering: release pairs with `is`: who no longer finds an item here, and runs it, comes after its end.
            self.item.store(ptr::null_mut(), Ordering::Release);
        }
    }

    /// Under the lock: whether it is this one.
    pub(crate) fn is(&self, item: Handle, function: usize) -> bool {
        // Ordering: acquire pairs with `set` and `clear`.
        self.item.load(Ordering::Acquire) == item.0.as_ptr()
            // Ordering: relaxed: of this item, or of the same one later: see the type.
            && self.function.load(Ordering::Relaxed) == function
    }
}
