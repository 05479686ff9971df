//! Taking back what has been queued, and refusing what is to be queued.
//!
//! Whoever takes a pending instance back becomes its owner first (`W1 one claimer`), wherever the instance is: on a
//! timer, left to a finisher, or linked in a pool. What is on the way from one of these places to another is waited
//! for: asleep, not by spinning, for who is on the way may be stopped.

use super::guard::discard;
use super::header::Header;
use super::work::Work;
use crate::engine::{Delayed, Timers};
use crate::pool::withdraw;
use crate::queue::WaitError;
use crate::worker::{blocking, current_item, own_cycle};
use cmwq_core::timer::TimerKey;
use cmwq_core::work::{Enable, Submit};
use cmwq_sys::thread::{sleep, yield_now};
use std::sync::Arc;
use std::time::Duration;

/// Which timer a work was last armed with.
pub(crate) struct Arming {
    pub(crate) timers: Arc<Timers>,
    pub(crate) key: TimerKey,
}

impl Work {
    /// Takes back the pending instance, delayed or queued anywhere. `true`: there was one, and it will not run.
    /// `false`: none was pending; the function may be running.
    ///
    /// # Context
    /// From any thread, also from inside the work's own function. Takes the lock of a pool. Does not wait for any item,
    /// but for a thread that is just queueing or just starting this one: should that be stopped, the call sleeps until
    /// it goes on.
    pub fn cancel(&self) -> bool {
        let taken = self.take_pending();
        if taken {
            self.end_owned();
        }
        taken
    }

    /// Takes back the pending instance and waits until none runs. What the function does meanwhile to queue the work
    /// again is refused as [`Refusal::Disabled`](crate::Refusal::Disabled), so this ends also for a work that queues
    /// itself. Of several callers at once all wait. `true`: an instance was pending.
    ///
    /// When it has returned the function is not running and, unless somebody else has queued the work since, will
    /// not: what
    /// the function refers to may be freed. (A thread that must not block uses [`Work::cancel_async`].)
    ///
    /// # Context
    /// Blocks until the run has ended; needs no other progress than that run's, and that of a thread that is just
    /// queueing or just starting the work: while one of these is stopped the call sleeps. Counts as blocking inside
    /// an item.
    ///
    /// # Errors
    /// [`WaitError::WouldDeadlock`] inside the work's own function; nothing is changed. And inside an item for
    /// which the run waits: the pending instance has been taken back then, though nobody has waited for the run.
    pub fn cancel_sync(&self) -> Result<bool, WaitError> {
        self.refuse_own()?;
        let mut pause = Pause::default();
        while !self.head().word.disable() {
            // As many callers as the depth can count: they end.
            pause.wait();
        }
        let taken = self.cancel();
        let waited = self.wait_for_run();
        let _ = self.head().word.enable();
        waited.map(|()| taken)
    }

    /// Refuses submissions until as many [`Work::enable`]s as disables have been called, and takes back the pending
    /// instance. `true`: there was one.
    ///
    /// # Context
    /// As for [`Work::cancel`].
    ///
    /// # Panics
    /// When it has been disabled 65 535 times already.
    pub fn disable(&self) -> bool {
        assert!(self.head().word.disable(), "a work was disabled 65536 times and not enabled");
        self.cancel()
    }

    /// Like [`Work::disable`], and waits until no instance runs.
    ///
    /// # Context
    /// As for [`Work::cancel_sync`].
    ///
    /// # Errors
    /// [`WaitError::WouldDeadlock`] inside the work's own function; nothing is changed. And inside an item for
    /// which the run waits: the pending instance has been taken back then, though nobody has waited for the run.
    ///
    /// # Panics
    /// As for [`Work::disable`].
    pub fn disable_sync(&self) -> Result<bool, WaitError> {
        self.refuse_own()?;
        let taken = self.disable();
        self.wait_for_run().map(|()| taken)
    }

    /// Takes back one disable. What was refused or taken back meanwhile is not made up for: see
    /// [`Queue::enable_and_queue`](crate::Queue::enable_and_queue). An enabled work stays so, and
    /// the answer says it.
    ///
    /// # Context
    /// From any thread. Never blocks.
    pub fn enable(&self) -> Enable {
        self.head().word.enable()
    }

    /// Whether submissions are refused. Out of date when it returns.
    pub fn is_disabled(&self) -> bool {
        self.head().word.read().disable_depth() != 0
    }

