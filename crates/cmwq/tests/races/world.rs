//! What a program of a few threads is made of, under shuttle or not.

use cmwq_ring::Futex;
use cmwq_ring::sync::{AtomicU32, Ordering::SeqCst};
use cmwq_sys::futex::LinuxFutex;
use std::time::Duration;

#[cfg(cmwq_shuttle)]
pub(crate) use shuttle::thread;
#[cfg(not(cmwq_shuttle))]
pub(crate) use std::thread;

/// The engines' time.
pub(crate) fn now() -> Duration {
    cmwq_sys::clock::now()
}

/// Sleeps, in the engines' time.
pub(crate) fn sleep(time: Duration) {
    cmwq_sys::thread::sleep(time);
}

/// Others may go on here.
pub(crate) fn pause() {
    thread::yield_now();
}

/// Closed until it is opened. (Not a condition variable: the end of a scope's last thread wakes shuttle's.)
#[derive(Default)]
pub(crate) struct Gate(AtomicU32);

impl Gate {
    pub(crate) fn open(&self) {
        self.0.store(1, SeqCst);
        LinuxFutex::wake_all(&self.0);
    }

    /// Waits until it is open.
    pub(crate) fn pass(&self) {
        while self.0.load(SeqCst) == 0 {
            LinuxFutex::wait(&self.0, 0, None);
        }
    }
}
