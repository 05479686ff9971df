//! The item a leaseholder runs without the pool's knowledge.

use crate::item::{Handle, Header};
use cmwq_ring::sync::{AtomicPtr, Ordering};
use std::ptr;
use std::sync::atomic::AtomicUsize;

/// The last caller-owned item that the leaseholder has taken, by (address, function), so that the same item, queued again
/// while it runs, is kept for that worker.
///
/// Written before the item lets go of PENDING; whoever takes the same item from the inbox later has acquired that.
#[derive(Default)]
pub(crate) struct Leased {
    item: AtomicPtr<Header>,
    function: AtomicUsize,
}

impl Leased {
    /// Leaseholder: it is about to run this item.
    pub(crate) fn set(&self, item: Handle, function: usize) {
        // Ordering: relaxed: published by the item's release of PENDING, see above.
        self.function.store(function, Ordering::Relaxed);
        // Ordering: as above.
        self.item.store(item.0.as_ptr(), Ordering::Relaxed);
    }

    /// Leaseholder, under the lock: it runs none.
    pub(crate) fn clear(&self) {
        // Ordering: relaxed: under the lock, as the reads are.
        self.item.store(ptr::null_mut(), Ordering::Relaxed);
    }

    /// Under the lock: whether it is this one.
    pub(crate) fn is(&self, item: Handle, function: usize) -> bool {
        // Ordering: relaxed, see above. The two may belong to different items; then the leaseholder has come past the one
        // asked for.
        self.item.load(Ordering::Relaxed) == item.0.as_ptr()
            && self.function.load(Ordering::Relaxed) == function
    }
}
