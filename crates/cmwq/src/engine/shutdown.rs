//! How an engine ends.
//!
//! The last handle's drop tells the manager. The manager waits until orphaned queues are quiet, closes the pools
//! (workers finish what is listed and leave), waits for the threads, and ends itself. Whoever drops the last handle
//! outside the engine waits for the manager; on one of the engine's own threads it does not.

use super::{Owner, Shared};
use crate::pool::Pool;
use crate::queue::QueueInner;
use crate::worker::{clock, on_engine_thread};
use cmwq_core::pool::Event;
use cmwq_sys::thread::JoinHandle;
use std::sync::Arc;

/// A queue whose last handle was dropped inside one of its own items.
pub(crate) struct Orphan(pub(crate) Arc<QueueInner>);

impl Orphan {
    pub(super) fn is_quiet(&self) -> bool {
        self.0.is_quiet()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let shared = &self.shared;
        shared.manager.end();
        if on_engine_thread(Arc::as_ptr(shared) as usize) {
            return;
        }
        let manager = shared.manager_thread.lock().take();
        if let Some(thread) = manager {
            // A thread of ours does not unwind; if it did the engine is gone all the same.
            let _ = thread.join();
        }
    }
}

impl Shared {
    /// One attempt of the manager to end the engine. `false`: orphaned queues still run.
    pub(super) fn try_end(&self) -> bool {
        if self.manager.bury_orphans() {
            return false;
        }
        for pool in self.all_pools() {
            close(&pool);
        }
        loop {
            let thread = self.threads.lock().pop();
            match thread {
                Some(thread) => drop(JoinHandle::join(thread)),
                None => return true,
            }
        }
    }
}

fn close(pool: &Pool) {
    loop {
        let mut hold = pool.hold(clock::now());
        hold.drain();
        hold.step(Event::Close);
        let done = hold.core().is_closed();
        hold.release();
        if done {
            return;
        }
    }
}
