//! Messages from io_uring to io_uring, one system call each.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

use cmwq_uring::{Mailbox, Sender, Sent};

use super::{CAPACITY, NO_URING, Post, Receive, System};

/// Where the posters find the receiver's instance, which its thread makes.
#[derive(Default)]
pub(in super::super) struct MsgRing {
    mailbox: Mutex<Option<OwnedFd>>,
}

impl System for MsgRing {
    type Poster = Sender;
    type Receiver = Mailbox;

    fn receiver(&self) -> Result<Mailbox, String> {
        let mailbox = Mailbox::new(CAPACITY).map_err(|error| format!("{NO_URING}: {error}"))?;
        let fd = mailbox.as_fd().try_clone_to_owned().map_err(|error| error.to_string())?;
        *self.mailbox.lock().unwrap_or_else(PoisonError::into_inner) = Some(fd);
        Ok(mailbox)
    }

    fn poster(&self) -> Result<Sender, String> {
        let mailbox = self.mailbox.lock().unwrap_or_else(PoisonError::into_inner);
        let mailbox = mailbox.as_ref().ok_or("there is no receiver")?;
        Sender::new(mailbox.as_fd()).map_err(|error| format!("{NO_URING}: {error}"))
    }

    fn wakes(&self) -> Option<u64> {
        None
    }

    fn calls(&self, messages: u64) -> Option<u64> {
        Some(messages)
    }
}

impl Post for Sender {
    #[inline]
    fn post(&mut self, message: u64, _is_lazy: bool) -> bool {
        self.send(message).is_ok_and(|sent| sent == Sent::Sent)
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
