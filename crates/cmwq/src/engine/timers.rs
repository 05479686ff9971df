//! The engine's timers: what is to be queued later.
//!
//! One wheel under one short lock, which arming, taking back and firing hold for a bounded number of steps. The manager
//! thread fires what is due and sleeps until the next time, as for its other times.

use crate::item::Work;
use crate::queue::{QueueInner, Slot};
use crate::worker::clock;
use cmwq_core::time::Tick;
use cmwq_core::timer::{TimerKey, Wheel};
use cmwq_ring::Lock;
use cmwq_sys::futex::LinuxFutex;
use std::panic::Location;
use std::sync::Arc;

/// How many timers one hold of the lock moves.
const PORTION: u32 = 64;

/// An item that waits for its time. Owns the pending instance (`T1 off the wheel owns`).
pub(crate) struct Delayed {
    /// The pending instance's reference.
    pub(crate) work: Work,
    pub(crate) queue: Arc<QueueInner>,
    pub(crate) to: Slot,
    pub(crate) place: &'static Location<'static>,
}

// SAFETY: the slot names a pwq that the queue keeps alive; the rest is `Send`.
unsafe impl Send for Delayed {}

/// The timers of one engine.
pub(crate) struct Timers {
    wheel: Lock<Wheel<Delayed>, LinuxFutex>,
}

impl Default for Timers {
    fn default() -> Self {
        Timers { wheel: Lock::new(Wheel::new()) }
    }
}

impl Timers {
    /// Arms a timer. The caller then calls [`super::Shared::be_awake_at`].
    pub(crate) fn arm(&self, at: Tick, delayed: Delayed) -> TimerKey {
        self.wheel.lock().arm(at, delayed)
    }

    /// Takes a timer back; `None`: it has fired, or has been taken back.
    pub(crate) fn take_back(&self, key: TimerKey) -> Option<Delayed> {
        self.wheel.lock().take_back(key)
    }

    /// Takes back every timer of a queue.
    pub(crate) fn take_back_all(&self, queue: u64) -> Vec<Delayed> {
        self.wheel.lock().take_back_all(|delayed| delayed.queue.id == queue)
    }

    /// Manager: when the next one is due.
    pub(super) fn next(&self) -> Option<Tick> {
        self.wheel.lock().next()
    }

    /// Manager: queues what is due.
    pub(super) fn fire(&self) {
        let now = clock::now();
        let mut due = Vec::new();
        loop {
            let mut work = PORTION;
            let mut wheel = self.wheel.lock();
            while let Some(delayed) = wheel.fire(now, &mut work) {
                due.push(delayed);
            }
            drop(wheel);
            due.drain(..).for_each(Delayed::submit);
            if work > 0 {
                return;
            }
        }
    }
}

impl super::Shared {
    /// After a timer has been armed for this time: sees to it that the manager is awake by then.
    pub(crate) fn be_awake_at(&self, at: Tick) {
        if self.manager.is_planned_after(Wheel::<Delayed>::fires_at(at)) {
            self.manager.wake();
        }
    }
}
