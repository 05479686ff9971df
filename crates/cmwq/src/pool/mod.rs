//! Pools: threads that share a worklist.

mod awaited;
mod cells;
mod directory;
mod held;
mod hold;
mod leased;
mod links;
mod near;
mod node;
mod pwq;
mod real_time;
mod record;
mod registry;
mod saturation;
mod shape;
mod transitions;

pub(crate) use awaited::Awaited;
pub use cells::WakeVia;
pub(crate) use cells::{Backend, WorkerCell};
pub(crate) use directory::withdraw;
pub(crate) use held::{HeldBack, held_back, limit_of};
pub(crate) use hold::{Filled, Hold, Linger};
pub(crate) use near::Near;
pub(crate) use node::{Membership, Node};
use pwq::PwqHome;
pub(crate) use pwq::{Pwq, leave_room};
pub use real_time::RealTime;
pub(crate) use registry::{PoolKey, Registry};
pub(crate) use saturation::{Saturation, Waiting};
#[cfg(not(feature = "bench"))]
pub(crate) use shape::Shape;
#[cfg(feature = "bench")]
pub use shape::Shape;

use crate::engine::Shared;
use crate::item::{Handle, Header};
use crate::memory::{self, NoMemory};
use crate::stats::{Counter, Hint};
use crate::steps::{Step, Steps};
use crate::worker::WaitPolicy;
use cmwq_core::id::{PwqId, Sleeper, WorkerId};
use cmwq_core::pool::record::{Change, Recorder};
use cmwq_core::pool::{Actions, PoolConfig, PoolCore};
use cmwq_core::pwq::Limit;
use cmwq_core::time::Tick;
use cmwq_ring::sync::prefetch_for_write;
use cmwq_ring::{CacheLine, Inbox, Lock, RoomCell, Waked};
use cmwq_sys::futex::LinuxFutex;
use cmwq_sys::policy::SchedPolicy;
use cmwq_sys::topology::CpuSet;
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

/// What the pool's lock guards.
pub(crate) struct Guarded {
    pub(crate) core: PoolCore<Handle>,
    pub(crate) actions: Actions<Handle>,
    /// What `listed` and `wants_reports` were last set to.
    listed: bool,
    wants_reports: bool,
    /// What is to be sent to pwqs of other pools after unlock.
    posts: Vec<node::Post>,
    /// The worker that may take single items without the lock, while the inbox says so.
    leaseholder: Option<WorkerId>,
    /// Writes down every step of the core, if it was asked to.
    recorder: Option<Box<Recorder>>,
    /// Every pwq of this pool, by number, and whether a queue uses it. Queues and items hold their addresses.
    pwqs: Vec<(PwqHome, bool)>,
}

/// What the pwqs of one queue have in common.
pub(crate) struct Joining {
    /// The queue's number.
    pub(crate) id: u64,
    /// How many items may be pending, if that is limited.
    pub(crate) room: Option<Arc<RoomCell>>,
    /// Where the first item that waits behind the limit is noted, if that is told.
    pub(crate) saturation: Option<Arc<Saturation>>,
    /// Whether a worker whose item waits for one of these may run it.
    pub(crate) run_on_wait: bool,
}

/// Where a new pwq has its room from.
pub(crate) enum JoinLimit {
    /// A limit of its own.
    Own(u32),
    /// The counts of a node.
    Node(Membership),
}

impl JoinLimit {
    fn parts(self) -> (Limit, Option<Membership>) {
        match self {
            JoinLimit::Own(max_active) => (Limit::Own(max_active), None),
            JoinLimit::Node(membership) => (Limit::Node, Some(membership)),
        }
    }
}

/// How a pool is set up. All `I`: immutable.
pub(crate) struct PoolSetup {
    pub(crate) config: PoolConfig,
    pub(crate) shape: Shape,
    pub(crate) wait: WaitPolicy,
    pub(crate) wake_via: WakeVia,
    /// Whether wakers issue wake-ups that another has claimed.
    pub(crate) help: bool,
    /// Whether workers look after each item for what it has left behind.
    pub(crate) check_items: bool,
    /// Workers run on these CPUs; empty: wherever the system puts them.
    pub(crate) affinity: CpuSet,
    /// What its threads ask of the system; with it, no item waits for a stopped thread.
    pub(crate) real_time: Option<SchedPolicy>,
    pub(crate) steps: Steps,
    /// Bytes of a recording of what threads do to its words.
    pub(crate) record: Option<usize>,
    /// The first part of its workers' names.
    pub(crate) thread_name: String,
    pub(crate) name: String,
}

