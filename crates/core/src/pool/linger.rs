//! Whether a worker may wait for more items before it reports those that it has run (invariant `B5 lease`).

use super::action::Actions;
use super::core::PoolCore;
use core::hash::Hash;

impl<I: Copy + Eq + Hash + core::fmt::Debug> PoolCore<I> {
    /// Whether the worker that has just claimed may wait for more before it reports: it is alone, nothing is left for
    /// others to run or wait for, and whoever covers has been chosen already (`actions` ask for nobody).
    pub fn may_linger(&self, actions: &Actions<I>) -> bool {
        let alone = self.nr_awake + self.nr_busy == 1 && self.nr_starting == 0;
        let nobody_asked = actions.stand_by.is_none() && actions.wake.is_empty() && !actions.recall;
        !self.config.real_time && alone && nobody_asked && self.worklist.is_empty() && !self.wants_reports()
    }

    /// Whether somebody waits for ends to be reported: an item behind `max_active` or behind the same item, or the
    /// end of
    /// the pool. A worker with nothing to run then does not linger before it reports.
    pub fn wants_reports(&self) -> bool {
        self.nr_inactive > 0 || self.nr_wanted > 0 || self.nr_scheduled > 0 || self.closing
    }
}
