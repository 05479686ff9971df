//! The core of a pool: one event in, decisions out, bounded work a call.

use super::action::{Actions, Verdict};
use super::busy::BusySet;
use super::event::Event;
use super::manage::{Manage, Watch};
use super::policy::{ClaimPolicy, CoverPolicy, PoolConfig};
use crate::id::{PwqId, Sleeper, WorkerId};
use crate::list::{Fifo, Items};
use crate::pwq::{Admission, Gate, Limit};
use crate::time::Tick;
use crate::worker::{State, Worker};
use core::hash::Hash;

/// Everything a pool's lock guards. Pure: no clock, no threads, no atomics; equal histories give equal cores.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PoolCore<I: Copy + Eq + Hash> {
    pub(super) config: PoolConfig,
    pub(super) workers: Vec<Worker<I>>,
    /// Idle workers, the most recent last: picks take the last, culling the first.
    pub(super) idle: Vec<WorkerId>,
    /// Picked workers that have not run yet ([`ClaimPolicy::Kicked`]).
    pub(super) kicked: Vec<WorkerId>,
    pub(super) worklist: Fifo<I>,
    pub(super) gates: Vec<Gate<I>>,
    /// Pwqs that have had to do with their node in this hold.
    pub(super) touched: Vec<PwqId>,
    /// Pwqs whose node is wanted by others.
    pub(super) nr_wanted: u32,
    pub(super) busy: BusySet<I>,
    /// Items punted to the worker that runs the same item.
    pub(super) nr_scheduled: u32,
    /// Items that wait behind `max_active`.
    pub(super) nr_inactive: u32,
    pub(super) nr_workers: u32,
    pub(super) nr_starting: u32,
    pub(super) nr_awake: u32,
    pub(super) nr_busy: u32,
    /// Busy or awake workers whose item blocks.
    pub(super) nr_blocked: u32,
    /// Busy workers whose item is CPU-intensive and not blocked.
    pub(super) nr_intensive: u32,
    /// Busy workers with more than one item claimed and not reported, in the order in which they claimed.
    pub(super) batches: Vec<WorkerId>,
    /// Picked workers that left the idle list and have not run yet ([`ClaimPolicy::Leave`]).
    pub(super) nr_leaving: u32,
    /// Whose stand-by mark is in the inbox, or was when it was last looked at under the lock.
    pub(super) standby: Option<Sleeper>,
    pub(super) watch: Option<Watch>,
    pub(super) manage: Manage,
    /// When items were last claimed.
    pub(super) last_claim: Tick,
    pub(super) closing: bool,
}

impl<I: Copy + Eq + Hash + core::fmt::Debug> PoolCore<I> {
    /// A pool without workers. Its inbox must start with the stand-by mark of [`Sleeper::Manager`].
    ///
    /// # Panics
    /// When the configuration allows no worker or no item per claim, or is for real time and breaks `B9 nothing in
    /// hand`.
    pub fn new(config: PoolConfig) -> Self {
        assert!(config.workers_max > 0, "a pool needs at least one worker");
        assert!(config.batch_max > 0 && config.batch_max as usize <= crate::limits::BATCH_ITEMS_MAX);
        assert!(
            !config.real_time || (config.batch_max == 1 && config.cover == CoverPolicy::Eager),
            "B9 nothing in hand: {config:?}"
        );
        PoolCore {
            config,
            workers: Vec::new(),
            idle: Vec::new(),
            kicked: Vec::new(),
            worklist: Fifo::new(),
            gates: Vec::new(),
            touched: Vec::new(),
            nr_wanted: 0,
            busy: BusySet::new(),
            nr_scheduled: 0,
            nr_inactive: 0,
            nr_workers: 0,
            nr_starting: 0,
            nr_awake: 0,
            nr_busy: 0,
            nr_blocked: 0,
            nr_intensive: 0,
            batches: Vec::new(),
            nr_leaving: 0,
            standby: Some(Sleeper::Manager),
            watch: None,
            manage: Manage::default(),
            last_claim: Tick(0),
            closing: false,
        }
    }

    /// Adds the gate of a pwq. May allocate.
    pub fn add_pwq(&mut self, limit: impl Into<Limit>) -> PwqId {
        self.gates.push(Gate::new(limit));
        PwqId(self.gates.len() as u32 - 1)
    }

