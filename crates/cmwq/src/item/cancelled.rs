//! A cancel that is awaited.

use super::guard::wake;
use super::work::Work;
use cmwq_core::work::Ended;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A cancel or disable under way: resolves when no run is left that was under way at the call, to whether an instance
/// was pending.
///
/// What is done is done by the call that made it; the future only waits. Dropped early it waits no longer: a
/// [`Work::cancel_async`] then enables the work, a [`Work::disable_async`] leaves it disabled; the pending instance
/// stays taken back in both, and the run goes on. A waker that was left with the work stays there until an
/// instance ends or the work is freed: it is woken once for nothing.
#[derive(Debug)]
#[must_use = "a cancel that is not awaited does not wait for the run"]
pub struct Cancelled {
    work: Work,
    was_pending: bool,
    /// The count at which the run has ended, while it is waited for.
    target: Option<u32>,
    /// A disable is to be taken back.
    enables: bool,
}

impl Work {
    /// Like [`Work::cancel_sync`], but the wait for the run is a future. Until that is ready or dropped submissions are
    /// refused as [`Refusal::Disabled`](crate::Refusal::Disabled).
    ///
    /// # Context
    /// As for [`Work::cancel`]. Inside the work's own function the future is ready after the function has returned: a
    /// function that waits for it waits for itself.
    ///
    /// # Panics
    /// As for [`Work::disable`].
    pub fn cancel_async(&self) -> Cancelled {
        self.begin_cancel(true)
    }

    /// Like [`Work::disable_sync`], but the wait for the run is a future.
    ///
    /// # Context
    /// As for [`Work::cancel_async`].
    ///
    /// # Panics
    /// As for [`Work::disable`].
    pub fn disable_async(&self) -> Cancelled {
        self.begin_cancel(false)
    }

    fn begin_cancel(&self, enables: bool) -> Cancelled {
        let was_pending = self.disable();
        let target = self.head().word.read().running_target();
        Cancelled { work: self.clone(), was_pending, target, enables }
    }

    /// Whether the count has come to `target`. `false`: the waker will be woken when that may have changed.
    fn watch_end(&self, target: u32, waker: &Waker) -> bool {
        let word = &self.head().word;
        if word.read().has_ended(target) {
            return true;
        }
        let waker = waker.clone();
        let mut wakers = self.wakers().lock();
        let is_known = wakers.iter().any(|other| other.will_wake(&waker));
        let mut spare = Some(waker);
        if !is_known {
            wakers.extend(spare.take());
        }
        drop(wakers);
        // User code, not under the lock.
        drop(spare);
        // After the waker has been left: whoever ends an instance clears the announcement, and then takes the wakers.
        word.announce_waiter(target).is_none()
    }

    /// An instance has ended: wakes those who wait for it, if there are any.
    pub(super) fn tell(&self, ended: Ended) {
        self.head().tell(ended);
        if ended.wake {
            let wakers = std::mem::take(&mut *self.wakers().lock());
            wakers.into_iter().for_each(wake);
        }
    }
}

impl Cancelled {
    fn enable_again(&mut self) {
        if std::mem::take(&mut self.enables) {
            let _ = self.work.enable();
        }
    }
}

impl Future for Cancelled {
    type Output = bool;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<bool> {
        if self.target.is_some_and(|target| !self.work.watch_end(target, context.waker())) {
            return Poll::Pending;
        }
        self.target = None;
        self.enable_again();
        Poll::Ready(self.was_pending)
    }
}

impl Drop for Cancelled {
    fn drop(&mut self) {
        self.enable_again();
    }
}
