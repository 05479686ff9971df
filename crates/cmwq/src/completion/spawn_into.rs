//! Queues that deliver into a ring.

use super::{PostRefusal, Ring};
use crate::item::{JoinError, Work, discard, quietly};
use crate::queue::{Queue, Refusal, Refused};
use std::cell::Cell;
use std::fmt;
use std::panic::resume_unwind;

thread_local! {
    /// Set while a refused delivery is called for the closure inside it.
    static GIVES_BACK: Cell<bool> = const { Cell::new(false) };
}

/// A closure that was not spawned, given back.
pub struct SpawnIntoError<F> {
    /// The closure.
    pub closure: F,
    /// Why.
    pub reason: SpawnIntoReason,
}

/// Why a closure was not spawned into a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SpawnIntoReason {
    /// The queue refused it.
    Queue(Refusal),
    /// The ring has no room for its result, or is closed.
    Ring(PostRefusal),
}

impl<F> fmt::Debug for SpawnIntoError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpawnIntoError").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl<F> fmt::Display for SpawnIntoError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.reason {
            SpawnIntoReason::Queue(refusal) => refusal.fmt(f),
            SpawnIntoReason::Ring(refusal) => refusal.fmt(f),
        }
    }
}

impl<F> std::error::Error for SpawnIntoError<F> {}

impl Queue {
    /// Runs a closure once, and posts its result to the ring; a panic arrives as
    /// [`JoinError::Panicked`](crate::JoinError::Panicked).
    ///
    /// Results count: the receiver is woken when as many are there as it waits for. One that waits for more than are on
    /// their way needs a deadline.
    ///
    /// Room for the result is reserved now, so that a worker never finds the ring full. If the ring is closed before
    /// the closure ends, the result is dropped.
    ///
    /// # Context
    /// As for [`Queue::spawn`](crate::Queue::spawn).
    ///
    /// # Errors
    /// [`SpawnIntoError`], with the closure: the queue or the ring refused.
    #[track_caller]
    pub fn spawn_into<F, T>(
        &self,
        ring: &Ring<Result<T, JoinError>>,
        closure: F,
    ) -> Result<(), SpawnIntoError<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let place = match ring.reserve() {
            Ok(place) => place,
            Err(refusal) => return Err(SpawnIntoError { closure, reason: SpawnIntoReason::Ring(refusal) }),
        };
        let delivery = move || {
            if GIVES_BACK.get() {
                return Some(closure);
            }
            let result = quietly(closure);
            let has_panicked = result.is_err();
            if let Err(refused) = place.post_lazy(result.map_err(JoinError::Panicked)) {
                discard(refused.value);
            }
            if has_panicked {
                // The payload has gone to the receiver; the engine counts the panic.
                resume_unwind(Box::new("delivered to a completion ring"));
            }
            None
        };
        match self.try_spawn(delivery) {
            Ok(handle) => {
                drop(handle);
                Ok(())
            }
            Err(Refused { closure: delivery, refusal }) => {
                GIVES_BACK.set(true);
                let closure = delivery();
                GIVES_BACK.set(false);
                let closure = closure.expect("a refused delivery gives its closure back");
                Err(SpawnIntoError { closure, reason: SpawnIntoReason::Queue(refusal) })
            }
        }
    }
}

/// How a run of a work has ended, for its hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RunEnd {
    /// The function has returned.
    Returned,
    /// The function has panicked.
    Panicked,
}

impl Work {
    /// A work whose every run ends with a call of `hook`, on the worker, before the run counts as ended: a post to a
    /// ring, for example. A panic of the function is reported as always, after the hook.
    ///
    /// # Context
    /// As for [`Work::new`]. The hook is part of the run: it may submit the work again, and must not wait for it.
    #[track_caller]
    pub fn with_hook<F, H>(mut function: F, mut hook: H) -> Work
    where
        F: FnMut(&Work) + Send + 'static,
        H: FnMut(&Work, RunEnd) + Send + 'static,
    {
        Work::new(move |work| {
            let result = quietly(|| function(work));
            hook(work, if result.is_ok() { RunEnd::Returned } else { RunEnd::Panicked });
            if let Err(payload) = result {
                resume_unwind(payload);
            }
        })
    }
}
