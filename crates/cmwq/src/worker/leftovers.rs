//! What an item's function leaves behind on its worker's thread, if the engine looks for it.

use super::Runner;
use crate::engine::EngineEvent;
use cmwq_sys::standing::Standing;

impl Runner<'_> {
    /// After an item, before its end is published: tells what it has changed, once, and takes it back, so that later
    /// items find the thread as it was.
    #[cold]
    #[inline(never)]
    pub(super) fn check(&self) {
        let now = Standing::current();
        let Some(before) = self.standing.borrow().clone() else { return };
        let left = before.changes(&now).map(|what| (what, before.restore(what).is_ok()));
        let left: Vec<_> = left.collect();
        if left.is_empty() {
            return;
        }
        // What could not be taken back is not the next item's.
        *self.standing.borrow_mut() = Some(Standing::current());
        let Some(engine) = self.pool.engine.upgrade() else { return };
        let (Some((_, queue)), Some(place)) = (self.running(), self.submitted_at()) else { return };
        let queue = engine.queue_name(queue).map(|name| name.to_string());
        for (what, restored) in left {
            let (queue, place) = (queue.clone(), place.to_string());
            engine.tell(&EngineEvent::ItemLeft { queue, place, what, restored });
        }
    }
}
