//! The completion ring.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cmwq_ring::{Bell, Capacity, Poster, Receiver, Rester, Ring, ring};
use cmwq_sys::eventfd::EventFd;

use super::{CAPACITY, Counter, Post, Receive, System};

/// An eventfd that counts.
#[derive(Debug)]
pub(in super::super) struct CountingBell {
    eventfd: EventFd,
    rung: Counter,
}

impl Bell for CountingBell {
    fn ring(&self, rester: Rester) {
        self.rung.add(1);
        self.eventfd.ring(rester);
    }

    fn wait(&self, left: Option<Duration>) {
        self.eventfd.wait(left);
    }

    fn clear(&self) {
        self.eventfd.clear();
    }
}

/// A ring of values.
pub(in super::super) struct CompletionRing {
    ring: Ring<u64, CountingBell>,
    receiver: Mutex<Option<Receiver<u64, CountingBell>>>,
    rung: Counter,
}

impl CompletionRing {
    /// `rung` counts the wake-ups.
    pub(in super::super) fn new(rung: Counter) -> Result<Self, String> {
        let eventfd = EventFd::new().map_err(|error| format!("no eventfd: {error}"))?;
        let (ring, receiver) =
            ring(Capacity::Bounded(CAPACITY), CountingBell { eventfd, rung: rung.clone() });
        Ok(CompletionRing { ring, receiver: Mutex::new(Some(receiver)), rung })
    }
}

impl System for CompletionRing {
    type Poster = Poster<u64, CountingBell>;
    type Receiver = Receiver<u64, CountingBell>;

    fn receiver(&self) -> Result<Self::Receiver, String> {
        let receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner).take();
        receiver.ok_or_else(|| "there is one receiver".to_owned())
    }

    fn poster(&self) -> Result<Self::Poster, String> {
        Ok(self.ring.poster())
    }

    fn wakes(&self) -> Option<u64> {
        self.rung.read()
    }

    fn calls(&self) -> Option<u64> {
        // A poster makes no other ones: `counted` shows it.
        self.rung.read()
    }
}

impl<B: Bell> Post for Poster<u64, B> {
    #[inline]
    fn post(&mut self, message: u64, is_lazy: bool) -> bool {
        match is_lazy {
            true => self.post_lazy(message).is_ok(),
            false => Poster::post(self, message).is_ok(),
        }
    }
}

impl<B: Bell> Receive for Receiver<u64, B> {
    fn wait(&mut self, need: u32) {
        let _ = Receiver::wait(self, need, || None);
    }

    fn drain(&mut self, each: impl FnMut(u64)) {
        self.for_each(each);
    }
}
