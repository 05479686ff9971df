//! Choosing what a queue is.

use super::inner::{Joint, QueueInner, Slot};
use super::limits::{Kind, Limits, checked_max};
use super::{Owner, Queue};
use crate::engine::{BuildError, Engine};
use crate::memory::{self, NoMemory};
use crate::pool::{JoinLimit, Joining, PoolKey, Saturation, Shape};
use cmwq_core::pwq::min_active_default;
use cmwq_ring::sync::{AtomicU32, Ordering};
use cmwq_ring::{Arrivals, CacheLine, Listing, RoomCell};
use cmwq_sys::policy::SchedPolicy;
use cmwq_sys::topology::{CpuId, Pod, Scope};
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::Arc;

/// A number for a queue, from 1. Unique in the process: an item of one engine may use the queues of another.
fn new_id() -> u64 {
    // The real one also in a model: all schedules of a process share it.
    static LAST: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
    // Ordering: relaxed: a number, ordering nothing.
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// The largest `max_pending`.
const MAX_PENDING_MAX: u32 = 1 << 30;

/// Builds a [`Queue`]. Without further settings it is the kernel's unbound queue: items start as soon as a worker is
/// available, at most 1024 at a time, in pods of about 8 cores that share a cache.
///
/// An unbound queue does not look whether its items block: a thousand sleeping items may mean a thousand threads.
#[derive(Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct QueueBuilder {
    engine: Engine,
    name: String,
    kind: Kind,
    max_active: u32,
    min_active: Option<u32>,
    scope: Scope,
    strict: bool,
    max_pending: u32,
    real_time: Option<SchedPolicy>,
    run_on_wait: bool,
}

impl QueueBuilder {
    pub(crate) fn new(engine: Engine, name: String) -> Self {
        let (kind, scope) = (Kind::Unbound, Scope::default());
        QueueBuilder {
            engine,
            name,
            kind,
            max_active: 0,
            min_active: None,
            scope,
            strict: false,
            max_pending: 0,
            real_time: None,
            run_on_wait: false,
        }
    }

    /// Items run on the CPU they are submitted from, one at a time while they do not block (the kernel's
    /// `WQ_PERCPU`):
    /// another starts when the running one enters [`blocking`](crate::blocking) or waits through this crate.
    pub fn per_cpu(mut self) -> Self {
        self.kind = Kind::PerCpu;
        self
    }

    /// Items run in the pod of the CPU they are submitted from (the kernel's `WQ_UNBOUND`); the default.
    pub fn unbound(mut self) -> Self {
        self.kind = Kind::Unbound;
        self
    }

    /// Items run one at a time and in the order in which they were queued, whatever CPUs they are queued from (the
    /// kernel's ordered workqueue). What happens before one submission and the next decides the order; submissions
    /// that nothing orders run one after the other all the same. Neither `max_active` nor the scope matter then: its
    /// items run in the pool of all CPUs. An unbound queue with `max_active` 1 is *not* ordered.
    pub fn ordered(mut self) -> Self {
        self.kind = Kind::Ordered;
        self
    }

    /// The most items of this queue that are started and not ended, per CPU for a per-CPU queue and in all for an
    /// unbound one: 1 to 2048, 0 stands for the default of 1024. Further ones wait, those of one pod in order.
    ///
    /// The limit of an unbound queue is split over the NUMA nodes by their CPUs, rounded up, with at least
    /// [`QueueBuilder::min_active`] for each; so the sum may be more. Pods that span nodes share a limit of their own,
    /// `max_active`. Within a node whoever waits longest in turn gets the next place, whatever pod it is in.
    ///
    /// Items that wait for each other need places at the same time: producers that can fill a queue which others depend
    /// on need a queue of their own. So do items that wait for a flush of their own queue: see
    /// [`Queue::flush`](crate::Queue::flush).
    pub fn max_active(mut self, max_active: u32) -> Self {
        self.max_active = max_active;
        self
    }

    /// How many items that depend on each other an unbound queue runs at once on each NUMA node in any case. Default 8,
    /// or `max_active` if that is less; more than `max_active` counts as that.
    pub fn min_active(mut self, min_active: u32) -> Self {
        self.min_active = Some(min_active);
        self
    }

    /// Which CPUs form a pod of an unbound queue. Default [`Scope::CacheShard`].
    pub fn scope(mut self, scope: Scope) -> Self {
        self.scope = scope;
        self
    }

