//! The pool lock: a futex lock with a short spin; or, for pools in real time, one that inherits priority.
//!
//! Our own, so that sanitizers see it, and so that one type serves both. No user code runs while it is held, and no
//! system call but a real-time pool's wake-ups.

use crate::Futex;
use crate::sync::{AtomicU32, Ordering, spin_hint};
use core::cell::UnsafeCell;
use core::marker::PhantomData;
use core::ops::{Deref, DerefMut};
use core::time::Duration;

const FREE: u32 = 0;
const HELD: u32 = 1;
/// Held, and somebody may sleep.
const CONTENDED: u32 = 2;
/// How long a thread waits before it tries again where priority cannot be lent.
const REFUSED_RETRY: Duration = Duration::from_micros(50);
const SPINS: u32 = if cfg!(any(cmwq_loom, cmwq_shuttle)) { 1 } else { 100 };

/// A lock around a value.
#[derive(Debug)]
pub struct Lock<T, F> {
    /// One of the above; if it inherits priority, the holder's number as the system asks for it, or 0.
    state: AtomicU32,
    /// Whether the holder has the priority of those who wait.
    inherits: bool,
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
        Lock::of(false, value)
    }

    /// A free lock whose holder runs with the priority of those who wait for it (`L2 lent priority`): who is stopped
    /// while it holds the lock goes on when somebody needs it. The system does so for real-time priorities; nice levels
    /// are not lent. Nobody spins for it.
    pub fn inheriting(value: T) -> Self {
        Lock::of(true, value)
    }

    fn of(inherits: bool, value: T) -> Self {
        Lock { state: AtomicU32::new(FREE), inherits, value: UnsafeCell::new(value), futex: PhantomData }
    }

    /// Waits for the lock: spins briefly, then sleeps. Not reentrant.
    pub fn lock(&self) -> LockGuard<'_, T, F> {
        let holder = if self.inherits { F::thread_number() } else { HELD };
        if !self.try_acquire(holder) {
            self.lock_slow();
        }
        LockGuard { lock: self, _thread: PhantomData }
    }

    fn try_acquire(&self, holder: u32) -> bool {
        // Ordering: acquire pairs with the release of `unlock`: the holder sees what earlier holders wrote.
        self.state.compare_exchange(FREE, holder, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn lock_slow(&self) {
        if self.inherits {
            return self.lock_inheriting();
        }
        for _ in 0..SPINS {
            // Ordering: relaxed: only a hint when to try.
            if self.state.load(Ordering::Relaxed) == FREE && self.try_acquire(HELD) {
                return;
            }
            spin_hint();
        }
        // Ordering: acquire, as in `try_acquire`.
        while self.state.swap(CONTENDED, Ordering::Acquire) != FREE {
            F::wait(&self.state, CONTENDED, None);
        }
    }

    fn lock_inheriting(&self) {
        while !F::lock_inheriting(&self.state) {
            // Out of memory, or a system without such futexes: the word excludes all the same, and nothing is lent.
            // Ordering: relaxed: only to sleep for a while.
            F::wait(&self.state, self.state.load(Ordering::Relaxed), Some(REFUSED_RETRY));
            if self.try_acquire(F::thread_number()) {
                return;
            }
        }
    }

    fn unlock_inheriting(&self) {
        let holder = F::thread_number();
        // Ordering: release, as in the guard's drop. The system has marked a word for which somebody waits.
        let free = self.state.compare_exchange(holder, FREE, Ordering::Release, Ordering::Relaxed).is_ok();
        if !free && !F::unlock_inheriting(&self.state) {
            // Ordering: release, as above.
            self.state.swap(FREE, Ordering::Release);
        }
    }
}

impl<T, F: Futex> Drop for LockGuard<'_, T, F> {
    fn drop(&mut self) {
        if self.lock.inherits {
            return self.lock.unlock_inheriting();
        }
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
