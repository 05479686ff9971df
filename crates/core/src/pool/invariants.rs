//! What must always hold of a pool, by name. Asserts in the runtime and the exploration of the model use the same
//! predicates.

use super::core::PoolCore;
use super::inbox_word::InboxWord;
use crate::id::{Sleeper, WorkerId};
use crate::pwq::Limit;
use crate::worker::State;
use core::hash::Hash;

/// A broken invariant: its label and what was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Broken {
    /// The invariant's label in the essays.
    pub label: &'static str,
    /// What was found.
    pub what: &'static str,
}

fn hold(condition: bool, label: &'static str, what: &'static str) -> Result<(), Broken> {
    if condition { Ok(()) } else { Err(Broken { label, what }) }
}

/// What a pool's lock does not see: the inbox, and who has been woken.
pub struct Outside<'a, I> {
    /// The inbox word.
    pub inbox: InboxWord<I>,
    /// Whether this sleeper's wake-up has been claimed or issued and not yet consumed, or somebody owes it and is on
    /// the way to issue it.
    pub is_woken: &'a dyn Fn(Sleeper) -> bool,
}

impl<I: Copy + Eq + Hash + core::fmt::Debug> PoolCore<I> {
    /// `B0 counts`: the counters are those of the worker slots. Walks all workers.
    pub fn check_counts(&self) -> Result<(), Broken> {
        let count = |f: &dyn Fn(&crate::worker::Worker<I>) -> bool| {
            self.workers.iter().filter(|w| f(w)).count() as u32
        };
        let label = "B0 counts";
        let living = |w: &crate::worker::Worker<I>| !matches!(w.state, State::Gone | State::Dying);
        hold(self.nr_workers == count(&living), label, "nr_workers")?;
        hold(self.nr_awake == count(&|w| w.state == State::Awake), label, "nr_awake")?;
        hold(self.nr_busy == count(&|w| w.state == State::Busy), label, "nr_busy")?;
        hold(self.nr_starting == count(&|w| w.state == State::Starting), label, "nr_starting")?;
        hold(self.nr_blocked == count(&|w| w.blocked), label, "nr_blocked")?;
        hold(self.nr_running() == count(&|w| w.is_running()), label, "nr_running")?;
        let idle = (self.idle.len() + self.kicked.len()) as u32 + self.nr_leaving;
        hold(idle == count(&|w| w.state == State::Idle), label, "idle lists")?;
        let watching = u32::from(self.watch.is_some());
        hold(watching == count(&|w| w.state == State::Watching), label, "watch")?;
        hold(self.nr_workers <= self.config.workers_max, label, "more workers than allowed")
    }

    /// `G0 gates`: none waits while there is room. (That no pwq has more active items than it may is judged where items
    /// start: a limit may be lowered below what is active.)
    pub fn check_gates(&self) -> Result<(), Broken> {
        for gate in &self.gates {
            let full = match gate.limit() {
                // A limit that has been lowered is exceeded until enough have ended.
                Limit::Own(max) => gate.nr_active() >= max,
                Limit::Node => gate.is_waiting() && gate.spare() == 0,
            };
            hold(full || gate.inactive().is_empty(), "G0 gates", "an item waits although there is room")?;
        }
        Ok(())
    }

    /// `B1 baton`: whenever the inbox or the worklist is non-empty, somebody who runs, has been woken or looks by the
    /// clock is obliged to run the core.
    pub fn check_baton(&self, outside: &Outside<'_, I>) -> Result<(), Broken> {
        if !self.is_pending(outside) {
            return Ok(());
        }
        let obliged = self.nr_awake + self.nr_busy + self.nr_starting > 0
            || self.watch.is_some()
            || self.manage.manager_thread_comes
            || self.manage.manager_thread_creates
            || self.woken_exists(outside);
        hold(obliged, "B1 baton", "items are queued and nobody is obliged to look")
    }

    /// `B2 cover`: whenever items are queued or claimed behind another, every worker that is up is inside an item,
    /// and
    /// somebody could help - an idle worker, or one yet to be created when all those items block - then somebody has
    /// been woken or watches. In a pool that manages concurrency a worker that runs suffices.
    pub fn check_cover(&self, outside: &Outside<'_, I>) -> Result<(), Broken> {
        let all_block = self.nr_awake + self.nr_busy == self.nr_blocked;
        let waits = self.is_pending(outside) || self.has_items_waiting();
        let could_help = !self.idle.is_empty() || all_block && self.may_create();
        if self.config.managed && self.nr_running() > 0 || !waits || !could_help {
            return Ok(());
        }
        let covered = self.somebody_comes()
            || self.watch.is_some()
            || self.manage.manager_thread_creates
            || self.woken_exists(outside);
        hold(covered, "B2 cover", "items wait behind running ones, a worker sleeps and nobody watches")
    }

    /// `B3 no cull of the owed`: nobody who has been told to end is also owed a wake-up for work.
    pub fn check_no_owed_dies(&self, owed: &dyn Fn(WorkerId) -> bool) -> Result<(), Broken> {
        for (at, worker) in self.workers.iter().enumerate() {
            let id = WorkerId(at as u32);
            let dead = matches!(worker.state, State::Gone | State::Dying);
            hold(
                !(dead && owed(id)),
                "B3 no cull of the owed",
                "a wake-up for work is owed to a worker that ends",
            )?;
        }
        Ok(())
    }

    fn is_pending(&self, outside: &Outside<'_, I>) -> bool {
        !self.worklist.is_empty() || matches!(outside.inbox, InboxWord::List(_) | InboxWord::One(_))
    }

    fn woken_exists(&self, outside: &Outside<'_, I>) -> bool {
        let sleeping = |at: usize| matches!(self.workers[at].state, State::Idle | State::Watching);
        let mut ids = (0..self.workers.len()).filter(|&at| sleeping(at)).map(|at| WorkerId(at as u32));
        (outside.is_woken)(Sleeper::Manager) || ids.any(|w| (outside.is_woken)(Sleeper::Worker(w)))
    }
}
