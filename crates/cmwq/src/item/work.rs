//! Works: items that can be queued again and again.

use super::cancel::Arming;
use super::guard::{Payload, discard, quietly};
use super::header::{Header, VTable};
use crate::engine::EngineEvent;
use crate::queue::{WaitError, spin_here};
use crate::worker::{Cycle, Runner, Wait, WaitPolicy, begin_wait, blocking, run_awaited};
use cmwq_core::work::{FlushTarget, WorkWord};
use cmwq_ring::Lock;
use cmwq_sys::futex::{LinuxFutex, wait_at};
use std::cell::UnsafeCell;
use std::fmt;
use std::panic::Location;
use std::ptr::NonNull;
use std::task::Waker;

/// A function that can be queued again and again: the kernel's work item.
///
/// A handle; cloning it gives another handle of the same work. Between its being queued and its start it is
/// *pending*, and
/// queueing it again does nothing; from its start on it can be queued again, also from inside its own function, and
/// then
/// runs once more after the present run: never twice at once, whatever queues it is submitted to. Handles may be
/// dropped at any time, also inside the function: what has been queued runs.
///
/// Submitting allocates nothing.
pub struct Work {
    header: NonNull<Header>,
}

#[repr(C)]
struct Inner<F> {
    header: Header,
    /// What the last panicking run carried, until a flush takes it.
    panic: Lock<Option<Payload>, LinuxFutex>,
    wait: WaitPolicy,
    /// Who is to be told, besides the sleepers, when an instance ends. Locked for a few instructions.
    wakers: Lock<Vec<Waker>, LinuxFutex>,
    /// Its timer; out of date unless the item is delayed. The lock comes before that of the timers.
    arming: Lock<Option<Arming>, LinuxFutex>,
    created: &'static Location<'static>,
    /// Touched by the one run at a time.
    function: UnsafeCell<F>,
}

// SAFETY: the function is `Send` (see `Work::new`) and is called by one worker at a time (the word's RUNNING), with
// the end
// of one run ordered before the start of the next; everything else is Sync by its own protocol.
unsafe impl Send for Work {}
// SAFETY: as above: a shared handle gives no access to the function.
unsafe impl Sync for Work {}

impl Work {
    /// A work with this function. The function receives its own work, to queue it again or to hand it on.
    ///
    /// # Context
    /// Allocates once; never blocks.
    #[track_caller]
    pub fn new<F>(function: F) -> Work
    where
        F: FnMut(&Work) + Send + 'static,
    {
        let created = Location::caller();
        let inner = Box::new(Inner {
            header: Header::new(const { &VTable::of_work::<F>() }, WorkWord::IDLE, 1, created),
            panic: Lock::new(None),
            wait: WaitPolicy::default(),
            wakers: Lock::new(Vec::new()),
            arming: Lock::new(None),
            created,
            function: UnsafeCell::new(function),
        });
        Work { header: NonNull::from(Box::leak(inner)).cast() }
    }

    pub(crate) fn header(&self) -> NonNull<Header> {
        self.header
    }

    pub(super) fn head(&self) -> &Header {
        // SAFETY: W5: this handle's reference keeps it alive.
        unsafe { self.header.as_ref() }
    }

    pub(crate) fn arming(&self) -> &Lock<Option<Arming>, LinuxFutex> {
        &self.shared().arming
    }

    pub(super) fn wakers(&self) -> &Lock<Vec<Waker>, LinuxFutex> {
        &self.shared().wakers
    }

    /// Keeps a reference alive that is an item's pending instance's.
    pub(super) fn into_pending(self) {
        std::mem::forget(self);
    }

    /// A handle from the pending instance's reference.
    ///
    /// # Safety
    /// W1 one claimer: the instance is the caller's, who gives away its reference.
    pub(crate) unsafe fn from_pending(item: NonNull<Header>) -> Work {
        Work { header: item }
    }

    /// The part that does not depend on the function's type.
    fn shared(&self) -> &Inner<()> {
        // SAFETY: `repr(C)`, and the fields before the function are the same for every type; the function is not
        // touched.
        unsafe { self.header.cast::<Inner<()>>().as_ref() }
    }

    /// Whether it is queued and has not started. Out of date when it returns.
    pub fn is_pending(&self) -> bool {
        self.head().word.read().is_pending()
    }

    /// Whether it runs. Out of date when it returns.
    pub fn is_running(&self) -> bool {
        self.head().word.read().is_running()
    }

    /// Where it was made.
    pub fn created_at(&self) -> &'static Location<'static> {
        self.shared().created
    }

    /// Waits until the instance that is pending now has ended; if none is, the one that runs. Later instances are
    /// not waited
    /// for. A delayed one is queued now. `false`: it was neither pending nor running.
    ///
    /// # Context
    /// Blocks; needs the progress of the queue the work was submitted to, of the worker that runs it, and of a thread
    /// that is just queueing it: while one of these is stopped the call sleeps. Counts as blocking inside an item,
    /// or runs the instance itself if the queue is built so ([`run_on_wait`](crate::QueueBuilder::run_on_wait)).
    ///
    /// # Errors
    /// [`FlushError::WouldDeadlock`] inside the work's own function, and inside an item that has to go on before
    /// the work can end. [`FlushError::Panicked`] when a run has panicked and no flush has reported it yet. A payload
    /// is given out once: of several flushes, also if all of them waited for the run that panicked, the first to return
    /// takes it, and the others answer as if the run had returned. It is kept until then, through runs that return, for
    /// a flush that finds the work idle too; the payload of a later panic replaces it. (Who must learn of every panic
    /// uses [`Work::with_hook`](crate::Work::with_hook).)
    pub fn flush(&self) -> Result<bool, FlushError> {
        self.refuse_own()?;
        let waited = match self.head().word.flush_target() {
            FlushTarget::Idle => false,
            FlushTarget::Until(target) => {
                self.queue_now();
                self.wait_until(target).map_err(FlushError::WouldDeadlock)?;
                true
            }
        };
        let payload = self.shared().panic.lock().take();
        match payload {
            Some(payload) => Err(FlushError::Panicked(payload)),
            None => Ok(waited),
        }
    }