    /// Gives the gate of a pwq whose queue is gone to a new queue. The gate must be empty.
    pub fn reuse_pwq(&mut self, pwq: PwqId, limit: impl Into<Limit>) {
        let gate = &mut self.gates[pwq.index()];
        assert!(gate.is_unused(), "a pwq in use cannot be given away");
        self.nr_wanted -= u32::from(gate.is_wanted());
        *gate = Gate::new(limit);
    }

    /// One event. `now` never runs backwards by more than the clocks of two CPUs differ.
    ///
    /// Inlined, so that a driver that names its event calls what serves it.
    #[inline(always)]
    pub fn step<S: Items<Item = I>>(
        &mut self,
        now: Tick,
        event: Event<I>,
        items: &mut S,
        actions: &mut Actions<I>,
    ) {
        match event {
            Event::Taken => self.standby = None,
            Event::Arrive(item) => self.arrive(items, item, actions),
            Event::Return(worker, item) => self.give_back(items, worker, item),
            Event::Finish { worker, item, pwq, owned_by_caller } => {
                self.finish(items, worker, item, pwq, owned_by_caller);
            }
            Event::Look(worker) => self.look(now, items, worker, actions),
            Event::GoIdle(worker) => self.go_idle(now, worker, actions),
            Event::Woken { worker, progress } => self.woken(now, worker, progress, actions),
            Event::WatchLook { worker, progress, inbox } => self.watch_look(worker, progress, inbox, actions),
            Event::ClaimAwaited(worker, item) => self.claim_awaited(now, items, worker, item),
            Event::Block(worker) => self.block(now, worker, actions),
            Event::Unblock(worker) => self.unblock(worker),
            Event::CpuIntensive(worker) => self.cpu_intensive(now, worker, actions),
            Event::Submitted | Event::Cover => self.cover(now, actions),
            Event::ManagerLook { inbox } => self.manager_look(now, inbox, actions),
            Event::Created(_) => self.created(now, actions),
            Event::CreateFailed(worker) => self.create_failed(now, worker, actions),
            Event::Started(worker) => self.started(worker),
            Event::Cull => self.cull(now, actions),
            Event::Cancel(item) => self.cancel(items, item),
            Event::SetMaxActive(pwq, max_active) => self.set_max_active(items, pwq, max_active),
            Event::Granted(pwq, counts) => self.granted(items, pwq, counts),
            Event::Wanted(pwq) => self.wanted(items, pwq, actions),
            Event::Close => self.close(actions),
            Event::Exited(worker) => self.exited(worker),
        }
    }

    // ---- items ----

    fn arrive<S: Items<Item = I>>(&mut self, items: &mut S, item: I, actions: &mut Actions<I>) {
        let pwq = items.pwq(item);
        let gate = &mut self.gates[pwq.index()];
        let before = gate.is_wanted();
        match gate.arrive(pwq, items, item) {
            Admission::Active => self.worklist.push_back(items, item),
            Admission::Inactive => {
                self.nr_inactive += 1;
                actions.recall |= !self.batches.is_empty();
            }
        }
        if gate.limit() == Limit::Node {
            self.note(pwq, before);
        }
    }

    fn give_back<S: Items<Item = I>>(&mut self, items: &mut S, worker: WorkerId, item: I) {
        let _ = self.forget(worker, item, items.function(item).is_some());
        self.worklist.push_front(items, item);
    }

    fn finish<S: Items<Item = I>>(
        &mut self,
        items: &mut S,
        worker: WorkerId,
        item: I,
        pwq: PwqId,
        owned: bool,
    ) {
        if self.forget(worker, item, owned) {
            self.workers[worker.index()].nr_reported += 1;
        }
        self.end(items, pwq);
    }

    /// A claimed item leaves its worker. Answers whether it was one of several.
    fn forget(&mut self, worker: WorkerId, item: I, owned: bool) -> bool {
        if owned {
            self.busy.remove(item, worker);
        }
        let slot = &mut self.workers[worker.index()];
        let Some(at) = slot.batch.iter().position(|&i| i == item) else { return false };
        slot.batch.remove(at);
        if slot.batch.len() == 1 {
            // What is left is the item it is inside, or about to be.
            self.batches.retain(|&w| w != worker);
        }
        true
    }

    fn cancel<S: Items<Item = I>>(&mut self, items: &mut S, item: I) {
        let pwq = items.pwq(item);
        if items.is_inactive(item) {
            self.nr_inactive -= 1;
            self.gates[pwq.index()].unlink(pwq, items, item);
            return;
        }
        let holder = if self.nr_scheduled == 0 {
            None
        } else {
            self.workers.iter().position(|w| w.scheduled.iter(items).any(|i| i == item))
        };
        match holder {
            Some(worker) => {
                self.workers[worker].scheduled.unlink(items, item);
                self.nr_scheduled -= 1;
            }
            None => self.worklist.unlink(items, item),
        }
        self.end(items, pwq);
    }

