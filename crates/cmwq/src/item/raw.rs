//! Items whose memory is their owner's, as in the kernel: they may be freed or made anew by their own function.
//!
//! The core touches such an item for the last time when it ends PENDING, just before the function runs; whether it
//! runs is
//! known to the pool by (address, function).

use super::header::{Handle, Header, VTable};
use crate::queue::{Queue, Submit};
use crate::worker::Runner;
use cmwq_core::work::WorkWord;
use std::panic::Location;
use std::ptr::NonNull;

/// A caller-owned item.
#[repr(C)]
pub struct RawWork {
    header: Header,
    function: unsafe fn(NonNull<RawWork>),
}

// SAFETY: the header's fields are governed by W1, W3; the function is a plain pointer.
unsafe impl Send for RawWork {}
// SAFETY: as above.
unsafe impl Sync for RawWork {}

static RAW: VTable = VTable { run, free, owned_by_caller: true };

impl RawWork {
    /// An idle item. The function is called with the item's address; the memory behind it is the function's to reuse.
    #[track_caller]
    pub fn new(function: unsafe fn(NonNull<RawWork>)) -> RawWork {
        RawWork { header: Header::new(&RAW, WorkWord::IDLE, 0, Location::caller()), function }
    }

    /// Queues the item. Allocates nothing.
    ///
    /// # Safety
    /// The item stays where it is and alive until its function has begun; the function may be called on any thread.
    #[track_caller]
    pub unsafe fn queue(this: NonNull<RawWork>, queue: &Queue) -> Submit {
        let inner = queue.inner();
        // SAFETY: the caller keeps the item alive.
        unsafe { inner.submit_owned(inner.here(), this.cast(), Location::caller()) }
    }
}

/// # Safety
/// See [`VTable::run`]; the item is a `RawWork`.
unsafe fn run(item: NonNull<Header>, runner: &Runner<'_>) {
    let work = item.cast::<RawWork>();
    // SAFETY: its owner keeps it alive until the function begins.
    let raw = unsafe { work.as_ref() };
    let (function, place) = (raw.function, raw.header.place.get());
    raw.header.word.let_go();
    // SAFETY: what `RawWork::queue` asks for.
    if let Err(payload) = super::quietly(|| unsafe { function(work) }) {
        runner.tell_panic(place);
        super::discard(payload);
    }
}

/// # Safety
/// Never called: caller-owned items are not counted.
unsafe fn free(_item: NonNull<Header>) {
    unreachable!("a caller-owned item has no references")
}

/// The function of a pending caller-owned item, as a number.
pub(crate) fn function_of(item: Handle) -> usize {
    // SAFETY: the item is pending, and its vtable says that it is a `RawWork`.
    unsafe { item.0.cast::<RawWork>().as_ref() }.function as usize
}
