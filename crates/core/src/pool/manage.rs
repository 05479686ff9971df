//! Creating workers, culling them, and the one that watches.

use super::action::{Actions, Verdict};
use super::core::PoolCore;
use super::policy::{ClaimPolicy, CoverPolicy};
use crate::id::{Sleeper, WorkerId};
use crate::limits;
use crate::time::{Span, Tick};
use crate::worker::{State, Worker};
use core::hash::Hash;

/// Who makes workers, and when it may be tried again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Manage {
    /// The worker in the manager's role.
    pub(super) manager: Option<WorkerId>,
    /// The engine's manager thread is creating a worker.
    pub(super) manager_thread_creates: bool,
    /// The engine's manager thread has been told of this pool and will look.
    pub(super) manager_thread_comes: bool,
    /// It comes by its clock, when a failed creation has cooled down: nobody with an idle worker waits for that.
    pub(super) manager_thread_waits: bool,
    /// No creation before this time (after a failure).
    pub(super) not_before: Tick,
    /// The culler has been armed.
    pub(super) cull_armed: bool,
}

/// The worker that watches whether busy ones get on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Watch {
    pub(super) worker: WorkerId,
    pub(super) interval: Span,
    pub(super) progress: u64,
    pub(super) idle_looks: u8,
}

impl<I: Copy + Eq + Hash + core::fmt::Debug> PoolCore<I> {
    // ---- creating ----

    /// Workers that sleep and could be woken: the spare that a worker wants to leave behind when it starts to run.
    pub(super) fn nr_idle(&self) -> u32 {
        (self.idle.len() + self.kicked.len()) as u32 + u32::from(self.watch.is_some())
    }

    fn is_creating(&self) -> bool {
        self.manage.manager.is_some() || self.manage.manager_thread_creates
    }

    /// Whether a worker could be created at some time, though perhaps not now.
    pub(super) fn may_create(&self) -> bool {
        self.nr_workers < self.config.workers_max && !self.is_creating()
    }

    /// Whether a worker has to be created before work starts: none would be left to be woken (the kernel's
    /// may_start_working). Reserves a slot for it.
    pub(super) fn wants_spare(&mut self, now: Tick, manager: Option<WorkerId>) -> Option<WorkerId> {
        let missing = self.nr_idle() == 0 && self.nr_starting == 0 && self.may_create();
        if !missing || now < self.manage.not_before {
            return None;
        }
        match manager {
            Some(_) => self.manage.manager = manager,
            None => self.manage.manager_thread_creates = true,
        }
        let free = self.workers.iter().position(|w| w.state == State::Gone);
        let at = free.unwrap_or_else(|| {
            self.workers.push(Worker::gone());
            self.workers.len() - 1
        });
        self.workers[at].state = State::Starting;
        self.nr_workers += 1;
        self.nr_starting += 1;
        Some(WorkerId(at as u32))
    }

    fn end_creation(&mut self) {
        self.manage.manager = None;
        self.manage.manager_thread_creates = false;
    }

    /// The new worker may have looked already, while nobody was allowed to create the next: then nobody stands by.
    pub(super) fn created(&mut self, now: Tick, actions: &mut Actions<I>) {
        self.end_creation();
        self.cover(now, actions);
    }

    pub(super) fn create_failed(&mut self, now: Tick, worker: WorkerId, actions: &mut Actions<I>) {
        self.end_creation();
        self.workers[worker.index()] = Worker::gone();
        self.nr_workers -= 1;
        self.nr_starting -= 1;
        self.manage.not_before = now + self.config.create_cooldown;
        self.cover(now, actions);
    }

    /// The thread runs and will look. One that starts into a closing pool looks as well, and leaves.
    pub(super) fn started(&mut self, worker: WorkerId) {
        self.set_awake(worker);
    }

    /// The engine's manager thread looks: it makes the worker that nobody else can make.
    pub(super) fn manager_look(&mut self, now: Tick, inbox: bool, actions: &mut Actions<I>) {
        self.manage.manager_thread_comes = false;
        self.manage.manager_thread_waits = false;
        if !inbox && !self.has_items_waiting() {
            self.cover(now, actions);
            return;
        }
        if let Some(worker) = self.wants_spare(now, None) {
            actions.verdict = Verdict::Create(worker);
            return;
        }
        if self.nr_idle() == 0 && self.nr_starting == 0 && self.may_create() {
            // Still cooling down: the manager keeps the baton and comes again.
            self.manage.manager_thread_comes = true;
            self.manage.manager_thread_waits = true;
            actions.retry_at = Some(self.manage.not_before);
            return;
        }
        self.cover(now, actions);
    }

    // ---- culling ----

    /// More idle workers than the floor, and too many of them beside the busy ones.
    pub(super) fn too_many_workers(&self) -> bool {
        let idle = self.nr_idle() + u32::from(self.is_creating());
        let busy = self.nr_workers.saturating_sub(idle);
        let Some(above) = idle.checked_sub(self.config.idle_floor).filter(|&n| n > 0) else { return false };
        !self.config.idle_ratio || above * limits::IDLE_WORKERS_RATIO >= busy
    }

