//! The receiver's handle.

use super::{RingBell, Waited};
use std::os::fd::{AsFd, BorrowedFd};
use std::task::{Context, Poll};
use std::time::Instant;

/// The one receiver of a ring. As an iterator it takes what is there, without waiting.
///
/// When it is dropped the ring is closed, and posters are told that the receiver is gone. What it has not given out
/// stays in the ring for [`Ring::take_over`](cmwq_ring::Ring::take_over).
#[derive(Debug)]
pub struct Receiver<T> {
    inner: cmwq_ring::Receiver<T, RingBell>,
}

impl<T> Receiver<T> {
    pub(super) fn new(inner: cmwq_ring::Receiver<T, RingBell>) -> Self {
        Receiver { inner }
    }

    /// The oldest value, if there is one. Values of one poster come in the order in which it posted them.
    ///
    /// # Context
    /// Never blocks.
    pub fn try_take(&mut self) -> Option<T> {
        self.inner.try_take()
    }

    /// How many values have been taken from the ring and not given out.
    pub fn in_hand(&self) -> usize {
        self.inner.in_hand()
    }

    /// Waits until `need` values are there, counting those in hand, or a forced one, or the ring is closed, or the
    /// deadline has passed; without a deadline for as long as it takes.
    ///
    /// # Context
    /// Blocks until enough has been posted, or the deadline. Messages whose posts have returned count whichever other
    /// poster has stopped; one whose post has not needs its poster. Inside an item it counts as blocking.
    pub fn wait(&mut self, need: u32, deadline: Option<Instant>) -> Waited {
        let inner = &mut self.inner;
        let left = || deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
        crate::blocking(|| inner.wait(need, left))
    }

    /// Waits for the next value. `None`: the ring is closed, and nothing is left.
    ///
    /// # Context
    /// As for [`Receiver::wait`].
    pub fn take_blocking(&mut self) -> Option<T> {
        loop {
            if let Some(value) = self.try_take() {
                return Some(value);
            }
            if self.wait(1, None) == Waited::Closed {
                return self.try_take();
            }
        }
    }

    /// For event loops: is about to wait for `need` values. `None`: armed; wait until the descriptor is readable, as
    /// long as you like, then call [`Receiver::disarm`]. Otherwise there is nothing to wait for.
    ///
    /// The descriptor is an eventfd ([`AsFd`]) and obeys the ring's promise. Do not read it.
    ///
    /// # Context
    /// Never blocks.
    #[must_use = "wait only when armed"]
    pub fn arm(&mut self, need: u32) -> Option<Waited> {
        self.inner.arm(need)
    }

    /// After [`Receiver::arm`], before anything is taken: the wait is over, for whatever reason.
    ///
    /// # Context
    /// Never blocks.
    pub fn disarm(&mut self) {
        self.inner.disarm();
    }

    /// Closes the ring: posts are refused from now on; what has been posted can still be taken.
    ///
    /// # Context
    /// Never blocks.
    pub fn close(&mut self) {
        self.inner.close();
    }

    /// The next value, for a task. `None`: the ring is closed, and nothing is left. This is `poll_next` of streams.
    ///
    /// Outside the ring's promise: a poster takes the task's waker and calls it, and if it is stopped in between,
    /// the task waits for it, or for the next post. A waker that panics is caught there and its payload is leaked: the
    /// message is posted, the poster is told so, and the ring goes on as before.
    ///
    /// # Context
    /// Never blocks.
    pub fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<T>> {
        self.poll_many(context, 1).map(|_| self.try_take())
    }

    /// For a task: waits until `need` values are there, one is forced, or the ring is closed. As for
    /// [`Receiver::poll_next`].
    ///
    /// # Context
    /// Never blocks.
    pub fn poll_many(&mut self, context: &mut Context<'_>, need: u32) -> Poll<Waited> {
        self.inner.disarm();
        self.inner.bell().leave(context.waker());
        match self.inner.arm_task(need) {
            Some(waited) => Poll::Ready(waited),
            None => Poll::Pending,
        }
    }

    /// A future of the next value: `while let Some(value) = receiver.next_value().await`.
    pub fn next_value(&mut self) -> impl Future<Output = Option<T>> + Send
    where
        T: Send,
    {
        std::future::poll_fn(move |context| self.poll_next(context))
    }
}

/// What [`Ring::take_over`](cmwq_ring::Ring::take_over) answers, as a receiver of this crate.
impl<T> From<cmwq_ring::Receiver<T, RingBell>> for Receiver<T> {
    fn from(inner: cmwq_ring::Receiver<T, RingBell>) -> Self {
        Receiver { inner }
    }
}

impl<T> AsFd for Receiver<T> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.inner.bell().as_fd()
    }
}

impl<T> Iterator for Receiver<T> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        self.try_take()
    }
}