    /// Whether workers stay on their pod's CPUs. Default no: items start in the pod, and the system may move the
    /// thread.
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// How many items may be queued and not started, over all CPUs; 0, the default, means any number (the kernel has no
    /// such limit). [`Queue::queue`] and its like refuse a further one with [`Refusal::Full`](crate::Refusal::Full);
    /// [`Queue::queue_wait`], [`Queue::queue_within`], [`Queue::spawn_wait`] and [`Queue::spawn_within`] wait for room.
    /// A delayed item counts from when it is queued, and is queued in any case.
    pub fn max_pending(mut self, max_pending: u32) -> Self {
        self.max_pending = max_pending;
        self
    }

    /// Whether an item that waits for one of this queue's - [`JoinHandle::join`](crate::JoinHandle::join),
    /// [`Work::flush`](crate::Work::flush) - may run it itself, on its own thread, in place of sleeping until another
    /// worker has. Default no. It does so when the awaited one is queued in the pool of the waiting one and could start
    /// at this moment: not started, not delayed, within `max_active` and in the order of an ordered queue. No other
    /// item is ever run so. A join inside [`blocking`](crate::blocking) only sleeps, and so does one that is eight such
    /// runs deep on its thread's stack.
    ///
    /// Worth it where items queue parts of their work and wait for them: no thread is woken for a part that nobody
    /// else has begun, and a pool whose threads all wait goes on. The awaited item finds its waiter's thread: its
    /// thread-local values, and whatever its waiter has locked. (The kernel has nothing of the kind.)
    pub fn run_on_wait(mut self, run_on_wait: bool) -> Self {
        self.run_on_wait = run_on_wait;
        self
    }

    /// Items run on threads of this policy, in pools of their own, and none of them waits for a stopped thread while a
    /// worker sleeps that could take it: not for another submission that has been preempted before it wakes
    /// the worker, nor for a worker that has been preempted before, in or after an item of its own. Who is preempted
    /// while it holds the pool's lock is lent the priority of those who wait for it. All that costs wake-ups: each
    /// submission looks whether the worker it needs is up, workers take one item at a time and sleep at once
    /// when there is none. The kernel has no such attribute; its nearest is `WQ_HIGHPRI`, which sets a nice level.
    ///
    /// The priority should be above that of whatever may keep the CPUs busy: a thread that is preempted inside an item
    /// goes on when it is let, and so do the workers. An item that lowers its own thread's priority leaves a worker
    /// behind that others may wait for at the lock.
    ///
    /// `build` makes the first threads of a new pool, waits until one has run, and [`Queue::real_time`] tells what they
    /// got. Outside the property: the memory allocator ([`Queue::spawn`] allocates, [`Queue::queue`] does not), timers
    /// of delayed items (an ordinary thread has them), the making of further threads, and waiting inside an item, which
    /// takes an ordinary lock. Pods do not share `max_active`: each has it to itself.
    pub fn real_time(mut self, policy: SchedPolicy) -> Self {
        self.real_time = Some(policy);
        self
    }

    /// Makes the queue. Takes the engine's and the pools' locks for a moment; creates no thread, and does
    /// not block, unless in [real time](QueueBuilder::real_time).
    ///
    /// # Errors
    /// [`BuildErrorKind::Setting`](crate::BuildErrorKind::Setting) when `max_active` is above 2048, or `max_pending`
    /// above 2^30; [`BuildErrorKind::Memory`](crate::BuildErrorKind::Memory). For a real-time
    /// queue also when the priority is out of the system's range (1 to 99) or the queue is per-CPU, and
    /// [`BuildErrorKind::Thread`](crate::BuildErrorKind::Thread) when no thread can be made.
    pub fn build(self) -> Result<Queue, BuildError> {
        let max = match self.kind {
            Kind::Ordered => 1,
            _ => checked_max(self.max_active)
                .map_err(|error| BuildError::setting(format!("queue {:?}: {error}", self.name)))?,
        };
        if self.max_pending > MAX_PENDING_MAX {
            let (name, max) = (&self.name, self.max_pending);
            let text = format!(
                "queue {name:?}: max_pending {max} is above {MAX_PENDING_MAX}; choose less, or 0 for no limit"
            );
            return Err(BuildError::setting(text));
        }
        if let Some(policy) = self.real_time {
            super::real_time::check(&self.name, policy)?;
            if self.kind == Kind::PerCpu {
                let name = &self.name;
                return Err(BuildError::setting(format!(
                    "queue {name:?}: the items of a per-CPU queue wait for one another, and so not in real time; \
                     use an unbound queue with Scope::Cpu and strict(true)"
                )));
            }
        }
        let room = (self.max_pending > 0).then(|| Arc::new(RoomCell::new(self.max_pending)));
        let min = self.min_active.map_or(min_active_default(max), |min| min.min(max));
        let shared = Arc::clone(&self.engine.owner.shared);
        let id = new_id();
        let pods = shared.topology.pods(self.pod_scope());
        // Pools in real time wait for no message of another.
        let apart = shared.setup.shape != Shape::Inbox || self.real_time.is_some();
        let (limits, joins) = Limits::new(self.kind, max, min, pods, apart);
        let refused = |refused| BuildError::memory(&self.name, &refused);
        // What has been made when memory is refused is undone by its drop: the pwqs go back to their pools.
        let arrivals = self.arrivals().map_err(refused)?;
        let name: Arc<str> = self.name.clone().into();
        // Items of an ordered queue wait by design.
        let is_told = shared.setup.on_event.is_some() && self.kind != Kind::Ordered;
        let saturation = is_told.then(|| Saturation::new(Arc::clone(&name)));
        let joining = Joining { id, room: room.clone(), saturation, run_on_wait: self.run_on_wait };
        let joints = self.joints(&joining, pods, joins).map_err(refused)?;
        let slots = self.slots(&joints, &arrivals).map_err(refused)?;
        limits.set_members(&joints);
        shared.queue_names.lock().insert(id, Arc::clone(&name));
        let inner = Arc::new(QueueInner {
            id,
            name,
            word: CacheLine::default(),
            done: AtomicU32::new(0),
            arrivals,
            listing: Listing::new(joints.len()),
            slots,
            joints,
            limits,
            room,
            has_delayed: AtomicU32::new(0),
            engine: Arc::downgrade(&shared),
        });
        let queue = Queue { owner: Arc::new(Owner { inner, engine: self.engine }) };
        if self.real_time.is_some() {
            queue.begin_real_time()?;
        }
        Ok(queue)
    }

