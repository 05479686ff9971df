//! What carries messages from posters to a receiver.

mod crossbeam;
mod msg_ring;
mod mutex;
mod ring;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(super) use crossbeam::Crossbeam;
pub(super) use msg_ring::MsgRing;
pub(super) use mutex::MutexDeque;
pub(super) use ring::CompletionRing;

/// How the reason begins why there is no io_uring.
pub(super) const NO_URING: &str = "io_uring is not to be had here";
/// Room for messages in each of them.
const CAPACITY: u32 = 1 << 14;

/// One of them.
pub(super) trait System: Sync {
    /// A poster's end.
    type Poster: Post + Send;
    /// The receiver's end.
    type Receiver: Receive;
    /// Makes the receiver's end, on the receiver's thread, first of all.
    fn receiver(&self) -> Result<Self::Receiver, String>;
    /// Makes a poster's end.
    fn poster(&self) -> Result<Self::Poster, String>;
    /// Wake-ups that posters have issued.
    fn wakes(&self) -> Option<u64>;
    /// System calls that posters have made; of those that are still there, not all.
    fn calls(&self) -> Option<u64>;
}

/// A poster's end.
pub(super) trait Post {
    /// Posts a message. `false`: no room.
    fn post(&mut self, message: u64, is_lazy: bool) -> bool;
}

/// The receiver's end.
pub(super) trait Receive {
    /// Waits until so many messages are there, or one that is not lazy.
    fn wait(&mut self, need: u32);
    /// Takes what is there.
    fn drain(&mut self, each: impl FnMut(u64));
}

/// A count that many threads add to, rarely; or none.
#[derive(Clone, Debug)]
pub(super) struct Counter(Option<Arc<AtomicU64>>);

impl Counter {
    pub(super) fn new() -> Counter {
        Counter(Some(Arc::default()))
    }

    /// Counts nothing: for those whose instructions are counted, of which it would be one.
    pub(super) const fn none() -> Counter {
        Counter(None)
    }

    fn add(&self, count: u64) {
        if let Some(counted) = &self.0 {
            counted.fetch_add(count, Ordering::Relaxed);
        }
    }

    fn read(&self) -> Option<u64> {
        self.0.as_ref().map(|counted| counted.load(Ordering::Relaxed))
    }
}
