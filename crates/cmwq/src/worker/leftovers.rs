//! What an item's function leaves behind on its worker's thread, if the engine looks for it.

use super::Runner;
use crate::engine::EngineEvent;
use cmwq_sys::standing::Standing;
use std::panic::Location;

impl Runner<'_> {
    /// How the thread stands, for a worker that looks after each item.
    pub(super) fn begin_checks(&self) {
        *self.standing.borrow_mut() = Some(Standing::current());
    }

    /// After an item of the queue with this number, before its end is published: tells what it has changed, once, and
    /// takes it back, so that later items find the thread as it was.
    #[cold]
    pub(super) fn check(&self, queue: u64, place: &'static Location<'static>) {
        let now = Standing::current();
        let Some(before) = self.standing.borrow().clone() else { return };
        let left = before.changes(&now).map(|what| (what, before.restore(what).is_ok()));
        let left: Vec<_> = left.collect();
        if left.is_empty() {
            return;
        }
        // What could not be taken back is not the next item's.
        self.begin_checks();
        let Some(engine) = self.pool.engine.upgrade() else { return };
        let queue = engine.queue_name(queue).map(|name| name.to_string());
        for (what, restored) in left {
            let (queue, place) = (queue.clone(), place.to_string());
            engine.tell(&EngineEvent::ItemLeft { queue, place, what, restored });
        }
    }
}