/// One pool. Legend: `I` immutable, `L` pool lock, `W` by the protocol of its word.
pub(crate) struct Pool {
    /// W: what has been submitted and not yet seen under the lock.
    inbox: CacheLine<Inbox<Header>>,
    /// L.
    lock: CacheLine<Lock<Guarded, LinuxFutex>>,
    /// A mirror of "the worklist has items", for spinning workers of the older shapes.
    listed: CacheLine<Hint>,
    /// A mirror of "somebody waits for ends to be reported", for workers that spin before they report.
    wants_reports: Hint,
    /// I: whether a submission is one push, and the wake-up that it owes.
    plain: bool,
    /// I, with words of its own.
    real_time: Option<real_time::InRealTime>,
    /// I: where its workers are seen.
    pub(crate) near: Near,
    /// Whether a queue that uses or used it lets waiters run its items.
    run_on_wait: Hint,
    /// W: what the leaseholder runs; on a line that only it writes.
    leased: CacheLine<leased::Leased>,
    cells: cells::Cells,
    /// W: what threads did to the words, if it is recorded.
    transitions: Option<transitions::Transitions>,
    /// I.
    pub(crate) setup: PoolSetup,
    /// I: the pool itself, for those who need it longer than the queue that led to it.
    pub(crate) this: Weak<Pool>,
    /// I: the engine, for its manager thread and its events.
    pub(crate) engine: Weak<Shared>,
    /// When the manager must look here; see the engine's manager.
    pub(crate) summons: crate::engine::Summons,
    pub(crate) created: Counter,
    pub(crate) create_failures: Counter,
    pub(crate) exited: Counter,
    /// Wake-ups issued by submissions.
    pub(crate) submit_wakes: Counter,
    /// Wake-ups issued by anyone.
    pub(crate) wakes: Counter,
}

// SAFETY: items are reached only through the protocols of W1, W3, W5; raw pwq addresses point into this pool's
// own boxes.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

impl Pool {
    pub(crate) fn new(setup: PoolSetup, engine: Weak<Shared>) -> Arc<Pool> {
        let guarded = Guarded {
            core: PoolCore::new(setup.config),
            actions: Actions::default(),
            listed: false,
            wants_reports: false,
            posts: Vec::new(),
            leaseholder: None,
            recorder: None,
            pwqs: Vec::new(),
        };
        let real_time = setup.real_time.map(real_time::InRealTime::new);
        // L2 lent priority.
        let lock = if real_time.is_some() { Lock::inheriting(guarded) } else { Lock::new(guarded) };
        Arc::new_cyclic(|this| Pool {
            this: Weak::clone(this),
            inbox: CacheLine(Inbox::new(Sleeper::Manager)),
            lock: CacheLine(lock),
            plain: setup.shape == Shape::Inbox && real_time.is_none(),
            real_time,
            listed: CacheLine::default(),
            wants_reports: Hint::default(),
            near: Near::take(),
            run_on_wait: Hint::default(),
            leased: CacheLine::default(),
            cells: cells::Cells::new(),
            transitions: setup.record.map(transitions::Transitions::new),
            setup,
            engine,
            summons: crate::engine::Summons::default(),
            created: Counter::default(),
            create_failures: Counter::default(),
            exited: Counter::default(),
            submit_wakes: Counter::default(),
            wakes: Counter::default(),
        })
    }

