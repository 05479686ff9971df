//! What wakes a receiver: an eventfd, or a task's waker.

use cmwq_ring::{Bell, Lock, Rester};
use cmwq_sys::eventfd::EventFd;
use cmwq_sys::futex::LinuxFutex;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
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
                let Some(waker) = self.replace(None) else { return };
                // Its message is posted: the poster must not be told otherwise by somebody else's panic.
                if let Err(panic) = catch_unwind(AssertUnwindSafe(|| waker.wake())) {
                    // What it carries could panic again when dropped.
                    std::mem::forget(panic);
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::task::Wake;

    struct Panics;

    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker that panics, as the test wants it");
        }
    }

    #[test]
    fn a_panicking_waker_does_not_unwind_into_the_poster() {
        let bell = RingBell::new().expect("a descriptor");
        bell.leave(&Waker::from(Arc::new(Panics)));
        bell.ring(Rester::Task);
        assert!(bell.replace(None).is_none(), "the waker was called once, and is gone");
    }
}
