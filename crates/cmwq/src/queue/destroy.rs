//! The end of a queue.

use super::Queue;
use super::flush::WaitError;
use super::inner::QueueInner;
use crate::worker::{Wait, begin_wait, clock};
use cmwq_core::queue::QueueWord;
use cmwq_core::time::Span;
use std::fmt;
use std::panic::Location;
use std::time::Duration;

/// What still ran when the deadline of [`Queue::destroy_within`] passed.
#[derive(Debug)]
#[non_exhaustive]
pub struct StillRunning {
    /// The queue, which accepts only what its own items submit. Give it more time, or drop it and wait.
    pub queue: Queue,
    /// Where the items were submitted that run now; queued ones are not listed.
    pub running: Vec<&'static Location<'static>>,
    /// The caller is inside an item of the queue, so that no time would suffice.
    pub by_itself: bool,
}

impl fmt::Display for StillRunning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.by_itself {
            return write!(
                f,
                "queue {:?} cannot be destroyed from inside one of its own items",
                self.queue.name()
            );
        }
        write!(f, "queue {:?} has not come to rest", self.queue.name())?;
        for place in &self.running {
            write!(f, "; an item submitted at {place} runs")?;
        }
        Ok(())
    }
}

impl std::error::Error for StillRunning {}

impl Queue {
    /// Destroys the queue, for all its handles: refuses new items (but those its own items submit, except an item
    /// that
    /// queues itself again), and waits until everything has run.
    ///
    /// # Context
    /// Blocks until the items have ended; while a thread that runs one, or is inside a submission, is stopped, the call
    /// sleeps. Items that queue each other in a circle never do: see
    /// [`Queue::destroy_within`].
    ///
    /// # Errors
    /// [`WaitError::WouldDeadlock`] from inside an item of this queue, or one that an item of it waits for; the queue
    /// is destroyed, without waiting.
    pub fn destroy(self) -> Result<(), WaitError> {
        let inner = self.inner();
        inner.begin_destroy();
        inner.refuse_own()?;
        let _waiting = begin_wait(&Wait::Queue(inner, None)).map_err(WaitError::WouldDeadlock)?;
        inner.wait_quiet(None);
        Ok(())
    }

    /// Like [`Queue::destroy`], but gives up waiting after a time and tells what still runs.
    ///
    /// # Context
    /// Blocks, for little more than `timeout` whoever is stopped; to end earlier it needs what [`Queue::destroy`]
    /// needs.
    ///
    /// # Errors
    /// [`StillRunning`] when the time has passed. The queue comes back in it and goes on refusing.
    // The error carries the queue and the places: it is the point of this call.
    pub fn destroy_within(self, timeout: Duration) -> Result<(), Box<StillRunning>> {
        let deadline = clock::now() + Span::from(timeout);
        self.inner().begin_destroy();
        let by_itself = self.inner().is_current();
        if !by_itself && self.inner().wait_quiet(Some(deadline)) {
            return Ok(());
        }
        let running = self.inner().running();
        Err(Box::new(StillRunning { queue: self, running, by_itself }))
    }
}

impl QueueInner {
    pub(crate) fn begin_destroy(&self) {
        self.word.update(QueueWord::destroy);
        self.drop_delayed();
    }

    /// Where the items were submitted that run now.
    fn running(&self) -> Vec<&'static Location<'static>> {
        let mut places = Vec::new();
        for joint in &self.joints {
            let current = joint.pool.cells().filter_map(|(_, cell)| cell.stats.current());
            places.extend(current.filter(|(queue, _)| *queue == self.id).map(|(_, place)| place));
        }
        places
    }
}
