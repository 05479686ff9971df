//! A limit on what may be pending: refusing, waiting, and waiting for a time.

use super::inner::QueueInner;
use super::{Queue, Refusal, Refused, Submit};
use crate::item::{Header, JoinHandle, Work};
use crate::pool::leave_room;
use crate::worker::{blocking, clock};
use cmwq_core::time::{Span, Tick};
use cmwq_ring::{Futex, RoomCell};
use cmwq_sys::futex::LinuxFutex;
use std::panic::Location;
use std::ptr::NonNull;
use std::time::Duration;

impl Queue {
    /// Like [`Queue::queue`], but waits while as many items are pending as
    /// [`max_pending`](crate::QueueBuilder::max_pending) allows.
    ///
    /// Inside an item of this very queue it does not wait, since the room may depend on the end of that item; then it
    /// answers [`Refusal::Full`] like [`Queue::queue`]. Items of other queues that wait here for items which wait for
    /// them are not found out.
    ///
    /// # Context
    /// Blocks until items of the queue start; needs the queue's progress, and that of a worker that has claimed an
    /// item and not started it: while that is stopped, and no other item starts, the call sleeps. Counts as blocking
    /// inside an item.
    #[track_caller]
    pub fn queue_wait(&self, work: &Work) -> Submit {
        self.queue_until(None, work, Location::caller())
    }

    /// The same, but waits no longer than this time; then the answer is [`Refusal::Full`].
    ///
    /// # Context
    /// Blocks, for little more than `timeout` whoever is stopped; for room it needs what [`Queue::queue_wait`] needs.
    /// Counts as blocking inside an item.
    #[track_caller]
    pub fn queue_within(&self, timeout: Duration, work: &Work) -> Submit {
        self.queue_until(Some(clock::now() + Span::from(timeout)), work, Location::caller())
    }

    /// Like [`Queue::try_spawn`], but waits as [`Queue::queue_wait`] does.
    ///
    /// # Context
    /// As for [`Queue::queue_wait`].
    ///
    /// # Errors
    /// [`Refused`], with the closure: for another reason than a full queue, or inside an item of this queue.
    #[track_caller]
    pub fn spawn_wait<F, T>(&self, closure: F) -> Result<JoinHandle<T>, Refused<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.spawn_until(None, closure, Location::caller())
    }

    /// The same, but waits no longer than this time; then the refusal is [`Refusal::Full`].
    ///
    /// # Context
    /// As for [`Queue::queue_within`].
    ///
    /// # Errors
    /// [`Refused`], with the closure.
    #[track_caller]
    pub fn spawn_within<F, T>(&self, timeout: Duration, closure: F) -> Result<JoinHandle<T>, Refused<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        self.spawn_until(Some(clock::now() + Span::from(timeout)), closure, Location::caller())
    }

    fn queue_until(&self, deadline: Option<Tick>, work: &Work, place: &'static Location<'static>) -> Submit {
        let attempt = || match self.queue_at(work, place) {
            full @ Submit::Refused(Refusal::Full) => Err(full),
            submit => Ok(submit),
        };
        self.until_room(deadline, attempt).unwrap_or_else(|full| full)
    }

    fn spawn_until<F, T>(
        &self,
        deadline: Option<Tick>,
        closure: F,
        place: &'static Location<'static>,
    ) -> Result<JoinHandle<T>, Refused<F>>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let mut given_back = Some(closure);
        let attempt = || {
            let closure = given_back.take().expect("a refusal gives it back");
            match self.spawn_at(closure, place) {
                Err(Refused { closure, refusal: Refusal::Full }) => {
                    given_back = Some(closure);
                    Err(())
                }
                answer => Ok(answer),
            }
        };
        self.until_room(deadline, attempt).unwrap_or_else(|()| {
            let closure = given_back.take().expect("a refusal gives it back");
            Err(Refused { closure, refusal: Refusal::Full })
        })
    }

    /// How many items are queued and not started, if the queue has a `max_pending`. Out of date when it returns.
    pub fn pending(&self) -> Option<u32> {
        self.inner().room.as_ref().map(|room| room.pending())
    }

    /// Tries again when there is room; the last refusal when the time has passed.
    fn until_room<A, R>(
        &self,
        deadline: Option<Tick>,
        mut attempt: impl FnMut() -> Result<A, R>,
    ) -> Result<A, R> {
        loop {
            let refused = match attempt() {
                Ok(answer) => return Ok(answer),
                Err(refused) => refused,
            };
            let room = self.inner().room.as_ref().filter(|_| !self.inner().is_current());
            if !room.is_some_and(|room| wait_for_room(room, deadline)) {
                return Err(refused);
            }
        }
    }
}

/// `false`: the time has passed, and there is none.
fn wait_for_room(room: &RoomCell, deadline: Option<Tick>) -> bool {
    while let Some(value) = room.announce_waiter() {
        let left = deadline.map(|deadline| deadline.since(clock::now()));
        if left == Some(Span(0)) {
            return false;
        }
        blocking(|| LinuxFutex::wait(room.futex(), value, left.map(Span::to_duration)));
    }
    true
}

impl QueueInner {
    pub(super) fn take_room(&self) -> Result<(), Refusal> {
        match &self.room {
            Some(room) if !room.take() => Err(Refusal::Full),
            _ => Ok(()),
        }
    }

    pub(super) fn leave_room(&self) {
        if let Some(room) = &self.room {
            leave_room(room);
        }
    }

    /// A submission of an item that others know, in the room that there is.
    #[inline]
    pub(super) fn with_room(&self, item: NonNull<Header>, submit: impl FnOnce() -> Submit) -> Submit {
        if self.room.is_some()
            && let Some(answer) = self.find_no_room(item)
        {
            return answer;
        }
        let answer = submit();
        if self.room.is_some() && answer != Submit::Queued {
            self.leave_room();
        }
        answer
    }

    /// Takes room, or answers the submission.
    fn find_no_room(&self, item: NonNull<Header>) -> Option<Submit> {
        if self.take_room().is_ok() {
            return None;
        }
        // SAFETY: the submitter keeps the item alive.
        let word = &unsafe { item.as_ref() }.word;
        // What is pending needs no room, and its run sees what was stored before (W2 refusal writes).
        let is_pending = word.confirm_pending();
        Some(if is_pending { Submit::AlreadyPending } else { Submit::Refused(Refusal::Full) })
    }
}
