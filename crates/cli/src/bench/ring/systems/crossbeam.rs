//! Crossbeam's bounded channel. Its receiver waits for one message.

use crossbeam_channel::{Receiver, Sender, bounded};

use super::{CAPACITY, Post, Receive, System};

/// Both ends.
pub(in super::super) struct Crossbeam {
    sender: Sender<u64>,
    receiver: Receiver<u64>,
}

/// The receiver's end, with the message that ended its wait.
pub(in super::super) struct CrossbeamReceiver {
    receiver: Receiver<u64>,
    first: Option<u64>,
}

impl Crossbeam {
    pub(in super::super) fn new() -> Self {
        let (sender, receiver) = bounded(CAPACITY as usize);
        Crossbeam { sender, receiver }
    }
}

impl System for Crossbeam {
    type Poster = Sender<u64>;
    type Receiver = CrossbeamReceiver;

    fn receiver(&self) -> Result<CrossbeamReceiver, String> {
        Ok(CrossbeamReceiver { receiver: self.receiver.clone(), first: None })
    }

    fn poster(&self) -> Result<Sender<u64>, String> {
        Ok(self.sender.clone())
    }

    fn wakes(&self) -> Option<u64> {
        None
    }

    fn calls(&self) -> Option<u64> {
        None
    }
}

impl Post for Sender<u64> {
    #[inline]
    fn post(&mut self, message: u64, _is_lazy: bool) -> bool {
        self.try_send(message).is_ok()
    }
}

impl Receive for CrossbeamReceiver {
    fn wait(&mut self, _need: u32) {
        self.first = self.receiver.recv().ok();
    }

    fn drain(&mut self, each: impl FnMut(u64)) {
        self.first.take().into_iter().chain(self.receiver.try_iter()).for_each(each);
    }
}
