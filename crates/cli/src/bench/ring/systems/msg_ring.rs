//! Messages from io_uring to io_uring, one system call each.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use cmwq_uring::{Mailbox, Sender, Sent};

use super::{CAPACITY, Counter, NO_URING, Post, Receive, System};

/// Where the posters find the receiver's instance, which its thread makes.
pub(in super::super) struct MsgRing {
    mailbox: Mutex<Option<OwnedFd>>,
    calls: Counter,
}

/// A poster's end. Counts its calls by itself, and adds them up at its end.
pub(in super::super) struct MsgPoster {
    sender: Sender,
    calls: u64,
    all: Counter,
}

impl MsgRing {
    /// `calls` counts the posters' system calls.
    pub(in super::super) fn new(calls: Counter) -> MsgRing {
        MsgRing { mailbox: Mutex::default(), calls }
    }
}

impl System for MsgRing {
    type Poster = MsgPoster;
    type Receiver = Mailbox;

    fn receiver(&self) -> Result<Mailbox, String> {
        let mailbox = Mailbox::new(CAPACITY).map_err(|error| format!("{NO_URING}: {error}"))?;
        let fd = mailbox.as_fd().try_clone_to_owned().map_err(|error| error.to_string())?;
        *self.mailbox.lock().unwrap_or_else(PoisonError::into_inner) = Some(fd);
        Ok(mailbox)
    }

    fn poster(&self) -> Result<MsgPoster, String> {
        let mailbox = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        let mailbox = mailbox.as_ref().ok_or("there is no receiver")?;
        let sender = Sender::new(mailbox.as_fd()).map_err(|error| format!("{NO_URING}: {error}"))?;
        Ok(MsgPoster { sender, calls: 0, all: self.calls.clone() })
    }

    fn wakes(&self) -> Option<u64> {
        None
    }

    fn calls(&self) -> Option<u64> {
        self.calls.read()
    }
}

impl Post for MsgPoster {
    #[inline]
    fn post(&mut self, message: u64, _is_lazy: bool) -> bool {
        self.calls += 1;
        self.sender.send(message).is_ok_and(|sent| sent == Sent::Sent)
    }
}

impl Drop for MsgPoster {
    fn drop(&mut self) {
        self.all.add(self.calls);
    }
}

impl Receive for Mailbox {
    fn wait(&mut self, need: u32) {
        // What cannot be waited for is looked for.
        let _ = Mailbox::wait(self, need as usize);
    }

    fn drain(&mut self, each: impl FnMut(u64)) {
        Mailbox::drain(self, each);
    }
}
