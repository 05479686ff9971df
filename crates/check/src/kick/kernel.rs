//! A pool by the kernel's rules: submission under the pool's lock, an idle list with the most recent worker in front,
//! a manager's role among the workers, culling from the far end. Each hold of the lock is one step, as it is there
//! (interrupts are off); a deferred wake-up is a step of its own.

use super::ledger::Ledger;
use super::property::{Property, Reached, Twin};
use super::setup::{SUBMITTERS_MAX, Setup, WORKERS_MAX};
use super::variant::{Rules, Variant};
use super::world::{Step, Who, World};
use crate::row::Row;

/// Where a worker stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum At {
    /// Not created.
    #[default]
    Absent,
    /// Asleep, and idle unless it has left the idle list.
    Asleep,
    /// Its wake-up has been issued; it has not locked yet.
    Woken,
    /// In the manager's role, without the lock.
    Manager,
    /// It has taken an item and owes a wake-up before it runs it.
    Owing {
        /// The item.
        item: u8,
        /// The picked worker.
        target: u8,
    },
    /// Inside an item.
    Running(u8),
    /// Its item blocks, and it owes a wake-up before it sleeps.
    BlockOwing {
        /// The item.
        item: u8,
        /// The picked worker.
        target: u8,
    },
    /// Its item blocks.
    Blocked(u8),
    /// Its thread has ended, and its memory is freed unless a reference keeps it.
    Exited,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Worker {
    pub(super) at: At,
    dying: bool,
    /// Picked and not run since.
    picked: bool,
}

/// Where a submitter stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Submitter {
    /// How many items it has queued.
    queued: u8,
    /// The worker to which it owes a wake-up.
    owes: Option<u8>,
}

/// Who makes a worker for a pool that has none. (The kernel never empties a pool; cmwq's engine has a thread for it.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum Founder {
    #[default]
    Asleep,
    Woken,
}

/// The whole pool and its threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Kernel {
    pub(super) ledger: Ledger,
    worklist: Row,
    inactive: Row,
    /// The most recently idle last.
    idle: Row,
    kicked: Row,
    pub(super) workers: [Worker; WORKERS_MAX],
    submitters: [Submitter; SUBMITTERS_MAX],
    manager: Option<u8>,
    founder: Founder,
    /// The dying worker whom the culler has still to wake.
    reaps: Option<u8>,
}

impl Kernel {
    // ---- the kernel's predicates ----

    fn nr_running(&self) -> usize {
        self.workers.iter().filter(|w| matches!(w.at, At::Running(_) | At::Owing { .. })).count()
    }

    fn needs_more_worker(&self, setup: &Setup) -> bool {
        !self.worklist.is_empty() && (!setup.managed || self.nr_running() == 0)
    }

    fn nr_idle(&self) -> u8 {
        self.idle.len() + self.kicked.len()
    }

    fn nr_workers(&self) -> u8 {
        let lives = |w: &&Worker| !matches!(w.at, At::Absent | At::Exited) && !w.dying;
        self.workers.iter().filter(lives).count() as u8
    }

    fn too_many_workers(&self, rules: &Rules) -> bool {
        let idle = self.nr_idle() + u8::from(self.manager.is_some());
        let busy = self.nr_workers().saturating_sub(idle);
        let Some(above) = idle.checked_sub(rules.floor).filter(|&n| n > 0) else { return false };
        !rules.ratio || above * 4 >= busy
    }

    // ---- picking and waking ----

    /// Under the lock: the worker to whom the caller owes a wake-up after it, if any.
    fn kick(&mut self, setup: &Setup, rules: &Rules, reached: &Reached) -> Option<u8> {
        if !self.needs_more_worker(setup) {
            return None;
        }
        if !self.kicked.is_empty() {
            // Looked at first, and its wake-up is owed already.
            return None;
        }
        let target = self.idle.last()?;
        let again = std::mem::replace(&mut self.workers[usize::from(target)].picked, true);
        match rules.variant {
            Variant::WakeUnderLock => {
                self.wake(rules, reached, target);
                None
            }
            Variant::DeferredDedup if again => None,
            Variant::KickedDedup => {
                let _ = self.idle.remove(target);
                self.kicked.push(target);
                Some(target)
            }
            variant if variant.leaves() => {
                let _ = self.idle.remove(target);
                Some(target)
            }
            _ => Some(target),
        }
    }

