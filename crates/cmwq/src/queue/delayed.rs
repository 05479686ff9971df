//! Submissions for a later time.

use super::inner::{QueueInner, Slot};
use super::submit::refusal_of;
use super::{Queue, Refusal, Submit};
use crate::engine::{Delayed, EngineEvent};
use crate::item::{Arming, Work};
use crate::steps::Step;
use crate::worker::clock;
use cmwq_core::queue::Admit;
use cmwq_core::time::{Span, Tick};
use cmwq_core::work::{Enable, Submit as Claim};
use cmwq_ring::sync::Ordering;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

impl Queue {
    /// Queues a work when this time has passed, never earlier; until then it is pending, and a
    /// [flush](Work::flush) queues it at once. A delay of zero is [`Queue::queue`]. A [flush](Queue::flush) of the
    /// queue does not wait for what has not been queued yet.
    ///
    /// The queue is asked now and again when the time has passed. What is refused then does not run, and the engine's
    /// program is told ([`EngineEvent::DelayedDropped`]).
    ///
    /// # Context
    /// From any thread, also from inside items. Takes the lock of the engine's timers, which is held for a bounded
    /// number of steps. Allocates when more items are delayed than ever before.
    #[track_caller]
    pub fn queue_delayed(&self, work: &Work, delay: Duration) -> Submit {
        self.delay(self.inner().here(), work, delay, Location::caller())
    }

    /// The same, as if the caller ran on this CPU.
    ///
    /// # Context
    /// As for [`Queue::queue_delayed`].
    #[track_caller]
    pub fn queue_delayed_on(&self, cpu: u32, work: &Work, delay: Duration) -> Submit {
        match self.inner().slot_of(cpu) {
            Some(slot) => self.delay(slot, work, delay, Location::caller()),
            None => Submit::Refused(Refusal::UnknownCpu),
        }
    }

    /// Queues a work here when this time has passed, wherever it is pending now: an instance that is delayed, or queued
    /// and not started, is taken back. `true`: there was one. A delay of zero queues at once.
    ///
    /// # Context
    /// As for [`Queue::queue_delayed`] and [`Work::cancel`].
    ///
    /// # Errors
    /// The refusal, if the work is disabled or the queue accepts nothing. If the queue is destroyed (or, with a delay
    /// of zero, begins to drain) during the call, what was pending is lost with it; else nothing is changed.
    #[track_caller]
    pub fn mod_delayed(&self, work: &Work, delay: Duration) -> Result<bool, Refusal> {
        self.inner().modify(self.arc(), self.inner().here(), work, delay, Location::caller())
    }

    /// The same, as if the caller ran on this CPU.
    ///
    /// # Context
    /// As for [`Queue::mod_delayed`].
    ///
    /// # Errors
    /// As for [`Queue::mod_delayed`], and [`Refusal::UnknownCpu`].
    #[track_caller]
    pub fn mod_delayed_on(&self, cpu: u32, work: &Work, delay: Duration) -> Result<bool, Refusal> {
        let slot = self.inner().slot_of(cpu).ok_or(Refusal::UnknownCpu)?;
        self.inner().modify(self.arc(), slot, work, delay, Location::caller())
    }

    /// Takes back one disable of a work and, if it was the last one, queues it. `None`: the work is still disabled,
    /// or was not disabled; nothing is queued.
    ///
    /// # Context
    /// As for [`Queue::queue`].
    #[track_caller]
    pub fn enable_and_queue(&self, work: &Work) -> Option<Submit> {
        let place = Location::caller();
        (work.enable() == Enable::Enabled).then(|| self.inner().submit_work(self.inner().here(), work, place))
    }

    fn arc(&self) -> &Arc<QueueInner> {
        &self.owner.inner
    }

    fn delay(&self, to: &Slot, work: &Work, delay: Duration, place: &'static Location<'static>) -> Submit {
        let inner = self.inner();
        if delay.is_zero() {
            return inner.submit_work(to, work, place);
        }
        if let Err(refusal) = inner.would_admit(work) {
            return Submit::Refused(refusal);
        }
        match work.claim() {
            Claim::Push | Claim::HandOver => {}
            refused => return refusal_of(refused),
        }
        match inner.arm(self.arc(), to, work, clock::now() + Span::from(delay), place) {
            Ok(()) => Submit::Queued,
            Err(refusal) => Submit::Refused(refusal),
        }
    }
}

