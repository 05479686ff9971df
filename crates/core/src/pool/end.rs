//! The end of a pool: whoever sleeps is woken to look, and leaves when nothing is left.

use super::action::Actions;
use super::core::PoolCore;
use crate::id::WorkerId;
use crate::worker::{State, Worker};
use core::hash::Hash;

impl<I: Copy + Eq + Hash + core::fmt::Debug> PoolCore<I> {
    /// Sleepers are not told to end but to look: one that stands by may be owed a wake-up for an item that is in the
    /// inbox already, and nobody else may be up to run it. Those picked without being listed come by themselves.
    pub(super) fn close(&mut self, actions: &mut Actions<I>) {
        self.closing = true;
        let watcher = self.watch.map(|w| w.worker);
        let sleepers: Vec<WorkerId> = self.idle.iter().chain(&self.kicked).copied().chain(watcher).collect();
        for worker in sleepers {
            if actions.wake.len() >= super::action::WAKES_MAX {
                break;
            }
            self.watch = self.watch.filter(|w| w.worker != worker);
            self.leave_idle(worker);
            self.set_awake(worker);
            actions.wake.push(crate::id::Sleeper::Worker(worker));
        }
    }

    /// Whether [`super::Event::Close`] has told every sleeping worker (it is bounded; repeat it until this holds).
    pub fn is_closed(&self) -> bool {
        self.closing && self.idle.is_empty() && self.kicked.is_empty() && self.watch.is_none()
    }

    /// Whether the pool is closing and this worker would find nothing more to run.
    pub(super) fn is_over_for(&self, worker: WorkerId) -> bool {
        let has_own = !self.workers[worker.index()].scheduled.is_empty();
        self.closing && self.worklist.is_empty() && !has_own
    }

    pub(super) fn exited(&mut self, worker: WorkerId) {
        match self.workers[worker.index()].state {
            State::Dying => {}
            State::Awake => {
                self.nr_awake -= 1;
                self.nr_workers -= 1;
            }
            other => unreachable!("{worker} ended while {other:?}"),
        }
        self.workers[worker.index()] = Worker::gone();
    }
}