    /// A wake-up is issued. Waking who is awake does nothing.
    fn wake(&mut self, rules: &Rules, reached: &Reached, target: u8) {
        let worker = &mut self.workers[usize::from(target)];
        match worker.at {
            At::Asleep => worker.at = At::Woken,
            At::Exited if !rules.reference => {
                let what = "a wake-up is issued to a worker that has been freed";
                self.ledger.break_promise(Property::NoWakeOfDead, what);
            }
            At::Exited => reached.mark(Twin::Exited),
            _ => {}
        }
    }

    // ---- a worker under the lock ----

    fn look(&mut self, setup: &Setup, rules: &Rules, reached: &Reached, worker: u8) {
        if !self.needs_more_worker(setup) {
            self.go_idle(worker);
            return;
        }
        if self.nr_idle() == 0 && self.manager.is_none() {
            self.manager = Some(worker);
            self.workers[usize::from(worker)].at = At::Manager;
            return;
        }
        self.take(setup, rules, reached, worker);
    }

    fn take(&mut self, setup: &Setup, rules: &Rules, reached: &Reached, worker: u8) {
        let item = self.worklist.pop_first().expect("somebody is needed only for an item");
        self.ledger.start(setup, item);
        self.workers[usize::from(worker)].at = At::Running(item);
        if let Some(target) = self.kick(setup, rules, reached) {
            self.workers[usize::from(worker)].at = At::Owing { item, target };
        }
    }

    fn go_idle(&mut self, worker: u8) {
        self.idle.push(worker);
        self.workers[usize::from(worker)].at = At::Asleep;
    }

    fn step_woken(&mut self, setup: &Setup, rules: &Rules, reached: &Reached, worker: u8) {
        let me = &mut self.workers[usize::from(worker)];
        me.picked = false;
        if me.dying {
            me.at = At::Exited;
            reached.mark(Twin::Exited);
            return;
        }
        if !self.idle.remove(worker) {
            let _ = self.kicked.remove(worker);
        }
        self.look(setup, rules, reached, worker);
    }

    fn step_manager(&mut self, setup: &Setup, rules: &Rules, reached: &Reached, worker: u8) {
        // The lock is taken again when the creation has come to an end; a failed one is tried again unless somebody
        // has gone idle or taken the items.
        let needed = self.needs_more_worker(setup) && self.nr_idle() == 0;
        if needed {
            self.create(rules, reached);
        }
        self.manager = None;
        self.look(setup, rules, reached, worker);
    }

    fn can_create(&self, setup: &Setup) -> bool {
        self.workers[..usize::from(setup.nr_slots())].iter().any(|w| w.at == At::Absent)
    }

    /// A new worker is idle and is woken once.
    fn create(&mut self, rules: &Rules, reached: &Reached) {
        let Some(at) = self.workers.iter().position(|w| w.at == At::Absent) else { return };
        reached.mark(Twin::Created);
        self.workers[at].at = At::Woken;
        if rules.variant != Variant::LeaveAtPickAndCreate {
            self.idle.push(at as u8);
        }
    }

    fn step_end(&mut self, setup: &Setup, rules: &Rules, reached: &Reached, worker: u8, item: u8) {
        self.ledger.end(item);
        reached.mark(Twin::Ran);
        if let Some(next) = self.inactive.pop_first() {
            self.worklist.push(next);
        }
        let keeps_working = !self.worklist.is_empty() && (!setup.managed || self.nr_running() <= 1);
        if keeps_working {
            self.take(setup, rules, reached, worker);
        } else {
            self.go_idle(worker);
        }
    }

