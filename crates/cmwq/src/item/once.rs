//! One-shot items: a closure, its result, and the handle that waits for it.
//!
//! Two references: the queue's and the handle's. The worker completes the join word after the result is in its
//! place; from
//! then on the result belongs to the handle (or is dropped by the worker if the handle is gone).

use super::guard::{Payload, discard, quietly, wake};
use super::header::{Header, VTable};
use crate::queue::{Open, Refusal, spin_near};
use crate::worker::{Cycle, Runner, Wait, WaitPolicy, begin_wait, blocking, run_awaited};
use cmwq_core::work::WorkWord;
use cmwq_ring::{Futex, JoinCell, Polled};
use cmwq_sys::futex::LinuxFutex;
use std::cell::UnsafeCell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::panic::Location;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Why there is no result.
#[non_exhaustive]
pub enum JoinError {
    /// The closure panicked with this payload.
    Panicked(Box<dyn std::any::Any + Send + 'static>),
    /// The queue refused the closure, which never ran.
    Refused(Refusal),
    /// The caller is inside an item that has to go on before the closure can end. The closure is detached.
    WouldDeadlock(Cycle),
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Panicked(_) => f.write_str("Panicked(..)"),
            JoinError::Refused(refusal) => f.debug_tuple("Refused").field(refusal).finish(),
            JoinError::WouldDeadlock(cycle) => f.debug_tuple("WouldDeadlock").field(cycle).finish(),
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinError::Panicked(_) => f.write_str("the closure panicked"),
            JoinError::Refused(refusal) => write!(f, "the closure was not queued: {refusal}"),
            JoinError::WouldDeadlock(cycle) => write!(f, "the wait would never end: {cycle}"),
        }
    }
}

impl std::error::Error for JoinError {}

/// The part of a task that does not depend on the closure's type.
#[repr(C)]
struct Front<T> {
    header: Header,
    join: JoinCell,
    wait: WaitPolicy,
    /// Whose it is, the join word says.
    waker: UnsafeCell<Option<Waker>>,
    /// The worker's until DONE, then the handle's.
    result: UnsafeCell<Option<Result<T, Payload>>>,
    scope: UnsafeCell<Option<Arc<Open>>>,
}

#[repr(C)]
struct Inner<F, T> {
    front: Front<T>,
    /// The worker's.
    closure: UnsafeCell<MaybeUninit<F>>,
}

/// A new one-shot item, not yet submitted. An address rather than a box, since the queue gets it before the handle is
/// made. Ends as a handle or as its closure.
pub(crate) struct Task<F, T> {
    inner: NonNull<Inner<F, T>>,
}

impl<F: FnOnce() -> T + Send, T: Send> Task<F, T> {
    pub(crate) fn new(
        closure: F,
        scope: Option<Arc<Open>>,
        wait: WaitPolicy,
        place: &'static Location<'static>,
    ) -> Self {
        let vtable = const { &VTable { run: run::<F, T>, free: free::<F, T>, owned_by_caller: false } };
        let front = Front {
            header: Header::new(vtable, WorkWord::CLAIMED, 2, place),
            join: JoinCell::default(),
            wait,
            waker: UnsafeCell::new(None),
            result: UnsafeCell::new(None),
            scope: UnsafeCell::new(scope),
        };
        let inner = Inner { front, closure: UnsafeCell::new(MaybeUninit::new(closure)) };
        Task { inner: NonNull::from(Box::leak(Box::new(inner))) }
    }

    pub(crate) fn header(&self) -> NonNull<Header> {
        self.inner.cast()
    }

    /// After the submission: the handle.
    pub(crate) fn into_handle(self) -> JoinHandle<T> {
        JoinHandle { state: State::Task(self.inner.cast()), result: PhantomData }
    }

