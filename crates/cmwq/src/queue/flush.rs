//! Waiting until everything queued before has ended.

use super::Queue;
use super::inner::{Joint, QueueInner};
use crate::worker::{Cycle, Patience, Wait, begin_wait, blocking, clock, own_cycle};
use cmwq_core::limits::PHASE_SLOTS;
use cmwq_core::queue::slot;
use cmwq_core::time::{Span, Tick};
use cmwq_ring::Futex;
use cmwq_ring::sync::Ordering;
use cmwq_sys::futex::LinuxFutex;
use std::fmt;

/// Why a wait was not begun.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WaitError {
    /// The caller is inside an item that the wait would be for, or that such an item waits for.
    WouldDeadlock(Cycle),
}

impl fmt::Display for WaitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WaitError::WouldDeadlock(cycle) = self;
        write!(f, "the wait would never end: {cycle}")
    }
}

impl std::error::Error for WaitError {}

thread_local! {
    static PATIENCE: Patience = const { Patience::new() };
}

/// Spins as the engine's policy says, with the calling thread's score. `true`: ready.
pub(crate) fn spin_here(policy: crate::WaitPolicy, ready: impl FnMut() -> bool) -> bool {
    spin_near(policy, false, ready)
}

/// The same; `near`: a worker that was last seen on this CPU is waited for.
pub(crate) fn spin_near(policy: crate::WaitPolicy, near: bool, ready: impl FnMut() -> bool) -> bool {
    PATIENCE.with(|patience| patience.spin(policy, near, ready))
}

impl Queue {
    /// Waits until every item queued before the call has ended. Items queued later are not waited for (when more than
    /// 15 flushes of one queue are under way at once, a further one may wait for some of them).
    ///
    /// # Context
    /// Blocks; needs the progress of the items it waits for, and of threads that are inside a submission to this
    /// queue: while one of those is stopped the call sleeps, and it goes on when they do. Where two flushes of the
    /// queue wait for the same items each of them sees for itself that they have ended. From inside an item of
    /// another queue it counts as blocking.
    ///
    /// An item that itself waits for a flush of its queue (through another thread) needs a place under
    /// [`max_active`](crate::QueueBuilder::max_active) that the flushed items do not need: an item whose submission was
    /// under way when the flush began is flushed, and yet may come to stand behind one that was queued after it. If
    /// that one holds the last place and waits for the flush, neither goes on.
    ///
    /// # Errors
    /// [`WaitError::WouldDeadlock`] from inside an item of this queue.
    #[inline]
    pub fn flush(&self) -> Result<(), WaitError> {
        // From inside an item of this queue there is one to wait for: the item.
        match self.inner().flush_target() {
            None => Ok(()),
            Some(target) => self.flush_busy(target),
        }
    }

    #[cold]
    fn flush_busy(&self, target: u32) -> Result<(), WaitError> {
        let inner = self.inner();
        inner.refuse_own()?;
        let _waiting = begin_wait(&Wait::Queue(inner, Some(target))).map_err(WaitError::WouldDeadlock)?;
        inner.flush_to(target, None);
        Ok(())
    }

    /// Waits until the queue is empty. Meanwhile only items of this queue may submit to it; others are refused with
    /// [`Refusal::Draining`](super::Refusal::Draining). Does not end while items keep queueing further ones.
    ///
    /// # Context
    /// As for [`Queue::flush`].
    ///
    /// # Errors
    /// As for [`Queue::flush`].
    pub fn drain(&self) -> Result<(), WaitError> {
        let inner = self.inner();
        inner.refuse_own()?;
        let _waiting = begin_wait(&Wait::Queue(inner, None)).map_err(WaitError::WouldDeadlock)?;
        inner.word.update(cmwq_core::queue::QueueWord::begin_drain);
        inner.wait_quiet(None);
        inner.word.update(cmwq_core::queue::QueueWord::end_drain);
        Ok(())
    }
}