    fn step_block(&mut self, setup: &Setup, rules: &Rules, reached: &Reached, worker: u8, item: u8) {
        self.workers[usize::from(worker)].at = At::Blocked(item);
        if let Some(target) = self.kick(setup, rules, reached) {
            self.workers[usize::from(worker)].at = At::BlockOwing { item, target };
        }
    }

    fn step_worker(&mut self, setup: &Setup, rules: &Rules, reached: &Reached, worker: u8, choice: u8) {
        match self.workers[usize::from(worker)].at {
            At::Woken => self.step_woken(setup, rules, reached, worker),
            At::Manager => self.step_manager(setup, rules, reached, worker),
            At::Owing { item, target } => {
                self.workers[usize::from(worker)].at = At::Running(item);
                self.wake(rules, reached, target);
            }
            At::Running(item) if choice == 0 => self.step_end(setup, rules, reached, worker, item),
            At::Running(item) => self.step_block(setup, rules, reached, worker, item),
            At::BlockOwing { item, target } => {
                self.workers[usize::from(worker)].at = At::Blocked(item);
                self.wake(rules, reached, target);
            }
            At::Blocked(item) => self.workers[usize::from(worker)].at = At::Running(item),
            At::Absent | At::Asleep | At::Exited => unreachable!("it takes no step"),
        }
    }

    // ---- the other threads ----

    fn step_submitter(&mut self, setup: &Setup, rules: &Rules, reached: &Reached, at: u8) {
        let Submitter { queued, owes } = self.submitters[usize::from(at)];
        if let Some(target) = owes {
            self.wake(rules, reached, target);
            self.submitters[usize::from(at)].owes = None;
            self.ledger.returns(at * setup.items + queued - 1);
            return;
        }
        let item = at * setup.items + queued;
        self.submitters[usize::from(at)].queued += 1;
        let nr_active = self.worklist.len() + self.ledger.nr_running();
        self.ledger.queue(item);
        if nr_active < setup.max_active {
            self.worklist.push(item);
        } else {
            self.inactive.push(item);
            reached.mark(Twin::Limited);
        }
        let target = self.kick(setup, rules, reached);
        self.submitters[usize::from(at)].owes = target;
        if target.is_none() {
            self.ledger.returns(item);
        }
        if self.nr_workers() == 0 {
            self.founder = Founder::Woken;
        }
    }

    fn step_culler(&mut self, rules: &Rules, reached: &Reached) {
        if let Some(target) = self.reaps.take() {
            // The culler holds the worker until it has been told.
            let held = Rules { reference: true, ..*rules };
            self.wake(&held, reached, target);
            return;
        }
        let oldest = self.idle.pop_first().expect("there are too many");
        self.workers[usize::from(oldest)].dying = true;
        self.reaps = Some(oldest);
    }

    fn may_cull(&self, rules: &Rules) -> bool {
        let spared = |w: u8| rules.variant == Variant::Flag && self.workers[usize::from(w)].picked;
        self.too_many_workers(rules) && self.idle.first().is_some_and(|oldest| !spared(oldest))
    }

    // ---- looking at it ----

    fn owed(&self) -> impl Iterator<Item = u8> + '_ {
        let workers = self.workers.iter().filter_map(|w| match w.at {
            At::Owing { target, .. } | At::BlockOwing { target, .. } => Some(target),
            _ => None,
        });
        self.submitters.iter().filter_map(|s| s.owes).chain(workers)
    }

    /// Whether this worker will look at the worklist when it is woken.
    fn would_come(&self, worker: u8) -> bool {
        let Worker { at, dying, .. } = self.workers[usize::from(worker)];
        at == At::Asleep && !dying
    }

    fn is_coming(worker: &Worker) -> bool {
        worker.at == At::Woken && !worker.dying
    }

    /// Whether a sleeping worker could take an item if it were woken now.
    fn could_help(&self, setup: &Setup) -> bool {
        let sleeps = (0..setup.nr_slots()).any(|w| self.would_come(w));
        sleeps && (!setup.managed || self.nr_running() == 0)
    }
}