    pub(super) fn refuse_own(&self) -> Result<(), WaitError> {
        if current_item() == Some(self.header()) {
            Err(WaitError::WouldDeadlock(own_cycle()))
        } else {
            Ok(())
        }
    }

    /// Waits for the run that is under way.
    fn wait_for_run(&self) -> Result<(), WaitError> {
        let Some(target) = self.head().word.read().running_target() else { return Ok(()) };
        self.wait_until(target).map_err(WaitError::WouldDeadlock)
    }

    /// Takes the pending instance from wherever it is. `true`: PENDING and its reference are the caller's.
    pub(crate) fn take_pending(&self) -> bool {
        let head = self.head();
        let mut pause = Pause::default();
        loop {
            let word = head.word.read();
            if !word.is_pending() {
                return false;
            }
            if let Some(delayed) = self.disarm() {
                delayed.work.into_pending();
                return true;
            }
            if word.is_handed() {
                if head.word.take_back() {
                    self.leave_queue();
                    return true;
                }
                continue;
            }
            if withdraw(self.header(), head) {
                return true;
            }
            pause.wait();
        }
    }

    /// Ends the arrival of an instance that was taken back from the finisher.
    fn leave_queue(&self) {
        let head = self.head();
        let pwq = head.pwq.get().expect("a handed-over item names its pwq (W1)");
        // SAFETY: the instance is ours and its arrival has not been ended: the queue is there, and the pool.
        let pwq = unsafe { pwq.as_ref() };
        // The arrival's end may be the last thing the queue, and the engine, wait for.
        let _alive = pwq.pool().this.upgrade();
        // SAFETY: the instance is ours, and its arrival has not ended.
        unsafe { pwq.make_room() };
        pwq.depart(usize::from(head.slot.get()), 1);
    }

    /// Takes it off its timer, if it is on one.
    pub(crate) fn disarm(&self) -> Option<Delayed> {
        let arming = self.arming().lock();
        let Arming { timers, key } = arming.as_ref()?;
        timers.take_back(*key)
    }

    /// Queues a delayed instance now. If its queue refuses it is cancelled.
    pub(super) fn queue_now(&self) {
        if let Some(delayed) = self.disarm() {
            delayed.submit();
        }
    }

    /// Ends an instance that the caller has taken back.
    pub(crate) fn end_owned(&self) {
        let ended = self.head().word.cancel();
        self.tell(ended);
        // SAFETY: W5 pending keeps alive: the instance's reference, which the caller has taken over. This handle's own
        // keeps the item.
        unsafe { Header::release(self.header()) };
    }

    /// Ends an instance that the caller has taken back, of which this handle is the reference.
    pub(crate) fn end_pending(self) {
        let ended = self.head().word.cancel();
        self.tell(ended);
        // Dropping the last handle drops the function.
        discard(self);
    }

    /// Claims the item for an instance, with a reference for it if it is granted.
    pub(crate) fn claim(&self) -> Submit {
        let claim = self.head().word.submit();
        if matches!(claim, Submit::Push | Submit::HandOver) {
            self.head().retain();
        }
        claim
    }

    /// Ends an instance that the caller has taken back, and keeps the claim, and its reference, for the next one.
    pub(crate) fn renew_owned(&self) {
        let ended = self.head().word.renew();
        self.tell(ended);
    }
}

impl Delayed {
    /// Queues the item, which the caller has taken off its timer. If its queue refuses it is cancelled, and the
    /// engine's program is told.
    pub(crate) fn submit(self) {
        let Delayed { work, queue, to, place } = self;
        // SAFETY: T1 off the wheel owns: the instance is ours, and `work` is its reference.
        match unsafe { queue.submit_claimed(&to, work.header(), place) } {
            Ok(()) => work.into_pending(),
            Err(refusal) => {
                work.end_pending();
                queue.tell_dropped(refusal, place);
            }
        }
    }
}

/// Waits for another thread's next step, longer each time.
#[derive(Default)]
pub(crate) struct Pause(u32);

impl Pause {
    const YIELDS: u32 = 8;
    const LONGEST: Duration = Duration::from_millis(2);

    pub(crate) fn wait(&mut self) {
        self.0 += 1;
        if self.0 <= Self::YIELDS {
            return yield_now();
        }
        let time = Duration::from_micros(20) * (1 << (self.0 - Self::YIELDS).min(10));
        blocking(|| sleep(time.min(Self::LONGEST)));
    }
}
