//! One-shot items.

use super::Queue;
use super::submit::Refusal;
use crate::item::{JoinHandle, Task};
use std::fmt;
use std::panic::Location;

/// A closure that a queue refused, given back.
pub struct Refused<F> {
    /// The closure.
    pub closure: F,
    /// Why.
    pub refusal: Refusal,
}

impl<F> fmt::Debug for Refused<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refused").field("refusal", &self.refusal).finish_non_exhaustive()
    }
}

impl<F> fmt::Display for Refused<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal.fmt(f)
    }
}

impl<F> std::error::Error for Refused<F> {}

impl Queue {
    /// Runs a closure once. The handle waits for its result, blocking or as a future; dropping the handle detaches
    /// it.
    ///
    /// A queue that is drained or destroyed refuses: then the closure is dropped and joining reports
    /// [`JoinError::Refused`](crate::JoinError::Refused). Where a lost closure matters and nobody joins, use
    /// [`Queue::try_spawn`].
    ///
    /// # Context
    /// From any thread, also from inside items. Never blocks; allocates once.
    #[track_caller]
    pub fn spawn<F, T>(&self, closure: F) -> JoinHandle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        match self.spawn_at(closure, Location::caller()) {
            Ok(handle) => handle,
            Err(Refused { closure, refusal }) => {
                crate::item::discard(closure);
                JoinHandle::refused(refusal)
            }
        }
    }

    /// Like [`Queue::spawn`], but a refusal gives the closure back.
    ///
    /// # Context
    /// As for [`Queue::spawn`].
    ///
    /// # Errors
    /// [`Refused`], with the closure.
    #[track_caller]
    pub fn try_spawn<F, T>(&self, closure: F) -> Result<JoinHandle<T>, Refused<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.spawn_at(closure, Location::caller())
    }

    pub(super) fn spawn_at<F, T>(
        &self,
        closure: F,
        place: &'static Location<'static>,
    ) -> Result<JoinHandle<T>, Refused<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: closure and result are `'static`.
        unsafe { self.spawn_unchecked(closure, None, place) }
    }

    /// # Safety
    /// What the closure and the result borrow outlives the item: its run, and the drop of its result.
    pub(super) unsafe fn spawn_unchecked<F, T>(
        &self,
        closure: F,
        scope: Option<std::sync::Arc<super::scope::Open>>,
        place: &'static Location<'static>,
    ) -> Result<JoinHandle<T>, Refused<F>>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        let wait = self.engine().owner.shared.setup.wait;
        let task = Task::new(closure, scope, wait, place);
        let inner = self.inner();
        // SAFETY: the task is new; one of its two references goes with it, unless refused.
        match unsafe { inner.submit_new(inner.here(), task.header(), place) } {
            Ok(()) => Ok(task.into_handle()),
            Err(refusal) => Err(Refused { closure: task.into_closure(), refusal }),
        }
    }
}