    fn pod_scope(&self) -> Scope {
        match self.kind {
            Kind::PerCpu => Scope::Cpu,
            Kind::Unbound => self.scope,
            Kind::Ordered => Scope::System,
        }
    }

    /// The arrival counts of every CPU.
    fn arrivals(&self) -> Result<Arc<Vec<CacheLine<Arrivals>>>, NoMemory> {
        let cpus = self.engine.owner.shared.topology.cpus().len();
        let mut arrivals = memory::room(cpus)?;
        arrivals.resize_with(cpus, CacheLine::default);
        Ok(Arc::new(arrivals))
    }

    /// One pwq a pod, with the leaves of the pod's CPUs.
    fn joints(&self, queue: &Joining, pods: &[Pod], joins: Vec<JoinLimit>) -> Result<Box<[Joint]>, NoMemory> {
        let shared = &self.engine.owner.shared;
        let topology = &shared.topology;
        let leaf_of: HashMap<CpuId, u32> = topology.cpus().iter().zip(0..).collect();
        let mut joints = memory::room(pods.len())?;
        for (pod, limit) in pods.iter().zip(joins) {
            let key = if self.kind == Kind::PerCpu {
                PoolKey::PerCpu(pod.cpus.first().expect("a pod has a CPU"))
            } else if let Some(policy) = self.real_time {
                PoolKey::RealTime { pod: pod.cpus.clone(), strict: self.strict, policy }
            } else {
                PoolKey::Unbound { pod: pod.cpus.clone(), strict: self.strict }
            };
            let pool = shared.pool(key);
            let leaves = pod.cpus.iter().map(|cpu| leaf_of[&cpu]).collect();
            joints.push(Joint { pwq: pool.join(queue, limit)?, pool, leaves });
        }
        Ok(joints.into_boxed_slice())
    }

    /// Every CPU number up to the last usable one, mapped to a pwq and a leaf.
    fn slots(&self, joints: &[Joint], arrivals: &[CacheLine<Arrivals>]) -> Result<Box<[Slot]>, NoMemory> {
        let cpus = self.engine.owner.shared.topology.cpus();
        let by_leaf: HashMap<u32, usize> = joints
            .iter()
            .enumerate()
            .flat_map(|(at, j)| j.leaves.iter().map(move |&leaf| (leaf, at)))
            .collect();
        let last = cpus.last().map_or(0, |cpu| cpu.0);
        let mut usable_before = 0;
        let mut slots = memory::room(last as usize + 1)?;
        slots.extend((0..=last).map(|cpu| {
            let usable = cpus.contains(CpuId(cpu));
            let leaf = if usable { usable_before } else { cpu % cpus.len() as u32 };
            usable_before += u32::from(usable);
            let at = by_leaf[&leaf];
            let Joint { pwq, pool, .. } = &joints[at];
            let leaf = NonNull::from(&*arrivals[leaf as usize]);
            Slot { pwq: *pwq, cpu: cpu as u8, joint: at as u32, near: pool.near, leaf, usable }
        }));
        Ok(slots.into_boxed_slice())
    }
}