    /// After a refusal: the closure back. The scope, if any, is told by the caller.
    pub(crate) fn into_closure(self) -> F {
        // SAFETY: made by `new`; the queue that refused it has kept no address.
        let Inner { closure, .. } = *unsafe { Box::from_raw(self.inner.as_ptr()) };
        // SAFETY: never submitted, so never run.
        unsafe { closure.into_inner().assume_init() }
    }
}

/// # Safety
/// See [`VTable::run`]; the item is an `Inner<F, T>`.
unsafe fn run<F: FnOnce() -> T, T>(item: NonNull<Header>, runner: &Runner<'_>) {
    // SAFETY: W5: the queue's reference keeps it alive until the release below.
    let inner = unsafe { item.cast::<Inner<F, T>>().as_ref() };
    let front = &inner.front;
    // SAFETY: the item runs once, here.
    let closure = unsafe { &*inner.closure.get() };
    // SAFETY: written by `Task::new`, and not read again.
    let closure = unsafe { closure.assume_init_read() };
    let result = quietly(closure);
    // SAFETY: only the worker touches the scope after the submission.
    let scope = unsafe { (*front.scope.get()).take() };
    if result.is_err() {
        runner.tell_panic(front.header.place.get());
        if let Some(scope) = &scope {
            scope.panicked();
        }
    }
    // SAFETY: before DONE the place is the worker's.
    unsafe { *front.result.get() = Some(result) };
    let owed = front.join.complete();
    if owed.waker {
        // SAFETY: published with WAKER set when DONE was set: the place is the worker's.
        let waker = unsafe { (*front.waker.get()).take() };
        if let Some(waker) = waker {
            wake(waker);
        }
    }
    if owed.wake {
        LinuxFutex::wake_all(front.join.sleep_value().0);
    }
    if owed.detached {
        // SAFETY: the handle is gone: the result is the worker's to drop.
        discard(unsafe { (*front.result.get()).take() });
    }
    // SAFETY: the queue's reference.
    discard_release(item);
    if let Some(scope) = scope {
        scope.end();
    }
}

/// Gives back the worker's reference; what that drops must not unwind.
fn discard_release(item: NonNull<Header>) {
    if let Err(payload) = quietly(|| {
        // SAFETY: called once, by the run, with the queue's reference.
        unsafe { Header::release(item) }
    }) {
        discard(payload);
    }
}

/// # Safety
/// See [`VTable::free`]; the item is an `Inner<F, T>` whose closure has been run.
unsafe fn free<F, T>(item: NonNull<Header>) {
    // SAFETY: made by `Box::leak` in `Task::new`; nobody refers to it any more. The closure has been moved out.
    drop(unsafe { Box::from_raw(item.cast::<Inner<F, T>>().as_ptr()) });
}

/// Waits for the result of a closure given to [`Queue::spawn`](crate::Queue::spawn): by [`JoinHandle::join`], or as a
/// future. Dropping it detaches the closure, which runs all the same.
#[must_use = "dropping the handle detaches the closure"]
pub struct JoinHandle<T> {
    state: State<T>,
    result: PhantomData<T>,
}

enum State<T> {
    Task(NonNull<Front<T>>),
    Refused(Refusal),
    /// The result has been given out.
    Taken,
}

// SAFETY: the handle gives access to the result, which is sent, and to the join word; closures are not reachable by
// it.
unsafe impl<T: Send> Send for JoinHandle<T> {}
// SAFETY: a shared handle only asks whether the result is there.
unsafe impl<T: Send> Sync for JoinHandle<T> {}

impl<T> Unpin for JoinHandle<T> {}

impl<T> JoinHandle<T> {
    pub(crate) fn refused(refusal: Refusal) -> Self {
        JoinHandle { state: State::Refused(refusal), result: PhantomData }
    }

    fn front(&self) -> Option<&Front<T>> {
        match &self.state {
            // SAFETY: the handle's reference keeps it alive.
            State::Task(task) => Some(unsafe { task.as_ref() }),
            _ => None,
        }
    }