    pub(super) fn arm_cull(&mut self, actions: &mut Actions<I>) {
        if self.manage.cull_armed || !self.too_many_workers() {
            return;
        }
        let Some(oldest) = self.idle.iter().find(|&&w| !self.is_shielded(w)) else { return };
        self.manage.cull_armed = true;
        actions.cull_at = Some(self.workers[oldest.index()].last_active + self.config.idle_timeout);
    }

    /// A worker that somebody without the lock may be about to wake: culling leaves it alone (invariant
    /// `B3 no cull of the owed`).
    fn is_shielded(&self, worker: WorkerId) -> bool {
        let flagged = self.config.claim == ClaimPolicy::Flag && self.workers[worker.index()].picked;
        flagged || self.standby == Some(Sleeper::Worker(worker))
    }

    pub(super) fn cull(&mut self, now: Tick, actions: &mut Actions<I>) {
        self.manage.cull_armed = false;
        while self.too_many_workers() && actions.wake.len() < super::action::WAKES_MAX {
            let Some(&oldest) = self.idle.iter().find(|&&w| !self.is_shielded(w)) else { break };
            let idle_for = now.since(self.workers[oldest.index()].last_active);
            if idle_for < self.config.idle_timeout {
                break;
            }
            self.kill(oldest, actions);
        }
        self.arm_cull(actions);
    }

    /// Tells a sleeping worker to end.
    pub(super) fn kill(&mut self, worker: WorkerId, actions: &mut Actions<I>) {
        self.leave_idle(worker);
        self.workers[worker.index()].state = State::Dying;
        self.nr_workers -= 1;
        actions.wake.push(Sleeper::Worker(worker));
    }

    // ---- watching ----

    /// Whether a woken worker should watch instead of joining in: somebody runs items and claimed some just now.
    pub(super) fn may_watch(&self, now: Tick) -> bool {
        let policy = self.config.cover != CoverPolicy::Eager && !self.is_backlog_full();
        let lively = now.since(self.last_claim) < limits::WATCH_INTERVAL.0;
        policy
            && !self.config.managed
            && self.is_held()
            && lively
            && self.watch.is_none()
            && self.nr_awake == 0
    }

    /// Whether some worker is inside an item that does not block: it holds the baton, and can be watched.
    pub(super) fn is_held(&self) -> bool {
        self.nr_busy > self.nr_blocked
    }

    /// Whether so much is queued that a second worker joins in at once.
    pub(super) fn is_backlog_full(&self) -> bool {
        match self.config.cover {
            CoverPolicy::Backlog(limit) => self.worklist.len() >= limit.max(1),
            _ => false,
        }
    }

    /// Whether the watcher that looks may go on watching: nothing is queued, or somebody it watches will come for it.
    pub(super) fn watch_suffices(&self) -> bool {
        self.worklist.is_empty() || self.is_held() && !self.is_backlog_full()
    }

    pub(super) fn begin_watch(&mut self, worker: WorkerId, progress: u64, actions: &mut Actions<I>) {
        self.workers[worker.index()].state = State::Watching;
        let interval = limits::WATCH_INTERVAL.0;
        self.watch = Some(Watch { worker, interval, progress, idle_looks: 0 });
        actions.verdict = Verdict::Watch(interval);
    }

    /// The watcher's time-out has passed: join in, go on watching, or go back to sleep.
    pub(super) fn watch_look(
        &mut self,
        worker: WorkerId,
        progress: u64,
        inbox: bool,
        actions: &mut Actions<I>,
    ) {
        let Some(mut watch) = self.watch.filter(|w| w.worker == worker) else {
            // Picked meanwhile: it is awake. Told to end: it leaves without taking the inbox.
            if self.workers[worker.index()].state == State::Dying {
                actions.verdict = Verdict::Exit;
            }
            return;
        };
        let pending = inbox || !self.worklist.is_empty() || self.has_batches();
        let started = progress.wrapping_sub(watch.progress);
        watch.progress = progress;
        let slow = started.saturating_mul(limits::WATCH_ITEM_TIME.0) < watch.interval.0;
        if pending && slow && self.nr_awake == 0 {
            self.watch = None;
            self.set_awake(worker);
            // What a stuck worker has claimed and not started is taken back from it.
            actions.recall |= self.has_batches();
            return;
        }
        let idle_look = started == 0 && !pending;
        watch.idle_looks = if idle_look { watch.idle_looks + 1 } else { 0 };
        if idle_look && (self.is_held() || watch.idle_looks >= limits::WATCH_IDLE_LOOKS) {
            // The busy ones are inside long items (the next submission wakes us at once), or there is nothing to do.
            self.watch = None;
            self.set_awake(worker);
            actions.verdict = Verdict::Rest { spin: false };
            return;
        }
        watch.interval = Span((watch.interval.0 * 2).min(limits::WATCH_INTERVAL.1.0));
        self.watch = Some(watch);
        actions.verdict = Verdict::Watch(watch.interval);
    }
}
