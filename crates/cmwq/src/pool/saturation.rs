//! A queue is saturated when an item has to wait because `max_active` others of it are active. The first one is told
//! about, once in the queue's life.
//!
//! It is seen under the pool's lock, where an item that arrives is told to wait: an item that need not wait does not
//! come here. It counts if an item waits still at the end of the hold, when ends that nobody had reported have been.
//! It is told by the manager thread, since those who hold a pool's lock may be inside of anything.

use super::node::Post;
use super::{Hold, Pwq};
use crate::engine::EngineEvent;
use cmwq_ring::sync::{AtomicU32, Ordering};
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

/// Shared by the pwqs of one queue.
pub(crate) struct Saturation {
    queue: Arc<str>,
    is_seen: AtomicU32,
}

/// An item that waits, and is to be told about.
pub(crate) struct Waiting {
    of: Arc<Saturation>,
    place: &'static Location<'static>,
}

impl Saturation {
    pub(crate) fn new(queue: Arc<str>) -> Arc<Saturation> {
        Arc::new(Saturation { queue, is_seen: AtomicU32::new(0) })
    }
}

impl Pwq {
    /// An item submitted at this place waits behind the limit. Answers what may have to be told.
    ///
    /// # Safety
    /// The caller holds the pool's lock.
    pub(super) unsafe fn waits(&self, place: &'static Location<'static>) -> Option<Waiting> {
        // SAFETY: L1 one holder.
        let of = unsafe { (*self.saturation.get()).take() }?;
        Some(Waiting { of, place })
    }

    /// Leaves it to the manager, for the first one of a queue. Not under a pool's lock.
    pub(super) fn report(pwq: NonNull<Pwq>, waiting: Waiting) {
        // Ordering: relaxed: who is first is decided on this word alone.
        if waiting.of.is_seen.swap(1, Ordering::Relaxed) != 0 {
            return;
        }
        // SAFETY: pwqs live as long as their pool, which whoever has held its lock keeps alive.
        let pool = unsafe { pwq.as_ref() }.pool();
        if let Some(engine) = pool.engine.upgrade() {
            engine.manager.tell_later(waiting);
        }
    }
}

impl Hold<'_> {
    /// At the end of the hold: whether a post is to be sent. If nothing of a pwq waits any more, it looks again.
    pub(super) fn is_due(&self, post: &Post) -> bool {
        let Post::Waits(pwq, waiting) = post else { return true };
        // SAFETY: pwqs live as long as their pool.
        let pwq = unsafe { pwq.as_ref() };
        let waits = !self.core().gate(pwq.id).inactive().is_empty();
        if !waits {
            // SAFETY: L1 one holder: this is a hold.
            unsafe { *pwq.saturation.get() = Some(Arc::clone(&waiting.of)) };
        }
        waits
    }
}

impl From<Waiting> for EngineEvent {
    fn from(Waiting { of, place }: Waiting) -> EngineEvent {
        EngineEvent::QueueSaturated { queue: of.queue.to_string(), place: place.to_string() }
    }
}
