//! A flush that is awaited.

use super::Queue;
use super::flush::is_at_most;
use super::inner::{Joint, QueueInner};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A flush under way: resolves when every item queued before [`Queue::flush_async`] was called has ended.
///
/// The cut is made by that call, not by the first poll; dropping the future gives the flush up and costs nothing. It
/// keeps the queue alive.
#[derive(Debug)]
#[must_use = "a flush that is not awaited waits for nothing"]
pub struct Flushed {
    queue: Queue,
    /// All phases up to this one are waited for.
    target: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The target accepts still: no slot was free.
    Open,
    Closed,
    Passed,
}

impl Queue {
    /// Begins a flush: the future waits until every item queued before this call has ended, and for none queued later
    /// (but see [`Queue::flush`] on more than 15 flushes at once).
    ///
    /// # Context
    /// From anywhere, also from inside items, and outside of any async runtime. Never blocks. An item of this queue
    /// that waits for the future waits for itself.
    pub fn flush_async(&self) -> Flushed {
        let inner = self.inner();
        let (target, state) = match inner.flush_target() {
            None => (0, State::Passed),
            Some(target) if inner.close(target) => (target, State::Closed),
            Some(target) => (target, State::Open),
        };
        Flushed { queue: self.clone(), target, state }
    }
}

impl Future for Flushed {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let inner = this.queue.inner();
        let waker = context.waker();
        while this.state == State::Open {
            if inner.close(this.target) {
                this.state = State::Closed;
            } else if let Some(oldest) = inner.oldest_before(this.target)
                && !inner.settle_phase(oldest, |joint, phase| inner.watch_joint(joint, phase, waker))
            {
                return Poll::Pending;
            }
        }
        if this.state == State::Closed {
            if !inner.settle(this.target, |joint, phase| inner.watch_joint(joint, phase, waker)) {
                return Poll::Pending;
            }
            this.state = State::Passed;
        }
        Poll::Ready(())
    }
}

impl QueueInner {
    /// Whether a closed phase is empty at a joint, or has been passed. `false`: the waker will be woken when that may
    /// have changed.
    fn watch_joint(&self, joint: &Joint, phase: u32, waker: &Waker) -> bool {
        let pwq = joint.pwq();
        loop {
            pwq.leave_waker(waker);
            // A slot that has been given to a later phase has nothing to do with this flush.
            let announced = pwq.departures.announce_waiter(phase, self.arrived(joint, phase));
            if !is_at_most(self.done(), phase) {
                return true;
            }
            if announced.is_some() {
                return false;
            }
            if self.is_empty(joint, phase) {
                return true;
            }
        }
    }
}
