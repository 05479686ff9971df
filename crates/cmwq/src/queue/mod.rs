//! Queues: where items are submitted, and how one waits for them.

mod builder;
mod delayed;
mod destroy;
mod flush;
mod flushed;
mod inner;
mod limits;
mod real_time;
mod room;
mod scope;
mod spawn;
mod submit;

pub use builder::QueueBuilder;
pub use destroy::StillRunning;
pub use flush::WaitError;
pub(crate) use flush::{spin_here, spin_near};
pub use flushed::Flushed;
pub(crate) use inner::{QueueInner, Slot};
pub use limits::LimitError;
pub(crate) use scope::Open;
pub use scope::{Scope, ScopedJoinHandle};
pub use spawn::Refused;
pub use submit::{Refusal, Submit};

use crate::engine::{Engine, Orphan};
use crate::worker::{Wait, begin_wait};
use std::sync::Arc;

/// A named queue: a limit of its own over pools shared with other queues.
///
/// A handle: cloning is cheap. Dropping the last handle destroys the queue: nothing new is accepted (but what its own
/// items submit, except an item that queues itself again), and the drop waits until everything has run. When the last
/// handle is dropped inside one of the queue's own items the drop does not wait; the engine's manager ends the queue.
#[derive(Clone)]
pub struct Queue {
    pub(crate) owner: Arc<Owner>,
}

/// What all handles of a queue share; its drop destroys the queue.
pub(crate) struct Owner {
    pub(crate) inner: Arc<QueueInner>,
    engine: Engine,
}

impl Queue {
    #[inline]
    pub(crate) fn inner(&self) -> &QueueInner {
        &self.owner.inner
    }

    /// The name given to the builder.
    pub fn name(&self) -> &str {
        &self.inner().name
    }

    /// The engine the queue belongs to.
    pub fn engine(&self) -> &Engine {
        &self.owner.engine
    }
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("name", &self.name()).finish_non_exhaustive()
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.inner.begin_destroy();
        let waiting = begin_wait(&Wait::Queue(&self.inner, None));
        if self.inner.is_current() || waiting.is_err() {
            // Waiting here would be waiting for the item that waits.
            self.engine.owner.shared.manager.adopt(Orphan(Arc::clone(&self.inner)));
            return;
        }
        self.inner.wait_quiet(None);
    }
}
