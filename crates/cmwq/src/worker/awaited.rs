//! A worker that runs the very item its own item waits for.
//!
//! Only that item, and only one that could start at this moment: queued in the worker's own pool, past its limit, not
//! started, of a queue that allows it ([`QueueBuilder::run_on_wait`](crate::QueueBuilder::run_on_wait)). The waiting
//! item is in the graph of waits meanwhile, as if it slept.

use super::{Runner, Wait, begin_wait, with_runner};
use crate::item::Header;
use crate::pool::Awaited;
use cmwq_sys::standing::Standing;
use std::ptr::NonNull;

/// How deep such runs nest on one thread's stack.
const NESTED_MAX: u8 = 8;

/// Runs the item that the caller is about to wait for, if the caller is an item itself and may. The caller keeps it
/// alive, and asks again whether its wait is over.
pub(crate) fn run_awaited(item: NonNull<Header>, is_over: &dyn Fn() -> bool) {
    with_runner(|runner| {
        // Who says that it blocks has given its worker's place away.
        let waits = runner.filter(|runner| runner.pool.lets_waiters_run() && runner.blocking.get() == 0);
        if let Some(runner) = waits {
            runner.run_awaited(item, is_over);
        }
    });
}

impl Runner<'_> {
    #[cold]
    #[inline(never)]
    fn run_awaited(&self, item: NonNull<Header>, is_over: &dyn Fn() -> bool) {
        if self.nested.get() == NESTED_MAX || is_over() {
            return;
        }
        let Some(awaited) = Awaited::new(self.pool, item, is_over) else { return };
        // What has ended is owed to flushes for which the item may wait.
        self.publish_departures();
        if !self.pool.claim_awaited(self.id, &awaited) {
            return;
        }
        // It closes no circle: the item can start. But what it does inside may.
        let waiting = begin_wait(&Wait::Item(item, is_over));
        self.run_nested(item);
        drop(waiting);
    }

    /// Runs an item that this worker has claimed inside another, and reports its end.
    fn run_nested(&self, item: NonNull<Header>) {
        let outer = self.leave();
        let standing = self.standing.borrow_mut().as_mut().map(|expected| {
            // What the outer item has changed so far is neither this one's nor taken back under it.
            std::mem::replace(expected, Standing::current())
        });
        self.nested.set(self.nested.get() + 1);
        let pwq = self.run_apart(item);
        self.nested.set(self.nested.get() - 1);
        *self.standing.borrow_mut() = standing;
        self.enter(outer);
        self.pool.end_awaited(self.id, item, pwq);
    }
}