    pub(super) fn wait_until(&self, target: u32) -> Result<(), Cycle> {
        let word = &self.head().word;
        let has_ended = || word.read().has_ended(target);
        run_awaited(self.header, &has_ended);
        if spin_here(self.shared().wait, has_ended) {
            return Ok(());
        }
        let _waiting = begin_wait(&Wait::Item(self.header, &has_ended))?;
        while let Some(ended) = word.announce_waiter(target) {
            // SAFETY: half of a word of this work, which this handle keeps alive.
            blocking(|| unsafe { wait_at(word.futex_address(), ended, None) });
        }
        Ok(())
    }
}

/// Why a flush of a work reports no plain answer.
pub enum FlushError {
    /// The caller is inside the work's own function, or inside an item that the work waits for.
    WouldDeadlock(Cycle),
    /// A run panicked with this payload.
    Panicked(Box<dyn std::any::Any + Send + 'static>),
}

impl fmt::Debug for FlushError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlushError::WouldDeadlock(cycle) => f.debug_tuple("WouldDeadlock").field(cycle).finish(),
            FlushError::Panicked(_) => f.write_str("Panicked(..)"),
        }
    }
}

impl fmt::Display for FlushError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FlushError::WouldDeadlock(cycle) => write!(f, "the wait would never end: {cycle}"),
            FlushError::Panicked(_) => f.write_str("a run of the work panicked"),
        }
    }
}

impl std::error::Error for FlushError {}

impl From<WaitError> for FlushError {
    fn from(WaitError::WouldDeadlock(cycle): WaitError) -> Self {
        FlushError::WouldDeadlock(cycle)
    }
}

impl Clone for Work {
    fn clone(&self) -> Work {
        self.head().retain();
        Work { header: self.header }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // SAFETY: this handle's reference, which is not used afterwards.
        unsafe { Header::release(self.header) };
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.head().word.read();
        f.debug_struct("Work")
            .field("created_at", &format_args!("{}", self.created_at()))
            .field("pending", &word.is_pending())
            .field("running", &word.is_running())
            .finish()
    }
}

impl VTable {
    const fn of_work<F: FnMut(&Work) + Send + 'static>() -> VTable {
        VTable { run: run::<F>, free: free::<F>, owned_by_caller: false }
    }
}

/// # Safety
/// See [`VTable::run`]; the item is an `Inner<F>`.
unsafe fn run<F: FnMut(&Work) + Send + 'static>(item: NonNull<Header>, runner: &Runner<'_>) {
    // SAFETY: W5: the pending instance's reference, which becomes this handle's: dropped at the end, perhaps
    // freeing the item.
    let work = Work { header: item };
    let head = work.head();
    // W1 one claimer: once PENDING is given up the next submission may write these.
    let place = head.place.get();
    head.ran_at.set(head.pwq.get());
    head.word.start();
    // SAFETY: the item is an `Inner<F>`.
    let inner = unsafe { item.cast::<Inner<F>>().as_ref() };
    // SAFETY: RUNNING is ours: no other run touches the function.
    let function = unsafe { &mut *inner.function.get() };
    if let Err(payload) = quietly(|| function(&work)) {
        runner.tell_panic(place);
        let older = inner.panic.lock().replace(payload);
        discard(older);
    }
    let ended = head.word.finish();
    if ended.push {
        // A submission has claimed the next instance, addressed it and left the push to us, with its own reference.
        let pwq = head.pwq.get().expect("a handed-over item names its pwq (W1)");
        // SAFETY: pwqs live as long as their pool, which lives at least until the item has run.
        let pwq = unsafe { pwq.as_ref() };
        let pool = pwq.pool();
        // The pool may be another engine's, which may end as soon as the item has run: before the push returns.
        let foreign = !std::ptr::eq(pool, runner.pool);
        let _alive = foreign.then(|| pool.this.upgrade());
        // SAFETY: the instance, its fields and its reference are ours to push.
        unsafe { pwq.submit(item) };
    }
    work.tell(ended);
    // Dropping the handle may drop the function.
    discard(work);
}

/// # Safety
/// See [`VTable::free`]; the item is an `Inner<F>` made by `Work::new`.
unsafe fn free<F>(item: NonNull<Header>) {
    // SAFETY: made by `Box::leak` in `Work::new`, and nobody refers to it any more.
    let inner = unsafe { Box::from_raw(item.cast::<Inner<F>>().as_ptr()) };
    drop(inner);
}

impl Runner<'_> {
    /// Counts a panic and tells the engine's callback.
    pub(super) fn tell_panic(&self, place: &'static Location<'static>) {
        let Some(engine) = self.pool.engine.upgrade() else { return };
        engine.panics.add(1);
        let queue = crate::worker::current_queue().and_then(|id| engine.queue_name(id));
        let queue = queue.map(|name| name.to_string());
        engine.tell(&EngineEvent::ItemPanicked { queue, place: place.to_string() });
    }
}
