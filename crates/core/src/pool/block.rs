//! Workers whose items block, or use the CPU for long, and do not count as running meanwhile.

use super::action::Actions;
use super::core::PoolCore;
use crate::id::WorkerId;
use crate::time::Tick;
use crate::worker::State;
use core::hash::Hash;

impl<I: Copy + Eq + Hash + core::fmt::Debug> PoolCore<I> {
    pub(super) fn block(&mut self, now: Tick, worker: WorkerId, actions: &mut Actions<I>) {
        let slot = &mut self.workers[worker.index()];
        debug_assert!(slot.state == State::Busy && !slot.blocked, "{worker} blocks inside an item, once");
        slot.blocked = true;
        self.nr_blocked += 1;
        self.nr_intensive -= u32::from(slot.cpu_intensive);
        self.cover(now, actions);
    }

    pub(super) fn unblock(&mut self, worker: WorkerId) {
        let slot = &mut self.workers[worker.index()];
        debug_assert!(slot.state == State::Busy && slot.blocked, "{worker} was not blocked");
        slot.blocked = false;
        self.nr_blocked -= 1;
        self.nr_intensive += u32::from(slot.cpu_intensive);
    }

    pub(super) fn cpu_intensive(&mut self, now: Tick, worker: WorkerId, actions: &mut Actions<I>) {
        let slot = &mut self.workers[worker.index()];
        // A tick may arrive when the item has just ended, blocked, or been marked before.
        if slot.state != State::Busy || slot.blocked || slot.cpu_intensive {
            return;
        }
        slot.cpu_intensive = true;
        self.nr_intensive += 1;
        self.cover(now, actions);
    }
}