impl World for Kernel {
    fn boot(setup: &Setup, _: &Rules) -> Kernel {
        let mut kernel = Kernel::default();
        for worker in 0..setup.workers {
            kernel.go_idle(worker);
        }
        kernel
    }

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn steps(&self, setup: &Setup, rules: &Rules, steps: &mut Vec<Step>) {
        let step = |who, choice| Step { who, choice };
        for at in 0..setup.submitters {
            let Submitter { queued, owes } = self.submitters[usize::from(at)];
            let first = at > 0 && queued == 0 && self.submitters[usize::from(at) - 1].queued == 0;
            if !first && (owes.is_some() || queued < setup.items) {
                steps.push(step(Who::Submitter(at), 0));
            }
        }
        for at in 0..setup.nr_slots() {
            let who = Who::Worker(at);
            match self.workers[usize::from(at)].at {
                At::Absent | At::Asleep | At::Exited => {}
                At::Manager => {
                    let fails =
                        self.needs_more_worker(setup) && self.nr_idle() == 0 && !self.can_create(setup);
                    if !fails {
                        steps.push(step(who, 0));
                    }
                }
                At::Running(_) => {
                    steps.push(step(who, 0));
                    if setup.managed {
                        steps.push(step(who, 1));
                    }
                }
                _ => steps.push(step(who, 0)),
            }
        }
        if self.founder == Founder::Woken {
            steps.push(step(Who::Manager, 0));
        }
        if self.reaps.is_some() || self.may_cull(rules) {
            steps.push(step(Who::Culler, 0));
        }
    }

    fn advance(&mut self, setup: &Setup, rules: &Rules, reached: &Reached, step: Step) {
        match step.who {
            Who::Submitter(at) => self.step_submitter(setup, rules, reached, at),
            Who::Worker(at) => self.step_worker(setup, rules, reached, at, step.choice),
            Who::Manager => {
                self.founder = Founder::Asleep;
                if self.can_create(setup) && self.nr_workers() == 0 {
                    self.create(rules, reached);
                }
            }
            Who::Culler => self.step_culler(rules, reached),
        }
        self.note(reached);
    }

    fn living(&self) -> u8 {
        self.nr_workers()
    }