    /// Takes the lock.
    pub(crate) fn hold(&self, now: Tick) -> Hold<'_> {
        Hold::new(self, self.lock.lock(), now)
    }

    /// The calling thread is at a step of this pool.
    #[inline(always)]
    pub(crate) fn at(&self, step: Step, whom: Option<Sleeper>) {
        self.setup.steps.at(step, &self.setup.name, whom);
    }

    pub(crate) fn cell(&self, worker: WorkerId) -> &WorkerCell {
        self.cells.get(worker)
    }

    pub(crate) fn cells(&self) -> impl Iterator<Item = (WorkerId, &WorkerCell)> {
        self.cells.iter()
    }

    /// Makes the cell of a worker to be created.
    pub(crate) fn make_cell(&self, worker: WorkerId) -> std::io::Result<()> {
        self.cells.make(worker, self.setup.wake_via)
    }

    /// A pwq for a queue: one whose queue is gone and whose last item has been reported, or a new one.
    /// Where memory for a new one is refused, nothing has happened.
    pub(crate) fn join(&self, queue: &Joining, limit: JoinLimit) -> Result<NonNull<Pwq>, NoMemory> {
        if queue.run_on_wait {
            self.run_on_wait.set(true);
        }
        let mut guard = self.lock.lock();
        let Guarded { core, pwqs, recorder, .. } = &mut *guard;
        let (limit, node) = limit.parts();
        let is_free = |(pwq, used): &&mut (PwqHome, bool)| {
            // SAFETY: L1 one holder: the guard is held.
            !*used && core.gate(pwq.id).is_unused() && unsafe { pwq.is_quiet() }
        };
        let free = pwqs.iter_mut().find(is_free);
        if let Some((pwq, used)) = free {
            *used = true;
            core.reuse_pwq(pwq.id, limit);
            if let Some(recorder) = recorder {
                recorder.reuse_pwq(pwq.id, limit);
            }
            // SAFETY: L1 one holder; its last item has been reported.
            unsafe { pwq.set_up(node, queue) };
            // The new queue's arrivals begin at zero.
            pwq.departures.reset();
            return Ok(pwq.address());
        }
        let place = memory::room(1)?;
        let pwq = PwqHome::new(place, Pwq::new(self, core.add_pwq(limit)));
        if let Some(recorder) = recorder {
            recorder.add_pwq(limit);
        }
        // SAFETY: L1 one holder; it is new.
        unsafe { pwq.set_up(node, queue) };
        let address = pwq.address();
        pwq.message.pwq.set(Some(address));
        pwqs.push((pwq, true));
        drop(guard);
        directory::enter(address, &self.this);
        Ok(address)
    }

    /// The queue of a pwq is gone; nothing of it is queued, though the end of its last items may not be reported yet.
    pub(crate) fn leave(&self, pwq: NonNull<Pwq>) {
        let mut guard = self.lock.lock();
        if let Some((_, used)) = guard.pwqs.iter_mut().find(|(p, _)| p.address() == pwq) {
            *used = false;
        }
    }

    /// Tells the processor that a push follows.
    #[inline]
    pub(crate) fn expect_push(&self) {
        if self.setup.shape == Shape::Inbox {
            prefetch_for_write(&raw const *self.inbox);
        }
    }

    /// Step P3 and P4 of a submission: pushes an item whose PENDING and fields are the caller's, and issues the
    /// wake-up
    /// the push may owe.
    ///
    /// # Safety
    /// W1 one claimer: the caller owns the item. W5 pending keeps alive: a reference goes with it.
    #[inline]
    pub(crate) unsafe fn submit(&self, item: NonNull<Header>, pwq: PwqId) {
        if !self.plain {
            // SAFETY: passed on.
            return unsafe { self.submit_otherwise(item, pwq) };
        }
        // SAFETY: passed on.
        let owed = unsafe { self.inbox.push(item, pwq) };
        self.note(|| Change::Pushed(owed));
        self.at(Step::Pushed, owed);
        if let Some(sleeper) = owed {
            self.submit_wakes.add(1);
            self.wake(sleeper);
        }
    }

    /// # Safety
    /// As for [`Pool::submit`].
    #[cold]
    #[inline(never)]
    unsafe fn submit_otherwise(&self, item: NonNull<Header>, pwq: PwqId) {
        match &self.real_time {
            // SAFETY: passed on.
            Some(own) => unsafe { self.submit_in_real_time(own, item, pwq) },
            // SAFETY: passed on.
            None => unsafe { self.submit_locked(item) },
        }
    }

    /// Wakes a sleeper of this pool; outside the lock, unless in real time.
    pub(crate) fn wake(&self, sleeper: Sleeper) -> bool {
        match sleeper {
            Sleeper::Worker(worker) => {
                let stop = || {
                    self.note(|| Change::Claimed(sleeper));
                    self.at(Step::Claimed, Some(sleeper));
                };
                let issued = self.cell(worker).wake.wake_stopping(self.setup.help, stop) != Waked::Nothing;
                if issued {
                    self.note(|| Change::Issued(sleeper));
                }
                self.wakes.add(u64::from(issued));
                issued
            }
            Sleeper::Manager => {
                self.summons.call();
                if let Some(engine) = self.engine.upgrade() {
                    self.at(Step::Claimed, Some(sleeper));
                    engine.manager.wake();
                    self.note(|| Change::Issued(sleeper));
                }
                true
            }
        }
    }

    /// Whether there is something for a worker that spins: an item, or somebody who waits for its report. A hint.
    pub(crate) fn poll(&self) -> bool {
        self.poll_items() || self.wants_reports.get()
    }

    /// The same for a worker that has nothing to report. A hint.
    pub(crate) fn poll_items(&self) -> bool {
        if self.setup.shape == Shape::Inbox { self.inbox.has_items() } else { self.listed.get() }
    }

    /// Leaseholder: whether it should try to take an item. A hint.
    pub(crate) fn poll_leased(&self, pwq: PwqId) -> bool {
        !self.inbox.is_leased(pwq) || self.wants_reports.get()
    }

    /// Leaseholder, inside no item: takes an item without the lock. `None`: none is there, or the lease has ended.
    pub(crate) fn take_leased(&self, pwq: PwqId) -> Option<Handle> {
        // Before the take: whoever drains the inbox after it must not find the item that has ended.
        self.leased.clear();
        let item = Handle(self.inbox.take_one(pwq)?);
        self.note(|| Change::TookOne(pwq));
        self.lend(item);
        Some(item)
    }

    /// Leaseholder: it will be inside this item.
    fn lend(&self, item: Handle) {
        // SAFETY: W5 pending keeps alive: taken, and not started.
        if unsafe { item.0.as_ref() }.vtable.owned_by_caller {
            self.leased.set(item, crate::item::function_of(item));
        }
    }

    /// Items started so far, over all workers.
    pub(crate) fn progress(&self) -> u64 {
        self.cells().map(|(_, cell)| cell.stats.started.get()).fold(0, u64::wrapping_add)
    }
}
