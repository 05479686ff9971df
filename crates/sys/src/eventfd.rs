//! Sleeping by an eventfd: a wake-up that no preempted waker can hide.

use cmwq_ring::sync::AtomicU32;
use cmwq_ring::{Bell, Rester, Sleep};
use core::time::Duration;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// One eventfd; the sleeper reads it, every waker writes it. A token that comes late ends the next sleep at once.
#[derive(Debug)]
pub struct EventFd {
    fd: OwnedFd,
}

impl EventFd {
    /// A new eventfd without a token. Does not block.
    ///
    /// # Errors
    /// The system's: no descriptor or no memory left.
    pub fn new() -> io::Result<EventFd> {
        Ok(EventFd { fd: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)? })
    }
}

impl AsFd for EventFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Bell for EventFd {
    fn ring(&self, _rester: Rester) {
        // Fails only when the counter is at its maximum; then a token is there.
        let _ = rustix::io::write(&self.fd, &1u64.to_ne_bytes());
    }

    fn wait(&self, left: Option<Duration>) {
        let timeout = left.map(|d| Timespec {
            tv_sec: d.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: d.subsec_nanos().into(),
        });
        let mut fds = [PollFd::new(&self.fd, PollFlags::IN)];
        // Any outcome sends the caller back to its words.
        if poll(&mut fds, timeout.as_ref()).is_ok_and(|ready| ready > 0) {
            self.clear();
        }
    }

    fn clear(&self) {
        let _ = rustix::io::read(&self.fd, &mut [0u8; 8]);
    }
}

impl Sleep for EventFd {
    fn sleep(&self, _word: &AtomicU32, _parked: u32, timeout: Option<Duration>) {
        self.wait(timeout);
    }

    fn wake(&self, _word: &AtomicU32) {
        self.ring(Rester::Thread);
    }
}
