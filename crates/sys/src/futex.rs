//! Futexes.

use cmwq_ring::Futex;
use cmwq_ring::sync::AtomicU32;
use core::time::Duration;
use rustix::io::Errno;
use rustix::thread::futex;

/// Process-private Linux futexes.
#[derive(Clone, Copy, Debug, Default)]
pub struct LinuxFutex;

fn timespec(d: Duration) -> futex::Timespec {
    futex::Timespec { tv_sec: d.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: d.subsec_nanos().into() }
}

impl Futex for LinuxFutex {
    fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
        // Every outcome (woken, value changed, interrupted, timed out) sends the caller back to its own condition.
        let _ = futex::wait(word, futex::Flags::PRIVATE, expected, timeout.map(timespec).as_ref());
    }

    fn wake_one(word: &AtomicU32) {
        let _ = futex::wake(word, futex::Flags::PRIVATE, 1);
    }

    fn wake_all(word: &AtomicU32) {
        let _ = futex::wake(word, futex::Flags::PRIVATE, i32::MAX as u32);
    }

    fn thread_number() -> u32 {
        crate::thread::number()
    }

    fn lock_inheriting(word: &AtomicU32) -> bool {
        loop {
            match futex::lock_pi(word, futex::Flags::PRIVATE, None) {
                Ok(()) => return true,
                // The holder's thread is about to end, or a signal came.
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }

    fn unlock_inheriting(word: &AtomicU32) -> bool {
        futex::unlock_pi(word, futex::Flags::PRIVATE).is_ok()
    }
}

/// Sleeps while the 32-bit half of a wider atomic at `address` has the value `expected`, at most `timeout`. Blocks.
///
/// # Safety
/// `address` is aligned, and readable for as long as the call lasts.
pub unsafe fn wait_at(address: *const AtomicU32, expected: u32, timeout: Option<Duration>) {
    // SAFETY: the caller vouches for the address; the reference is only passed on to the kernel.
    let word = unsafe { &*address };
    LinuxFutex::wait(word, expected, timeout);
}

/// Wakes every thread that sleeps in [`wait_at`] on this address. Never blocks. The address is not read.
#[allow(
    clippy::not_unsafe_ptr_arg_deref,
    reason = "the kernel uses the address as a key and does not read it"
)]
pub fn wake_all_at(address: *const AtomicU32) {
    // Private futexes are told apart by address alone; memory that has been freed meanwhile has no sleepers of
    // ours, and
    // a stranger's sleeper is only woken for no reason.
    // SAFETY: FUTEX_WAKE does not access the word.
    unsafe {
        libc::syscall(libc::SYS_futex, address, libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, i32::MAX);
    }
}