impl QueueInner {
    /// Waits until nothing is in flight, while only chained submissions are admitted. `false`: the deadline passed.
    pub(crate) fn wait_quiet(&self, deadline: Option<Tick>) -> bool {
        // The first cut is made in any case: a submission admitted just before is on the list it closes. What comes
        // after it was queued by an item that it waits for, and is seen without one.
        let mut target = self.word.read().phase();
        while self.flush_to(target, deadline) {
            match self.flush_target() {
                None => return true,
                Some(next) => target = next,
            }
        }
        self.is_quiet()
    }

    /// The same without waiting, while only chained submissions are admitted. Never blocks.
    pub(crate) fn is_quiet(&self) -> bool {
        let target = self.word.read().phase();
        self.close(target) && self.settle(target, |_, _| false) && self.flush_target().is_none()
    }

    /// An item of the queue cannot wait for it.
    pub(super) fn refuse_own(&self) -> Result<(), WaitError> {
        if self.is_current() { Err(WaitError::WouldDeadlock(own_cycle())) } else { Ok(()) }
    }

    /// Whether an item in flight that arrived at a phase with this slot is waited for by a flush up to this phase.
    pub(crate) fn is_before(&self, arrived: u8, target: u32) -> bool {
        // It is in flight: its phase is one of those from the oldest one on, of which each has a slot of its own.
        let oldest = self.done();
        let behind = (usize::from(arrived) + PHASE_SLOTS - slot(oldest)) % PHASE_SLOTS;
        is_at_most(oldest.wrapping_add(behind as u32), target)
    }

    /// The phase up to which a flush that begins now has to wait; none: nothing queued before is in flight.
    #[inline]
    pub(super) fn flush_target(&self) -> Option<u32> {
        let phase = self.word.read().phase();
        if !self.listing.is_empty(phase) {
            return Some(phase);
        }
        // F6 idle by reading: what was queued before arrived before this phase. If all those are passed it has ended;
        // if not, they are closed, and there is nothing to cut.
        (self.done() != phase).then(|| phase.wrapping_sub(1))
    }

    /// Waits until all phases up to `target` are empty; closes it if need be. `false`: the deadline passed.
    fn flush_to(&self, target: u32, deadline: Option<Tick>) -> bool {
        let wait = |joint: &Joint, phase| self.wait_joint(joint, phase, deadline);
        // Close the phase, unless somebody has just done so; with no slot free the oldest phase must end first.
        while !self.close(target) {
            if let Some(oldest) = self.oldest_before(target)
                && !self.settle_phase(oldest, wait)
            {
                return false;
            }
        }
        self.settle(target, wait)
    }

    /// Moves on from phase `target`. `false`: it accepts still, and no slot is free for another.
    pub(super) fn close(&self, target: u32) -> bool {
        is_at_most(target.wrapping_add(1), self.word.read().phase())
            || self.word.update(|word| word.close(target, self.done()))
    }

    /// Sees that all phases up to `target`, which is closed, are empty. `ensure` waits for one joint, or
    /// answers `false` where it is not empty.
    ///
    /// The newest comes first (F8 newest first): of the flushes under way, each with a phase of its own, each sleeps
    /// where nobody else does, and by its wake-up the older phases have mostly ended. In the order of phases all of
    /// them would sleep for the oldest, and be woken together at the end of each.
    pub(super) fn settle(&self, target: u32, mut ensure: impl FnMut(&Joint, u32) -> bool) -> bool {
        let mut phase = target;
        while self.done() != phase && is_at_most(self.done(), phase) {
            if !self.see_empty(phase, &mut ensure) {
                return false;
            }
            phase = phase.wrapping_sub(1);
        }
        loop {
            let oldest = self.done();
            if !is_at_most(oldest, target) {
                return true;
            }
            if !self.settle_phase(oldest, &mut ensure) {
                return false;
            }
        }
    }

    /// The oldest phase not known to be empty, if it is before one that has been the current one: then it is closed.
    /// Else others have freed the slots meanwhile, and that phase may be open, which nobody passes (F9 closed passes).
    pub(super) fn oldest_before(&self, phase: u32) -> Option<u32> {
        let oldest = self.done();
        (!is_at_most(phase, oldest)).then_some(oldest)
    }