    /// Whether [`JoinHandle::join`] would return at once.
    pub fn is_finished(&self) -> bool {
        self.front().is_none_or(|front| front.join.is_done())
    }

    /// Waits for the result.
    ///
    /// # Context
    /// Blocks; needs the progress of the queue and of the worker that runs the closure: while that is stopped the call
    /// sleeps. Inside an item it counts as blocking, or runs the closure itself if the queue is built
    /// so ([`run_on_wait`](crate::QueueBuilder::run_on_wait)).
    ///
    /// # Errors
    /// [`JoinError`] when the closure panicked or was refused, or could not end before the calling item has.
    pub fn join(mut self) -> Result<T, JoinError> {
        if let Some(front) = self.front()
            && !front.run_here()
            && !spin_near(front.wait, front.header.near.get().is_here(), || front.join.is_done())
        {
            front.sleep().map_err(JoinError::WouldDeadlock)?;
        }
        self.take()
    }

    /// The result, which is there.
    fn take(&mut self) -> Result<T, JoinError> {
        match std::mem::replace(&mut self.state, State::Taken) {
            State::Task(task) => {
                // SAFETY: DONE has been seen: the result is the handle's.
                let front = unsafe { task.as_ref() };
                // SAFETY: as above.
                let result = unsafe { (*front.result.get()).take() };
                // SAFETY: the handle's reference, given up with the state.
                unsafe { Header::release(task.cast()) };
                result.expect("a finished task has a result").map_err(JoinError::Panicked)
            }
            State::Refused(refusal) => Err(JoinError::Refused(refusal)),
            State::Taken => panic!("a join handle was polled after it had given out its result"),
        }
    }
}

impl<T> Front<T> {
    /// Whether it is done, if need be because the caller has run it.
    fn run_here(&self) -> bool {
        let is_done = || self.join.is_done();
        is_done() || {
            run_awaited(NonNull::from(&self.header), &is_done);
            is_done()
        }
    }

    fn sleep(&self) -> Result<(), Cycle> {
        let is_done = || self.join.is_done();
        let _waiting = begin_wait(&Wait::Item(NonNull::from(&self.header), &is_done))?;
        while self.join.announce_waiter() == Polled::Pending {
            let (word, value) = self.join.sleep_value();
            if self.join.is_done() {
                break;
            }
            blocking(|| LinuxFutex::wait(word, value, None));
        }
        Ok(())
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    /// # Panics
    /// When polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(front) = self.front() else { return Poll::Ready(self.take()) };
        if front.join.is_done() {
            return Poll::Ready(self.take());
        }
        if front.join.has_waker() {
            if front.join.retract_waker() == Polled::Ready {
                return Poll::Ready(self.take());
            }
            // SAFETY: retracted: the place is the handle's.
            let same = unsafe { (*front.waker.get()).as_ref() }.is_some_and(|w| w.will_wake(context.waker()));
            if !same {
                // SAFETY: as above.
                drop(unsafe { (*front.waker.get()).replace(context.waker().clone()) });
            }
        } else {
            let waker = context.waker().clone();
            // SAFETY: WAKER is clear: the place is the handle's.
            drop(unsafe { (*front.waker.get()).replace(waker) });
        }
        match front.join.publish_waker() {
            Polled::Pending => Poll::Pending,
            Polled::Ready => Poll::Ready(self.take()),
        }
    }
}

impl<T> Drop for JoinHandle<T> {
    fn drop(&mut self) {
        let State::Task(task) = self.state else { return };
        // SAFETY: the handle's reference keeps it alive.
        let front = unsafe { task.as_ref() };
        let result = match front.join.detach() {
            // SAFETY: DONE and not detached before: the result is the handle's to drop.
            Polled::Ready => unsafe { (*front.result.get()).take() },
            Polled::Pending => None,
        };
        // SAFETY: the handle's reference, not used afterwards.
        unsafe { Header::release(task.cast()) };
        drop(result);
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("finished", &self.is_finished()).finish()
    }
}