    fn stranded(&self, _: &Setup) -> Option<&'static str> {
        if self.worklist.is_empty() {
            return None;
        }
        let works = |w: &Worker| !matches!(w.at, At::Absent | At::Asleep | At::Exited | At::Woken);
        let someone = self.workers.iter().any(|w| works(w) || Kernel::is_coming(w));
        let owed = self.owed().any(|w| self.would_come(w));
        let founded = self.founder == Founder::Woken;
        (!someone && !owed && !founded)
            .then_some("an item is pending, nobody runs or has been woken, and no wake-up is owed")
    }

    fn held_back(&self, setup: &Setup) -> Option<&'static str> {
        let waits = self.worklist.as_slice().iter().any(|&item| self.ledger.has_returned(item));
        let someone = self.workers.iter().any(Kernel::is_coming) || self.founder == Founder::Woken;
        (waits && !someone && self.could_help(setup)).then_some(
            "an item waits for threads that may have stopped, while a worker sleeps that could take it",
        )
    }

    fn line(&self, setup: &Setup) -> String {
        let names = |row: &Row| row.as_slice().iter().map(|w| format!("w{w}")).collect::<Vec<_>>().join(" ");
        let items = |row: &Row| row.as_slice().iter().map(|i| format!("i{i}")).collect::<Vec<_>>().join(" ");
        let mut line = format!("worklist [{}]", items(&self.worklist));
        if setup.max_active < setup.nr_items() {
            line += &format!(" inactive [{}]", items(&self.inactive));
        }
        let mut idle = self.idle;
        let mut front_first = Row::default();
        while let Some(last) = idle.last() {
            front_first.push(last);
            let _ = idle.remove(last);
        }
        line += &format!(" idle_list [{}]", names(&front_first));
        if !self.kicked.is_empty() {
            line += &format!(" kicked_list [{}]", names(&self.kicked));
        }
        for (at, worker) in self.workers[..usize::from(setup.nr_slots())].iter().enumerate() {
            let state = match worker.at {
                At::Absent => continue,
                At::Asleep => "TASK_IDLE".into(),
                At::Woken => "woken".into(),
                At::Manager => "manager".into(),
                At::Owing { item, target } => format!("has i{item}, owes w{target} a wake-up"),
                At::Running(item) => format!("runs i{item}"),
                At::BlockOwing { item, target } => format!("blocks in i{item}, owes w{target} a wake-up"),
                At::Blocked(item) => format!("blocked in i{item}"),
                At::Exited => "exited".into(),
            };
            line += &format!(
                " | w{at}: {state}{}",
                if worker.dying && worker.at != At::Exited { " DIE" } else { "" }
            );
        }
        for (at, submitter) in self.submitters.iter().enumerate() {
            if let Some(target) = submitter.owes {
                line += &format!(" | s{at} owes w{target} a wake-up");
            }
        }
        line
    }

    fn step_name(&self, setup: &Setup, rules: &Rules, step: Step) -> String {
        match step.who {
            Who::Submitter(at) => match self.submitters[usize::from(at)] {
                Submitter { owes: Some(target), .. } => format!("wake_up_process(w{target})"),
                Submitter { queued, .. } => {
                    let item = at * setup.items + queued;
                    match rules.variant {
                        Variant::WakeUnderLock => format!("queue_work(i{item}): insert, kick_pool, wake"),
                        _ => format!("queue_work(i{item}): insert, kick_pool, unlock"),
                    }
                }
            },
            Who::Worker(at) => {
                let worker = &self.workers[usize::from(at)];
                match worker.at {
                    At::Woken if worker.dying => "wakes, sees WORKER_DIE, exits".into(),
                    At::Woken => "wakes, locks, leaves idle, looks".into(),
                    At::Manager => "create_worker".into(),
                    At::Owing { target, .. } | At::BlockOwing { target, .. } => {
                        format!("wake_up_process(w{target})")
                    }
                    At::Running(item) if step.choice == 0 => format!("finishes i{item}, looks"),
                    At::Running(item) => format!("i{item} blocks: wq_worker_sleeping"),
                    At::Blocked(item) => format!("i{item} runs on: wq_worker_running"),
                    At::Absent | At::Asleep | At::Exited => unreachable!("it takes no step"),
                }
            }
            Who::Manager => "makes a worker for the empty pool".into(),
            Who::Culler => match (self.reaps, self.idle.first()) {
                (Some(target), _) => format!("idle_cull: wakes w{target} to die"),
                (None, Some(oldest)) => format!("idle_cull: w{oldest} is the oldest, set DIE"),
                (None, None) => unreachable!("it takes no step"),
            },
        }
    }
}

impl Kernel {
    fn note(&self, reached: &Reached) {
        if self.ledger.pending().len() > 1 {
            reached.mark(Twin::TwoWait);
        }
        if self.worklist.is_empty() {
            return;
        }
        let comes = self.workers.iter().filter(|w| Kernel::is_coming(w)).count();
        let acts = self.workers.iter().any(|w| {
            matches!(
                w.at,
                At::Manager | At::Owing { .. } | At::BlockOwing { .. } | At::Running(_) | At::Blocked(_)
            )
        });
        if comes + self.owed().count() == 1 && !acts {
            reached.mark(Twin::OneWakeCarries);
        }
        let returned = self.worklist.as_slice().iter().any(|&item| self.ledger.has_returned(item));
        if returned && comes > 0 && (acts || self.owed().next().is_some()) {
            reached.mark(Twin::OthersCome);
        }
    }
}
