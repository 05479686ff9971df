//! A deque under a mutex, and an eventfd: what one writes who needs it today.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cmwq_ring::{Bell, Rester};
use cmwq_sys::eventfd::EventFd;

use super::{CAPACITY, Counter, Post, Receive, System};

struct Inner {
    messages: VecDeque<u64>,
    is_forced: bool,
    /// What a sleeping receiver waits for.
    need: Option<usize>,
}

struct Shared {
    inner: Mutex<Inner>,
    eventfd: EventFd,
    written: Counter,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The system, and a poster's end.
#[derive(Clone)]
pub(in super::super) struct MutexDeque {
    shared: Arc<Shared>,
    swaps: bool,
}

/// The receiver's end, with the deque that it swaps, if it does.
pub(in super::super) struct MutexReceiver {
    shared: Arc<Shared>,
    taken: Option<VecDeque<u64>>,
}

fn room() -> VecDeque<u64> {
    VecDeque::with_capacity(CAPACITY as usize)
}

impl MutexDeque {
    /// `written` counts the wake-ups.
    pub(in super::super) fn new(swaps: bool, written: Counter) -> Result<Self, String> {
        let eventfd = EventFd::new().map_err(|error| format!("no eventfd: {error}"))?;
        let inner = Inner { messages: room(), is_forced: false, need: None };
        let shared = Shared { inner: Mutex::new(inner), eventfd, written };
        Ok(MutexDeque { shared: Arc::new(shared), swaps })
    }
}

impl System for MutexDeque {
    type Poster = MutexDeque;
    type Receiver = MutexReceiver;

    fn receiver(&self) -> Result<MutexReceiver, String> {
        Ok(MutexReceiver { shared: Arc::clone(&self.shared), taken: self.swaps.then(room) })
    }

    fn poster(&self) -> Result<MutexDeque, String> {
        Ok(self.clone())
    }

    fn wakes(&self) -> Option<u64> {
        self.shared.written.read()
    }

    fn calls(&self) -> Option<u64> {
        // A contended mutex makes further ones.
        None
    }
}

impl Post for MutexDeque {
    #[inline]
    fn post(&mut self, message: u64, is_lazy: bool) -> bool {
        let mut inner = self.shared.lock();
        if inner.messages.len() >= CAPACITY as usize {
            return false;
        }
        inner.messages.push_back(message);
        inner.is_forced |= !is_lazy;
        let is_due = inner.need.is_some_and(|need| inner.is_forced || inner.messages.len() >= need);
        if is_due {
            inner.need = None;
        }
        drop(inner);
        if is_due {
            self.shared.written.add(1);
            self.shared.eventfd.ring(Rester::Thread);
        }
        true
    }
}

impl Receive for MutexReceiver {
    fn wait(&mut self, need: u32) {
        loop {
            let mut inner = self.shared.lock();
            if inner.is_forced || inner.messages.len() >= need as usize {
                return;
            }
            inner.need = Some(need as usize);
            drop(inner);
            self.shared.eventfd.wait(None);
        }
    }

    fn drain(&mut self, mut each: impl FnMut(u64)) {
        if let Some(taken) = &mut self.taken {
            let mut inner = self.shared.lock();
            mem::swap(&mut inner.messages, taken);
            inner.is_forced = false;
            drop(inner);
            return taken.drain(..).for_each(each);
        }
        let pop = || {
            let mut inner = self.shared.lock();
            let message = inner.messages.pop_front();
            inner.is_forced &= message.is_some();
            message
        };
        std::iter::from_fn(pop).for_each(&mut each);
    }
}
