//! The one place where user code is kept from unwinding into ours.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

/// What a panic carries.
pub(crate) type Payload = Box<dyn Any + Send + 'static>;

/// Runs user code (a function, a drop, a waker); answers the payload if it panicked.
pub(crate) fn quietly<T>(body: impl FnOnce() -> T) -> Result<T, Payload> {
    catch_unwind(AssertUnwindSafe(body))
}

/// Wakes a task. A waker that panics must not take a worker with it.
pub(crate) fn wake(waker: Waker) {
    if let Err(payload) = quietly(|| waker.wake()) {
        discard(payload);
    }
}

/// Drops a value whose drop may panic, and the payload of that panic, whose drop may panic too.
pub(crate) fn discard<T>(value: T) {
    if let Err(payload) = quietly(move || drop(value)) {
        // A payload that panics when dropped could go on for ever: the next one is leaked.
        if let Err(next) = quietly(move || drop(payload)) {
            std::mem::forget(next);
        }
    }
}
