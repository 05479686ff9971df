//! Futexes of the model.
//!
//! As in the kernel a wait compares and goes to sleep in one step with regard to wakes: shuttle lets another thread run
//! before an operation on a word, and not between it and the sleep.

use super::sleepers::{sleep_on, wake};
use cmwq_ring::Futex;
use cmwq_ring::sync::{AtomicU32, AtomicU64, Ordering};
use core::time::Duration;

/// Futexes of the model, under the name that the runtime uses.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinuxFutex;

impl Futex for LinuxFutex {
    fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
        // Ordering: the model has no weaker one than the strongest.
        if word.load(Ordering::Relaxed) == expected {
            sleep_on(core::ptr::from_ref(word).addr(), timeout);
        }
    }

    fn wake_one(word: &AtomicU32) {
        super::thread::yield_here();
        wake(core::ptr::from_ref(word).addr(), 1);
    }

    fn wake_all(word: &AtomicU32) {
        super::thread::yield_here();
        wake(core::ptr::from_ref(word).addr(), usize::MAX);
    }

    fn thread_number() -> u32 {
        usize::from(shuttle::thread::current().id()) as u32 + 1
    }

    /// Threads of the model have no priorities to lend.
    fn lock_inheriting(_word: &AtomicU32) -> bool {
        false
    }

    fn unlock_inheriting(_word: &AtomicU32) -> bool {
        false
    }
}

/// Sleeps while the upper half of the word at `address` has the value `expected`, at most `timeout`. Blocks.
///
/// # Safety
/// `address` is valid for as long as the call lasts.
pub unsafe fn wait_at(address: *const AtomicU64, expected: u32, timeout: Option<Duration>) {
    // SAFETY: the caller vouches for the address.
    let word = unsafe { &*address };
    // Ordering: as above.
    if (word.load(Ordering::Relaxed) >> 32) as u32 == expected {
        sleep_on(address.addr(), timeout);
    }
}

/// Wakes every thread that sleeps in [`wait_at`] on this address. Never blocks. The address is not read.
pub fn wake_all_at(address: *const AtomicU64) {
    super::thread::yield_here();
    wake(address.addr(), usize::MAX);
}
