//! What a program of a few threads is made of, under shuttle or not.

use std::time::Duration;

#[cfg(cmwq_shuttle)]
use shuttle::sync::{Condvar, Mutex};
#[cfg(cmwq_shuttle)]
pub(crate) use shuttle::thread;
#[cfg(not(cmwq_shuttle))]
use std::sync::{Condvar, Mutex};
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

/// Closed until it is opened.
#[derive(Default)]
pub(crate) struct Gate {
    is_open: Mutex<bool>,
    opened: Condvar,
}

impl Gate {
    pub(crate) fn open(&self) {
        *self.is_open.lock().unwrap() = true;
        self.opened.notify_all();
    }

    /// Waits until it is open.
    pub(crate) fn pass(&self) {
        let mut is_open = self.is_open.lock().unwrap();
        while !*is_open {
            is_open = self.opened.wait(is_open).unwrap();
        }
    }
}
