//! Items that borrow from the caller's stack.

use super::Queue;
use super::spawn::Refused;
use crate::item::{JoinError, JoinHandle};
use crate::worker::blocking;
use cmwq_ring::Futex;
use cmwq_ring::sync::{AtomicU32, Ordering};
use cmwq_sys::futex::LinuxFutex;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::sync::Arc;

/// How many items of a scope have not ended, and how many panicked unjoined.
#[derive(Debug)]
pub(crate) struct Open {
    left: AtomicU32,
    panicked: AtomicU32,
}

impl Open {
    /// An item of the scope has panicked. Before its result can be joined.
    pub(crate) fn panicked(&self) {
        // Ordering: relaxed: published by the item's end, or by the join that takes it back.
        self.panicked.fetch_add(1, Ordering::Relaxed);
    }

    /// An item of the scope has ended, with everything it owned dropped.
    pub(crate) fn end(&self) {
        // Ordering: release publishes the item's work; the waiter acquires.
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            LinuxFutex::wake_all(&self.left);
        }
    }

    fn wait(&self, policy: crate::WaitPolicy) {
        // Ordering: acquire pairs with `end`.
        if super::flush::spin_here(policy, || self.left.load(Ordering::Acquire) == 0) {
            return;
        }
        loop {
            // Ordering: acquire pairs with `end`.
            let left = self.left.load(Ordering::Acquire);
            if left == 0 {
                return;
            }
            blocking(|| LinuxFutex::wait(&self.left, left, None));
        }
    }
}

/// Where items may be spawned that borrow for `'env`; see [`Queue::scope`].
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    queue: &'scope Queue,
    open: Arc<Open>,
    /// Invariant in both lifetimes, as in [`std::thread::Scope`].
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// The handle of an item of a scope.
#[derive(Debug)]
pub struct ScopedJoinHandle<'scope, T> {
    handle: JoinHandle<T>,
    open: Arc<Open>,
    scope: PhantomData<&'scope ()>,
}

impl<T> ScopedJoinHandle<'_, T> {
    /// Waits for the result.
    ///
    /// # Context
    /// As for [`JoinHandle::join`].
    ///
    /// # Errors
    /// As for [`JoinHandle::join`].
    pub fn join(self) -> Result<T, JoinError> {
        let result = self.handle.join();
        if matches!(result, Err(JoinError::Panicked(_))) {
            // Ordering: relaxed: the panic was counted before the result could be joined.
            self.open.panicked.fetch_sub(1, Ordering::Relaxed);
        }
        result
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Runs a closure once; it has ended before [`Queue::scope`] returns. A refusing queue reports through the
    /// handle.
    ///
    /// # Context
    /// Never blocks; allocates once.
    #[track_caller]
    pub fn spawn<F, T>(&'scope self, closure: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        // Ordering: relaxed: the scope's own thread, or an item of the scope that has not ended, adds.
        let before = self.open.left.fetch_add(1, Ordering::Relaxed);
        assert!(before < u32::MAX, "too many items in one scope");
        let open = Some(Arc::clone(&self.open));
        // SAFETY: `Queue::scope` does not return before the item has ended; a result in an unjoined handle is dropped
        // with the handle, which `'scope` confines.
        let handle = match unsafe { self.queue.spawn_unchecked(closure, open, Location::caller()) } {
            Ok(handle) => handle,
            Err(Refused { closure, refusal }) => {
                crate::item::discard(closure);
                self.open.end();
                JoinHandle::refused(refusal)
            }
        };
        ScopedJoinHandle { handle, open: Arc::clone(&self.open), scope: PhantomData }
    }
}

impl Queue {
    /// Calls `body` with a scope in which items may borrow what outlives the call, and waits for all of them.
    ///
    /// ```
    /// # let engine = cmwq::Engine::new()?;
    /// let queue = engine.queue("sums").build()?;
    /// let numbers = [1, 2, 3, 4];
    /// let (left, right) = numbers.split_at(2);
    /// let sum = queue.scope(|scope| {
    ///     let left = scope.spawn(|| left.iter().sum::<i32>());
    ///     right.iter().sum::<i32>() + left.join().unwrap()
    /// });
    /// assert_eq!(sum, 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Context
    /// Blocks until the items have ended, for they borrow: also where they wait for the calling item, which nobody is
    /// told then. Needs the progress of the queue and of the workers that run the items: while one of these is stopped
    /// the call sleeps. Counts as blocking inside an item. Inside an item of this very queue the items of the scope
    /// need `max_active` to leave room for them.
    ///
    /// # Panics
    /// When `body` panics, after the items have ended; or when an item panicked and its handle was not joined.
    pub fn scope<'env, T>(&self, body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T) -> T {
        let open = Arc::new(Open { left: AtomicU32::new(0), panicked: AtomicU32::new(0) });
        let scope = Scope { queue: self, open: Arc::clone(&open), scope: PhantomData, env: PhantomData };
        let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
        open.wait(self.engine().owner.shared.setup.wait);
        match result {
            Err(payload) => resume_unwind(payload),
            // Ordering: relaxed: `wait` has acquired the items' ends.
            Ok(_) if open.panicked.load(Ordering::Relaxed) != 0 => panic!("an item of the scope panicked"),
            Ok(value) => value,
        }
    }
}