impl QueueInner {
    /// Whether a submission from here would be admitted now.
    fn would_admit(&self, work: &Work) -> Result<(), Refusal> {
        match self.word.read().admits() {
            Admit::Open => Ok(()),
            admits => self.admit_chained(admits, Some(work.header())),
        }
    }

    fn modify(
        &self,
        this: &Arc<QueueInner>,
        to: &Slot,
        work: &Work,
        delay: Duration,
        place: &'static Location<'static>,
    ) -> Result<bool, Refusal> {
        self.would_admit(work)?;
        let was_pending = loop {
            if work.take_pending() {
                if work.is_disabled() {
                    work.end_owned();
                    return Err(Refusal::Disabled);
                }
                work.renew_owned();
                break true;
            }
            match work.claim() {
                Claim::Push | Claim::HandOver => break false,
                Claim::Disabled => return Err(Refusal::Disabled),
                Claim::AlreadyPending => {}
            }
        };
        if !delay.is_zero() {
            self.arm(this, to, work, clock::now() + Span::from(delay), place)?;
            return Ok(was_pending);
        }
        // SAFETY: W1 one claimer, W5 pending keeps alive: claimed above, with a reference.
        let queued = unsafe { self.submit_claimed(to, work.header(), place) };
        queued.inspect_err(|_| work.end_owned())?;
        Ok(was_pending)
    }

    /// Puts an item that the caller has claimed, with a reference, on a timer. Refused, it is cancelled.
    fn arm(
        &self,
        this: &Arc<QueueInner>,
        to: &Slot,
        work: &Work,
        at: Tick,
        place: &'static Location<'static>,
    ) -> Result<(), Refusal> {
        let engine = self.engine.upgrade().expect("a queue's handle keeps its engine");
        engine.setup.steps.at(Step::Arming, "", None);
        // SAFETY: W1 one claimer: the instance is ours, with its reference.
        let pending = unsafe { Work::from_pending(work.header()) };
        self.note_delayed();
        let delayed = Delayed { work: pending, queue: Arc::clone(this), to: *to, place };
        // Under the lock of the arming: whoever comes for the item finds the key of the timer it is on.
        let mut arming = work.arming().lock();
        let key = engine.timers.arm(at, delayed);
        let older = arming.replace(Arming { timers: Arc::clone(&engine.timers), key });
        drop(arming);
        drop(older);
        engine.be_awake_at(at);
        if self.word.read().admits() != Admit::ChainedOthersOnly {
            return Ok(());
        }
        // The queue is being destroyed: either that has found the timer or we have.
        match engine.timers.take_back(key) {
            None => Ok(()),
            Some(delayed) => {
                delayed.work.end_pending();
                Err(Refusal::Destroyed)
            }
        }
    }

    /// Before the first timer of the queue is armed.
    fn note_delayed(&self) {
        // Ordering: acquire, to see what whoever set it has seen of the queue's word; it is never cleared.
        if self.has_delayed.load(Ordering::Acquire) == 0 {
            // Ordering: acquire pairs with the read-modify-write of `drop_delayed`.
            self.has_delayed.swap(1, Ordering::AcqRel);
        }
    }

    /// Cancels what waits for its time. The queue's word says that it is destroyed.
    pub(super) fn drop_delayed(&self) {
        // Ordering: a read-modify-write, as in `note_delayed`: who notes after it has read from it, and sees the
        // queue's word as it is now.
        if self.has_delayed.fetch_add(0, Ordering::AcqRel) == 0 {
            return;
        }
        let Some(engine) = self.engine.upgrade() else { return };
        for delayed in engine.timers.take_back_all(self.id) {
            delayed.work.end_pending();
            self.tell_dropped(Refusal::Destroyed, delayed.place);
        }
    }

    /// Tells the engine's program of a delayed item that does not run.
    pub(crate) fn tell_dropped(&self, refusal: Refusal, place: &'static Location<'static>) {
        let Some(engine) = self.engine.upgrade() else { return };
        let (queue, place) = (self.name.to_string(), place.to_string());
        engine.tell(&EngineEvent::DelayedDropped { queue, place, refusal });
    }
}
