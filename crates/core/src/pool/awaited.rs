//! An item that is run by the worker whose own item waits for it.

use super::core::PoolCore;
use crate::id::WorkerId;
use crate::list::Items;
use crate::time::Tick;
use crate::worker::State;
use core::hash::Hash;

impl<I: Copy + Eq + Hash + core::fmt::Debug> PoolCore<I> {
    /// The item keeps its place of `max_active` until its end. The worker counts as it did: inside one item.
    pub(super) fn claim_awaited<S: Items<Item = I>>(
        &mut self,
        now: Tick,
        items: &mut S,
        worker: WorkerId,
        item: I,
    ) {
        let slot = &self.workers[worker.index()];
        debug_assert!(slot.state == State::Busy && !slot.blocked, "{worker} waits inside an item");
        debug_assert!(slot.batch.len() <= 1, "{worker} has given back what it had not started");
        debug_assert!(
            !items.is_inactive(item) && items.function(item).is_none(),
            "it may start, and is nobody else's"
        );
        self.worklist.unlink(items, item);
        self.last_claim = now;
    }
}
