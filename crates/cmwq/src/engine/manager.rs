//! The manager thread: makes a pool's first worker, tries again where creation failed, culls idle workers, ends what
//! its owner left on a worker, and shuts the engine down. It sleeps whenever nothing of that is due.

use super::summons::{NEVER, Plan};
use super::{EngineEvent, Orphan, Shared};
use crate::pool::{Backend, Pool, Waiting, WakeVia};
use crate::stats::Counter;
use crate::steps::Step;
use crate::worker::clock;
use cmwq_core::pool::{Event, Verdict};
use cmwq_core::time::{Span, Tick};
use cmwq_ring::sync::{AtomicU32, Ordering};
use cmwq_ring::{Lock, WakeCell};
use cmwq_sys::futex::LinuxFutex;
use std::sync::Arc;

/// How often orphaned queues are looked at while there are any.
const ORPHAN_INTERVAL: Span = Span::from_ms(1);

/// The engine's side of its manager thread.
pub(crate) struct Manager {
    wake: WakeCell<Backend>,
    plan: Plan,
    /// The engine's owner is gone.
    ending: AtomicU32,
    /// Queues whose last handle was dropped where it could not wait.
    orphans: Lock<Vec<Orphan>, LinuxFutex>,
    /// Items that wait, to be told about.
    waiting: Lock<Vec<Waiting>, LinuxFutex>,
    pub(crate) wakes: Counter,
}

impl Manager {
    pub(crate) fn new(via: WakeVia) -> std::io::Result<Manager> {
        Ok(Manager {
            wake: WakeCell::new(Backend::new(via)?),
            plan: Plan::default(),
            ending: AtomicU32::new(0),
            orphans: Lock::new(Vec::new()),
            waiting: Lock::new(Vec::new()),
            wakes: Counter::default(),
        })
    }

    /// Makes the manager look.
    pub(crate) fn wake(&self) {
        self.wake.wake(true);
    }

    /// Whether the manager, which has been given a time, must be woken for it.
    pub(super) fn is_planned_after(&self, at: Tick) -> bool {
        self.plan.is_after(at)
    }

    /// The engine's owner is gone: shut down.
    pub(crate) fn end(&self) {
        // Ordering: read-modify-writes on both sides, as in `Summons::call`.
        self.ending.swap(1, Ordering::AcqRel);
        self.wake();
    }

    fn is_ending(&self) -> bool {
        // Ordering: pairs with `end`.
        self.ending.fetch_add(0, Ordering::AcqRel) != 0
    }

    /// Has the manager tell the program that a queue is saturated.
    pub(crate) fn tell_later(&self, waiting: Waiting) {
        self.waiting.lock().push(waiting);
        self.wake();
    }

    /// Leaves a queue to the manager, which frees it when nothing of it is queued or runs.
    pub(crate) fn adopt(&self, orphan: Orphan) {
        self.orphans.lock().push(orphan);
        self.wake();
    }
}

impl Pool {
    /// Sees to it that the manager looks here at this time.
    pub(crate) fn summon_at(&self, at: Tick, cull: bool) {
        self.summons.note(at, cull);
        let Some(engine) = self.engine.upgrade() else { return };
        if engine.manager.plan.is_after(at) {
            engine.manager.wake();
        }
    }
}

/// The body of the manager thread.
pub(super) fn run(engine: &Arc<Shared>) {
    cmwq_sys::thread::sleep_exactly();
    let manager = &engine.manager;
    loop {
        // Announce, then look, then sleep: whoever asks after the look finds the announcement and wakes us.
        manager.wake.announce();
        manager.plan.begin();
        if manager.is_ending() && engine.try_end() {
            tell_waiting(engine);
            return;
        }
        let due = look_at_all(engine);
        manager.plan.settle(due);
        let now = clock::now();
        let timeout = (due != NEVER).then(|| due.since(now).to_duration());
        manager.wake.park(timeout, cmwq_sys::clock::now);
        manager.wakes.bump();
    }
}

fn tell_waiting(engine: &Shared) {
    let waiting = std::mem::take(&mut *engine.manager.waiting.lock());
    waiting.into_iter().for_each(|waiting| engine.tell(&waiting.into()));
}

/// Serves whatever is due; answers when the next thing is.
fn look_at_all(engine: &Arc<Shared>) -> Tick {
    tell_waiting(engine);
    engine.timers.fire();
    let mut next = engine.timers.next().unwrap_or(NEVER);
    for pool in engine.all_pools() {
        next = next.min(serve(engine, &pool));
    }
    let orphans_left = engine.manager.bury_orphans();
    if orphans_left || engine.manager.is_ending() {
        next = next.min(clock::now() + ORPHAN_INTERVAL);
    }
    next
}

impl Manager {
    /// Frees orphaned queues that are quiet. Whether some are left.
    pub(super) fn bury_orphans(&self) -> bool {
        let mut quiet = Vec::new();
        let mut orphans = self.orphans.lock();
        let mut at = 0;
        while at < orphans.len() {
            if orphans[at].is_quiet() { quiet.push(orphans.swap_remove(at)) } else { at += 1 }
        }
        let left = !orphans.is_empty();
        drop(orphans);
        drop(quiet);
        left
    }
}

fn serve(engine: &Shared, pool: &Pool) -> Tick {
    let now = clock::now();
    let called = pool.summons.take_call();
    if pool.summons.take_retry(now) || called {
        pool.at(Step::Looking, None);
        look_after(pool);
    }
    if pool.summons.take_cull(now) {
        pool.at(Step::Culling, None);
        let mut hold = pool.hold(clock::now());
        let before = hold.core().nr_workers();
        hold.step(Event::Cull);
        let culled = before - hold.core().nr_workers();
        hold.release();
        if culled > 0 {
            engine.tell(&EngineEvent::WorkersCulled { pool: pool.setup.name.clone(), count: culled });
        }
    }
    pool.summons.next()
}

/// The pool has work and nobody who could make a worker.
fn look_after(pool: &Pool) {
    let mut hold = pool.hold(clock::now());
    let inbox = hold.inbox_has_items();
    hold.step(Event::ManagerLook { inbox });
    if let Verdict::Create(worker) = hold.verdict() {
        hold.release();
        let created = pool.create_worker(worker);
        let mut hold = pool.hold(clock::now());
        hold.step(if created { Event::Created(worker) } else { Event::CreateFailed(worker) });
        hold.release();
    } else {
        hold.release();
    }
}