    // ---- an awake worker asks what to do ----

    fn look<S: Items<Item = I>>(
        &mut self,
        now: Tick,
        items: &mut S,
        worker: WorkerId,
        actions: &mut Actions<I>,
    ) {
        match self.workers[worker.index()].state {
            State::Dying => {
                // It may have withdrawn the stand-by mark of another.
                self.cover(now, actions);
                actions.verdict = Verdict::Exit;
                return;
            }
            State::Watching if self.watch_suffices() => {
                self.cover(now, actions);
                actions.verdict =
                    Verdict::Watch(self.watch.map_or(crate::limits::WATCH_INTERVAL.0, |w| w.interval));
                return;
            }
            State::Watching => {
                self.watch = None;
                self.set_awake(worker);
            }
            State::Busy => self.set_awake(worker),
            State::Awake => {}
            State::Gone | State::Starting | State::Idle => {
                unreachable!("{worker} looks while it does not run")
            }
        }
        let has_own = !self.workers[worker.index()].scheduled.is_empty();
        let others_run = self.nr_running() > 1 && self.config.managed;
        if !has_own && self.worklist.is_empty() && self.has_items_waiting() {
            actions.recall = true;
            actions.verdict = Verdict::Again;
            return;
        }
        if !has_own && (self.worklist.is_empty() || others_run) {
            actions.verdict = self.nothing_to_do(worker, actions);
            return;
        }
        if !self.closing
            && let Some(created) = self.wants_spare(now, Some(worker))
        {
            actions.verdict = Verdict::Create(created);
            return;
        }
        self.claim(items, worker, actions);
        if actions.batch.is_empty() {
            // Everything on the worklist was punted to the workers that run the same items.
            actions.verdict = self.nothing_to_do(worker, actions);
            return;
        }
        actions.verdict = Verdict::Run;
        self.last_claim = now;
        let slot = &mut self.workers[worker.index()];
        slot.state = State::Busy;
        slot.last_active = now;
        self.nr_awake -= 1;
        self.nr_busy += 1;
        self.cover(now, actions);
    }

    fn nothing_to_do(&mut self, worker: WorkerId, actions: &mut Actions<I>) -> Verdict {
        if self.is_over_for(worker) {
            // Who went idle while others ran what was left leaves as well.
            self.close(actions);
            return Verdict::Exit;
        }
        Verdict::Rest { spin: self.nr_awake == 1 && !self.config.real_time }
    }

    /// Moves items from the worklist to the worker: a fair share of the backlog, at most a batch.
    fn claim<S: Items<Item = I>>(&mut self, items: &mut S, worker: WorkerId, actions: &mut Actions<I>) {
        if let Some(item) = self.workers[worker.index()].scheduled.pop_front(items) {
            self.nr_scheduled -= 1;
            self.take(items, worker, item, actions);
            return;
        }
        let sharers = (self.nr_awake + self.nr_busy - self.nr_blocked).max(1);
        let mut want = (self.worklist.len() / sharers).clamp(1, self.config.batch_max);
        while want > 0 {
            let Some(item) = self.worklist.pop_front(items) else { break };
            let runner = items.function(item).and_then(|f| self.runner(items, item, f));
            if let Some(runner) = runner.filter(|&r| r != worker) {
                self.workers[runner.index()].scheduled.push_back(items, item);
                self.nr_scheduled += 1;
                // The runner must come to the lock right after the item it runs, not after its whole batch.
                actions.recall |= !self.batches.is_empty();
                continue;
            }
            let gate = &self.gates[items.pwq(item).index()];
            if !gate.inactive().is_empty() || gate.is_wanted() {
                // Others wait for an end in this pwq, or its node, to be reported: no item is held behind another.
                want = 1;
            }
            self.take(items, worker, item, actions);
            want -= 1;
        }
        if actions.batch.len() > 1 {
            let slot = &mut self.workers[worker.index()];
            slot.batch.extend(actions.batch.iter());
            slot.nr_reported = 0;
            self.batches.push(worker);
        }
    }

    fn take<S: Items<Item = I>>(
        &mut self,
        items: &mut S,
        worker: WorkerId,
        item: I,
        actions: &mut Actions<I>,
    ) {
        if let Some(function) = items.function(item) {
            self.busy.insert(item, function, worker);
        }
        actions.batch.push(item);
    }

