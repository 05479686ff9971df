//! Messages from one io_uring to another (MSG_RING), behind an interface without unsafe code.
//!
//! The receiver's instance defers its task work: what arrives is handled when the receiver enters the kernel. This
//! is what cmwq's completion ring is compared with.

#![cfg(target_os = "linux")]
#![deny(clippy::undocumented_unsafe_blocks)]

use io_uring::{IoUring, opcode, squeue, types};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

/// A poster's submissions in flight: one.
const SENDER_ENTRIES: u32 = 8;
const EOVERFLOW: i32 = 75;

/// The receiver: an instance of one thread, the one that makes it.
pub struct Mailbox {
    ring: IoUring,
}

/// A poster's instance.
pub struct Sender {
    ring: IoUring,
    mailbox: OwnedFd,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It lies in the mailbox's completion queue.
    Sent,
    /// That is full.
    Full,
}

impl Mailbox {
    /// With room for so many messages.
    ///
    /// # Errors
    /// The system's: io_uring is not permitted here, or too old (Linux 6.1 is needed).
    pub fn new(messages: u32) -> io::Result<Mailbox> {
        let mut builder = IoUring::builder();
        builder.setup_single_issuer().setup_defer_taskrun().setup_cqsize(messages);
        Ok(Mailbox { ring: builder.build(SENDER_ENTRIES)? })
    }

    /// Waits until at least so many messages are there.
    ///
    /// # Context
    /// Blocks. From the thread that made the mailbox.
    ///
    /// # Errors
    /// The system's.
    pub fn wait(&mut self, messages: usize) -> io::Result<()> {
        match self.ring.submitter().submit_and_wait(messages) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error),
            _ => Ok(()),
        }
    }

    /// Takes what is there.
    pub fn drain(&mut self, mut each: impl FnMut(u64)) {
        self.ring.completion().for_each(|entry| each(entry.user_data()));
    }
}

impl AsFd for Mailbox {
    fn as_fd(&self) -> BorrowedFd<'_> {
        let fd = self.ring.as_raw_fd();
        // SAFETY: the ring keeps its descriptor open.
        unsafe { BorrowedFd::borrow_raw(fd) }
    }
}

impl Sender {
    /// To the mailbox with this descriptor.
    ///
    /// # Errors
    /// The system's.
    pub fn new(mailbox: BorrowedFd<'_>) -> io::Result<Sender> {
        let mailbox = mailbox.try_clone_to_owned()?;
        Ok(Sender { ring: IoUring::new(SENDER_ENTRIES)?, mailbox })
    }

    /// Sends a message, by one system call.
    ///
    /// # Errors
    /// The system's.
    pub fn send(&mut self, message: u64) -> io::Result<Sent> {
        let target = types::Fd(self.mailbox.as_raw_fd());
        let entry = opcode::MsgRingData::new(target, 0, message, None).build();
        let entry = entry.flags(squeue::Flags::SKIP_SUCCESS).user_data(message);
        // SAFETY: the entry refers to no memory.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.map_err(|_| io::Error::from(io::ErrorKind::WouldBlock))?;
        self.ring.submit()?;
        match self.ring.completion().next() {
            None => Ok(Sent::Sent),
            Some(entry) if entry.result() == -EOVERFLOW => Ok(Sent::Full),
            Some(entry) if entry.result() >= 0 => Ok(Sent::Sent),
            Some(entry) => Err(io::Error::from_raw_os_error(-entry.result())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_in_order() {
        let mut mailbox = match Mailbox::new(64) {
            Ok(mailbox) => mailbox,
            Err(error) => return eprintln!("skipped: io_uring: {error}"),
        };
        let mut sender = Sender::new(mailbox.as_fd()).unwrap();
        for message in 0..10 {
            assert_eq!(sender.send(message).unwrap(), Sent::Sent);
        }
        let mut got = Vec::new();
        while got.len() < 10 {
            mailbox.wait(1).unwrap();
            mailbox.drain(|message| got.push(message));
        }
        assert!(got.into_iter().eq(0..10));
    }
}
