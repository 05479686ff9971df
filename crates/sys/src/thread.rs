//! Creating the engine's threads.

use std::cell::Cell;
use std::io;
use std::mem::MaybeUninit;
use std::thread::Builder;

pub use std::thread::{JoinHandle, sleep, yield_now};
pub use std::thread_local;

/// Creates a named thread that starts with every signal blocked, so that the program's handlers run on the
/// program's own
/// threads. Blocks for the time of the system call (20-30 us). The name is cut to 15 bytes by the system.
///
/// # Errors
/// The system's, when no thread can be created; `body` has then not run and is dropped.
pub fn spawn(name: String, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    // An interpreter has no signals.
    let old = (!cfg!(miri)).then(block_signals);
    let result = Builder::new().name(name).spawn(body);
    if let Some(old) = old {
        restore_signals(&old);
    }
    result
}

fn block_signals() -> libc::sigset_t {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut old = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigfillset initialises the set it is given.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // SAFETY: both sets are valid for the call; it cannot fail with these arguments.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), old.as_mut_ptr()) };
    // SAFETY: pthread_sigmask has filled the old set.
    unsafe { old.assume_init() }
}

fn restore_signals(old: &libc::sigset_t) {
    // SAFETY: the set is valid for the call; no old set is asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, old, std::ptr::null_mut()) };
}

/// Lets the calling thread's timed sleeps end as exactly as the system can (the default is up to 50 us late). Never
/// blocks.
pub fn sleep_exactly() {
    // An interpreter does not know the call.
    if !cfg!(miri) {
        // SAFETY: the call takes a number and changes nothing but the calling thread's slack.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    }
}

/// The number by which the system knows the calling thread; the first call of a thread is a system call. In a child
/// of a fork it is that of the thread in the parent that forked.
pub fn number() -> u32 {
    thread_local! {
        static NUMBER: Cell<u32> = const { Cell::new(0) };
    }
    let mut number = NUMBER.get();
    if number == 0 {
        number = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
        NUMBER.set(number);
    }
    number
}