    /// The worker inside whose function this very item is now; one that has come past it in its batch, or under a
    /// lease, is
    /// not.
    fn runner<S: Items<Item = I>>(&self, items: &S, item: I, function: usize) -> Option<WorkerId> {
        let leaseholder = items.leaseholder();
        let mut claimers = self.busy.find(item, function).filter(|&worker| Some(worker) != leaseholder);
        let runner = claimers.find(|&worker| {
            let slot = &self.workers[worker.index()];
            let place = slot.batch.iter().position(|&i| i == item);
            place.is_none_or(|at| slot.nr_reported as usize + at + 1 >= items.started(worker))
        });
        runner.or_else(|| leaseholder.filter(|_| items.is_leased(item, function)))
    }

    // ---- who looks next ----

    /// Workers that count for concurrency management: neither idle nor blocked nor CPU-intensive.
    pub fn nr_running(&self) -> u32 {
        (self.nr_awake + self.nr_busy) - self.nr_blocked - self.nr_intensive
    }

    /// Sees to it that somebody looks at what is queued and at what arrives next (invariant `B1 baton`), as soon as
    /// the policy promises (invariant `B2 cover`).
    pub(super) fn cover(&mut self, now: Tick, actions: &mut Actions<I>) {
        if self.somebody_comes() || (self.config.managed && self.nr_running() > 0) {
            return;
        }
        if !self.config.managed && self.is_held() && self.watch.is_some() && !self.is_backlog_full() {
            return;
        }
        let sleeper = match (self.pickable(), self.may_create()) {
            (Some(worker), _) => Sleeper::Worker(worker),
            (None, true) => Sleeper::Manager,
            (None, false) => return,
        };
        if !self.has_items_waiting() {
            actions.stand_by = Some(sleeper);
            self.standby = Some(sleeper);
        } else {
            self.pick(now, sleeper, actions);
        }
    }

    /// Whether somebody is on the way to look at the pool and has no item to run first.
    pub(super) fn somebody_comes(&self) -> bool {
        let prompt = !self.config.real_time && !self.manage.manager_thread_waits;
        let manager = self.manage.manager_thread_comes && (prompt || self.idle.is_empty());
        // B7 no waiting for the making: that is for idle workers. Where none is, who is being made comes.
        let (making, starting) = match self.config.real_time && !self.idle.is_empty() {
            true => (u32::from(self.manage.manager.is_some()), 0),
            false => (0, self.nr_starting),
        };
        self.nr_awake > making || starting > 0 || self.nr_leaving > 0 || !self.kicked.is_empty() || manager
    }

    /// Whether items could start if a worker came: listed ones, and those in the batches of workers that may be
    /// inside a
    /// long item. A pool that manages concurrency lets one worker run anyway.
    pub(super) fn has_items_waiting(&self) -> bool {
        !self.worklist.is_empty() || (!self.config.managed && self.has_batches())
    }

    /// The worker to wake next: the most recently idle one, else the one that watches.
    fn pickable(&self) -> Option<WorkerId> {
        let flagged = self.config.claim == ClaimPolicy::Flag;
        let idle = self.idle.iter().rev().copied().find(|w| !(flagged && self.workers[w.index()].picked));
        idle.or(self.watch.map(|w| w.worker))
    }

    /// Claims a sleeper to be woken after unlock, in the way the policy says.
    fn pick(&mut self, now: Tick, sleeper: Sleeper, actions: &mut Actions<I>) {
        actions.wake.push(sleeper);
        let Sleeper::Worker(worker) = sleeper else {
            self.manage.manager_thread_comes = true;
            return;
        };
        if self.watch.is_some_and(|w| w.worker == worker) {
            // The watcher joins in: it counts as awake from here.
            self.watch = None;
            self.set_awake(worker);
            return;
        }
        self.workers[worker.index()].picked = true;
        match self.config.claim {
            ClaimPolicy::Stay | ClaimPolicy::Flag => {}
            ClaimPolicy::Stamp => self.workers[worker.index()].last_active = now,
            ClaimPolicy::Kicked => {
                self.unlink_idle(worker);
                self.kicked.push(worker);
            }
            ClaimPolicy::Leave => {
                self.unlink_idle(worker);
                self.nr_leaving += 1;
            }
        }
    }

    // ---- sleeping and waking ----

