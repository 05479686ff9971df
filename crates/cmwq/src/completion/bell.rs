//! What wakes a receiver: an eventfd, or a task's waker.

use cmwq_ring::{Bell, Lock, Rester};
use cmwq_sys::eventfd::EventFd;
use cmwq_sys::futex::LinuxFutex;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::task::Waker;
use std::time::Duration;

/// The bell of a ring.
#[derive(Debug)]
pub struct RingBell {
    eventfd: EventFd,
    /// Of the task that rests. Only for tasks is a lock taken; they are outside the ring's promise.
    waker: Lock<Option<Waker>, LinuxFutex>,
}

impl RingBell {
    pub(super) fn new() -> io::Result<RingBell> {
        Ok(RingBell { eventfd: EventFd::new()?, waker: Lock::new(None) })
    }

    fn replace(&self, waker: Option<Waker>) -> Option<Waker> {
        std::mem::replace(&mut *self.waker.lock(), waker)
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
