//! What wakes a receiver: an eventfd, or a task's waker.

use cmwq_ring::{Bell, Rester};
use cmwq_sys::eventfd::EventFd;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Mutex, PoisonError};
use std::task::Waker;
use std::time::Duration;

/// The bell of a ring.
#[derive(Debug)]
pub struct RingBell {
    eventfd: EventFd,
    /// Of the task that rests. Only for tasks is a lock taken; they are outside the ring's promise.
    waker: Mutex<Option<Waker>>,
}

impl RingBell {
    pub(super) fn new() -> io::Result<RingBell> {
        Ok(RingBell { eventfd: EventFd::new()?, waker: Mutex::new(None) })
    }

    fn replace(&self, waker: Option<Waker>) -> Option<Waker> {
        std::mem::replace(&mut *self.waker.lock().unwrap_or_else(PoisonError::into_inner), waker)
    }

    pub(super) fn leave(&self, waker: &Waker) {
        let waker = waker.clone();
        drop(self.replace(Some(waker)));
    }
}

impl AsFd for RingBell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.eventfd.as_fd()
    }
}

impl Bell for RingBell {
    fn ring(&self, rester: Rester) {
        match rester {
            Rester::Thread => Bell::ring(&self.eventfd, rester),
            // The lock has been released when the waker is called.
            Rester::Task => {
                if let Some(waker) = self.replace(None) {
                    waker.wake();
                }
            }
        }
    }

    fn wait(&self, left: Option<Duration>) {
        Bell::wait(&self.eventfd, left);
    }

    fn clear(&self) {
        self.eventfd.clear();
    }
}