    /// The oldest phase not known to be empty.
    #[inline]
    pub(super) fn done(&self) -> u32 {
        // Ordering: acquire pairs with `settle_phase`: who sees a phase passed sees its items' work.
        self.done.load(Ordering::Acquire)
    }

    /// Sees that a closed phase is empty, then moves `done` past it if it is the oldest.
    pub(super) fn settle_phase(&self, phase: u32, ensure: impl FnMut(&Joint, u32) -> bool) -> bool {
        if !self.see_empty(phase, ensure) {
            return false;
        }
        // Ordering: release publishes what the looks acquired; a failure means another flush has done it.
        let _ = self.done.compare_exchange(phase, phase.wrapping_add(1), Ordering::AcqRel, Ordering::Acquire);
        true
    }

    /// Sees that a closed phase is empty, or has been passed.
    fn see_empty(&self, phase: u32, mut ensure: impl FnMut(&Joint, u32) -> bool) -> bool {
        self.listing.visit(phase, |at: usize| {
            let joint = &self.joints[at];
            !is_at_most(self.done(), phase) || self.is_empty(joint, phase) || ensure(joint, phase)
        })
    }

    fn wait_joint(&self, joint: &Joint, phase: u32, deadline: Option<Tick>) -> bool {
        let pwq = joint.pwq();
        let policy = joint.pool.setup.wait;
        loop {
            // Once passed, the slot may serve a later phase, which this flush owes nothing.
            let empty = || !is_at_most(self.done(), phase) || self.is_empty(joint, phase);
            if empty() || spin_near(policy, joint.pool.near.is_here(), empty) {
                return true;
            }
            let left = match deadline.map(|d| d.since(clock::now())) {
                Some(Span(0)) => return false,
                left => left,
            };
            let arrived = self.arrived(joint, phase);
            let Some(value) = pwq.departures.announce_waiter(phase, arrived) else { continue };
            if !is_at_most(self.done(), phase) {
                return true;
            }
            blocking(|| {
                LinuxFutex::wait(pwq.departures.futex(slot(phase)), value, left.map(Span::to_duration))
            });
        }
    }

    pub(super) fn arrived(&self, joint: &Joint, phase: u32) -> u32 {
        let leaves = joint.leaves.iter();
        leaves.map(|&leaf| self.arrivals[leaf as usize].look(phase)).fold(0, u32::wrapping_add) & 0x7fff_ffff
    }

    /// Departures first, then arrivals: both only grow, so equal counts mean that nothing was in flight in between;
    /// and
    /// nothing arrives for good at a closed phase.
    pub(super) fn is_empty(&self, joint: &Joint, phase: u32) -> bool {
        let departed = joint.pwq().departures.look(phase);
        departed == self.arrived(joint, phase)
    }
}

/// Phases wrap.
pub(super) fn is_at_most(phase: u32, target: u32) -> bool {
    (target.wrapping_sub(phase) as i32) >= 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Engine;

    #[test]
    fn the_oldest_phase_is_passed_for_a_slot_only_while_it_is_closed() {
        let engine = Engine::new().unwrap();
        let queue = engine.queue("slots").build().unwrap();
        let inner = queue.inner();
        assert_eq!(inner.oldest_before(0), None, "nothing is closed");
        for phase in 0..PHASE_SLOTS as u32 - 1 {
            assert!(inner.close(phase));
        }
        let target = PHASE_SLOTS as u32 - 1;
        assert!(!inner.close(target), "no slot is free");
        assert_eq!(inner.oldest_before(target), Some(0));
        // Others pass all that are closed before this flush looks.
        assert!(inner.settle(target - 1, |_, _| false));
        assert_eq!(inner.done(), target);
        assert_eq!(inner.oldest_before(target), None, "it is open");
        assert!(inner.close(target));
        assert!(inner.settle(target, |_, _| false));
    }
}
