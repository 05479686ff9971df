//! The pool lock: a futex lock with a short spin.
//!
//! Our own, so that sanitizers see it, and so that a priority-inheriting variant can take its place. No system call
//! and
//! no user code runs while it is held.

use crate::Futex;
use crate::sync::{AtomicU32, Ordering, spin_hint};
use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and somebody may sleep.
const CONTENDED: u32 = 2;
const SPINS: u32 = if cfg!(any(cmwq_loom, cmwq_shuttle)) { 1 } else { 100 };

/// A lock around a value.
#[derive(Debug)]
pub struct Lock<T, F> {
    state: AtomicU32,
    value: UnsafeCell<T>,
    futex: PhantomData<fn() -> F>,
}

// SAFETY: L1 one holder: the lock gives out the value to one thread at a time.
unsafe impl<T: Send, F> Sync for Lock<T, F> {}
// SAFETY: L1 one holder: moving the lock moves the value.
unsafe impl<T: Send, F> Send for Lock<T, F> {}

/// The right to use the value until dropped.
#[derive(Debug)]
pub struct LockGuard<'a, T, F: Futex> {
    lock: &'a Lock<T, F>,
    /// Not `Send`: the thread that locks unlocks.
    _thread: PhantomData<*const ()>,
}

impl<T, F: Futex> Lock<T, F> {
    /// A free lock.
    pub fn new(value: T) -> Self {
        Lock { state: AtomicU32::new(FREE), value: UnsafeCell::new(value), futex: PhantomData }
    }

    /// Waits for the lock: spins briefly, then sleeps. Not reentrant.
    pub fn lock(&self) -> LockGuard<'_, T, F> {
        if !self.try_acquire() {
            self.lock_slow();
        }
        LockGuard { lock: self, _thread: PhantomData }
    }

    fn try_acquire(&self) -> bool {
        // Ordering: acquire pairs with the release of `unlock`: the holder sees what earlier holders wrote.
        self.state.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn lock_slow(&self) {
        for _ in 0..SPINS {
            // Ordering: relaxed: only a hint when to try.
            if self.state.load(Ordering::Relaxed) == FREE && self.try_acquire() {
                return;
            }
            spin_hint();
        }
        // Ordering: acquire, as in `try_acquire`.
        while self.state.swap(CONTENDED, Ordering::Acquire) != FREE {
            F::wait(&self.state, CONTENDED, None);
        }
    }
}

impl<T, F: Futex> Drop for LockGuard<'_, T, F> {
    fn drop(&mut self) {
        // Ordering: release publishes the holder's writes to the next acquire.
        if self.lock.state.swap(FREE, Ordering::Release) == CONTENDED {
            F::wake_one(&self.lock.state);
        }
    }
}

impl<T, F: Futex> Deref for LockGuard<'_, T, F> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: L1 one holder: the guard exists only while this thread holds the lock.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T, F: Futex> DerefMut for LockGuard<'_, T, F> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: L1 one holder, and the guard is borrowed exclusively.
        unsafe { &mut *self.lock.value.get() }
    }
}