    fn go_idle(&mut self, now: Tick, worker: WorkerId, actions: &mut Actions<I>) {
        debug_assert_eq!(self.workers[worker.index()].state, State::Awake, "{worker} goes idle");
        let slot = &mut self.workers[worker.index()];
        slot.state = State::Idle;
        slot.last_active = now;
        self.nr_awake -= 1;
        self.idle.push(worker);
        if self.is_over_for(worker) {
            self.kill(worker, actions);
            return;
        }
        self.arm_cull(actions);
        self.cover(now, actions);
    }

    fn woken(&mut self, now: Tick, worker: WorkerId, progress: u64, actions: &mut Actions<I>) {
        match self.workers[worker.index()].state {
            State::Idle => {}
            // Told to end: it leaves without taking the inbox, whose stand-by mark and items are others' to see.
            State::Dying => {
                actions.verdict = Verdict::Exit;
                return;
            }
            // Picked as a watcher, or woken late for a cycle that is over.
            State::Awake | State::Watching | State::Busy => return,
            State::Gone | State::Starting => unreachable!("{worker} was woken and does not sleep"),
        }
        self.leave_idle(worker);
        if self.may_watch(now) {
            self.begin_watch(worker, progress, actions);
        } else {
            self.workers[worker.index()].state = State::Awake;
            self.nr_awake += 1;
        }
    }

    fn unlink_idle(&mut self, worker: WorkerId) -> bool {
        let at = self.idle.iter().rposition(|&w| w == worker);
        at.map(|at| self.idle.remove(at)).is_some()
    }

    pub(super) fn leave_idle(&mut self, worker: WorkerId) {
        let picked = core::mem::take(&mut self.workers[worker.index()].picked);
        if self.unlink_idle(worker) {
            return;
        }
        if let Some(at) = self.kicked.iter().position(|&w| w == worker) {
            self.kicked.remove(at);
        } else if picked {
            self.nr_leaving -= 1;
        }
    }

    /// Any state in which the worker was not counted as awake becomes awake.
    pub(super) fn set_awake(&mut self, worker: WorkerId) {
        let slot = &mut self.workers[worker.index()];
        match slot.state {
            State::Busy => {
                self.nr_busy -= 1;
                self.nr_intensive -= u32::from(core::mem::take(&mut slot.cpu_intensive) && !slot.blocked);
                debug_assert!(!slot.blocked, "{worker} looks while its item blocks");
            }
            State::Starting => self.nr_starting -= 1,
            State::Watching | State::Idle => {}
            State::Gone | State::Awake | State::Dying => unreachable!("{worker} cannot wake from here"),
        }
        slot.state = State::Awake;
        self.nr_awake += 1;
    }

    // ---- looking in ----

    /// The configuration.
    pub fn config(&self) -> &PoolConfig {
        &self.config
    }

    /// Items on the worklist.
    pub fn worklist(&self) -> &Fifo<I> {
        &self.worklist
    }

    /// The worker slots, free ones included.
    pub fn workers(&self) -> &[Worker<I>] {
        &self.workers
    }

    /// Workers with a thread, without those told to end.
    pub fn nr_workers(&self) -> u32 {
        self.nr_workers
    }

    /// Those of them whose thread is being made or has still to start.
    pub fn nr_starting(&self) -> u32 {
        self.nr_starting
    }

    /// Workers that run or look for items.
    pub fn nr_active_workers(&self) -> u32 {
        self.nr_awake + self.nr_busy
    }

    /// The gate of a pwq.
    pub fn gate(&self, pwq: PwqId) -> &Gate<I> {
        &self.gates[pwq.index()]
    }

    /// Whether a worker holds items of a batch that others could take back, as far as the lock knows.
    pub fn has_batches(&self) -> bool {
        !self.batches.is_empty()
    }

    /// Workers that hold a batch, in the order in which they claimed. Recall the last of them first, so that the
    /// items
    /// come back to the worklist in the order in which they left it.
    pub fn batch_holders(&self) -> impl DoubleEndedIterator<Item = WorkerId> + '_ {
        self.batches.iter().copied()
    }

    /// Whether the worker has claimed several items and not reported them all.
    pub fn has_batch(&self, worker: WorkerId) -> bool {
        !self.workers[worker.index()].batch.is_empty()
    }

    /// Who stands by, as far as the lock knows.
    pub fn standby(&self) -> Option<Sleeper> {
        self.standby
    }

    /// Who watches.
    pub fn watcher(&self) -> Option<WorkerId> {
        self.watch.map(|w| w.worker)
    }

    /// Whether no caller-owned item runs.
    pub fn busy_set_is_empty(&self) -> bool {
        self.busy.is_empty()
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
