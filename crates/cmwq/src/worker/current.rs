//! Which worker, item and queue the calling thread is inside of.
//!
//! A thread-local pointer without a destructor: nothing is registered on callers' threads.

use super::Runner;
use crate::item::Header;
use cmwq_core::id::WorkerId;
use std::cell::Cell;
use std::ptr::{self, NonNull};

cmwq_sys::thread::thread_local! {
    static CURRENT: Cell<*const ()> = const { Cell::new(ptr::null()) };
    /// The address of the engine whose thread this is.
    static ENGINE: Cell<usize> = const { Cell::new(0) };
}

/// Resets the pointer when the worker's function ends, also by unwinding.
pub(super) struct Entered;

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.with(|current| current.set(ptr::null()));
    }
}

pub(super) fn enter(runner: &Runner<'_>) -> Entered {
    CURRENT.with(|current| current.set(ptr::from_ref(runner).cast()));
    Entered
}

/// Calls `body` with the worker this thread is, if it is one and runs an item.
pub(crate) fn with_runner<T>(body: impl FnOnce(Option<&Runner<'_>>) -> T) -> T {
    // SAFETY: the pointer is set while the runner lives on this thread's stack, and cleared by `Entered`.
    let runner = unsafe { CURRENT.with(Cell::get).cast::<Runner<'_>>().as_ref() };
    body(runner.filter(|r| r.running().is_some()))
}

/// The number of the queue whose item the calling thread runs.
pub(crate) fn current_queue() -> Option<u64> {
    with_runner(|r| r.and_then(Runner::running).map(|(_, queue)| queue))
}

/// The item that the calling thread runs.
pub(crate) fn current_item() -> Option<NonNull<Header>> {
    with_runner(|r| r.and_then(Runner::running).map(|(item, _)| item))
}

/// Whether the calling thread belongs to the engine at this address.
pub(crate) fn on_engine_thread(engine: usize) -> bool {
    ENGINE.with(Cell::get) == engine
}

/// The worker that the calling thread is.
pub(crate) fn current_worker() -> Option<WorkerId> {
    // SAFETY: as in `with_runner`.
    unsafe { CURRENT.with(Cell::get).cast::<Runner<'_>>().as_ref() }.map(|runner| runner.id)
}

/// What the calling thread is.
#[cfg(feature = "bench")]
pub(crate) fn who() -> crate::steps::Who {
    use crate::steps::Who;
    match current_worker() {
        Some(worker) => Who::Worker(worker),
        // A worker's thread comes to no step before it is a runner and after it has been one.
        None if ENGINE.with(Cell::get) != 0 => Who::Manager,
        None => Who::Other,
    }
}

/// Marks the calling thread as one of the engine's.
pub(crate) fn set_engine_thread(engine: usize) {
    ENGINE.with(|of| of.set(engine));
}
