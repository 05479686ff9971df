//! Engines: pools, their manager thread, and how both come and go.

mod builder;
mod create;
mod event;
mod manager;
mod shutdown;
mod summons;
mod timers;

pub use builder::{BuildError, BuildErrorKind, EngineBuilder};
pub use event::EngineEvent;
pub(crate) use manager::Manager;
pub(crate) use shutdown::Orphan;
pub(crate) use summons::Summons;
pub(crate) use timers::{Delayed, Timers};

use crate::pool::{Pool, PoolKey, PoolSetup, Registry, Shape, WakeVia};
use crate::queue::QueueBuilder;
use crate::stats::{Counter, PoolStats, Stats};
use crate::steps::Steps;
use crate::worker::{WaitPolicy, clock};
use cmwq_core::pool::PoolConfig;
use cmwq_ring::Lock;
use cmwq_sys::futex::LinuxFutex;
use cmwq_sys::policy::SchedPolicy;
use cmwq_sys::thread::JoinHandle;
use cmwq_sys::topology::{CpuSet, Topology};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// A set of pools over the CPUs the process may use, with a manager thread. Queues are made from it.
///
/// A handle: cloning is cheap. When the last handle (queues hold one too) is gone, the engine finishes what is
/// queued and
/// ends its threads; dropping it from outside waits for that, dropping it on one of its own workers does not.
#[derive(Clone)]
pub struct Engine {
    pub(crate) owner: Arc<Owner>,
}

/// What all handles share; its drop ends the engine.
pub(crate) struct Owner {
    pub(crate) shared: Arc<Shared>,
}

/// The part of a recording that is for what threads do to words.
const WORDS_PART: usize = 4;

/// What handles and threads share. Legend: `I` immutable, `E` engine lock, others by their own protocol.
pub(crate) struct Shared {
    /// I.
    pub(crate) topology: Topology,
    /// I.
    pub(crate) setup: EngineSetup,
    /// E.
    pools: Lock<Registry, LinuxFutex>,
    pub(crate) manager: Manager,
    /// By its own lock.
    pub(crate) timers: Arc<Timers>,
    /// E: threads that nobody has waited for; a few of them may have ended.
    pub(crate) threads: Lock<Vec<JoinHandle<()>>, LinuxFutex>,
    /// E: names of queues, for diagnostics.
    pub(crate) queue_names: Lock<HashMap<u64, Arc<str>>, LinuxFutex>,
    pub(crate) panics: Counter,
    /// E: until the owner's drop takes it.
    pub(crate) manager_thread: Lock<Option<JoinHandle<()>>, LinuxFutex>,
}

/// What the builder decides. All `I`.
pub(crate) struct EngineSetup {
    pub(crate) name: String,
    pub(crate) config: PoolConfig,
    pub(crate) wait: WaitPolicy,
    pub(crate) wake_via: WakeVia,
    pub(crate) help: bool,
    pub(crate) check_items: bool,
    pub(crate) shape: Shape,
    /// Bytes of a recording of each pool.
    pub(crate) record: Option<usize>,
    pub(crate) steps: Steps,
    pub(crate) on_event: Option<event::Callback>,
}

impl Engine {
    /// An engine with the defaults of [`EngineBuilder`]: the CPUs this process may use, no threads but its manager
    /// until
    /// something is queued.
    ///
    /// # Errors
    /// When the machine cannot be read or the manager thread cannot be created.
    pub fn new() -> Result<Engine, BuildError> {
        Engine::builder().build()
    }

    /// Chooses the machine, limits and policies of an engine.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// The process's own engine, made at the first call and never ended.
    ///
    /// # Errors
    /// The first call's error, again at every later call: see [`Engine::new`].
    pub fn global() -> Result<&'static Engine, &'static BuildError> {
        static GLOBAL: OnceLock<Result<Engine, BuildError>> = OnceLock::new();
        GLOBAL.get_or_init(Engine::new).as_ref()
    }

    /// Begins a new queue. The name appears in diagnostics; names need not differ.
    pub fn queue(&self, name: impl Into<String>) -> QueueBuilder {
        QueueBuilder::new(self.clone(), name.into())
    }

    /// The machine as this engine sees it.
    pub fn topology(&self) -> &Topology {
        &self.owner.shared.topology
    }

    /// What [`EngineBuilder::record`] has kept so far, as the bytes of a file that `cmwq replay` reads. `None`: nothing
    /// is recorded.
    ///
    /// # Context
    /// Takes each pool's lock for as long as it takes to copy its recording.
    pub fn recording(&self) -> Option<Vec<u8>> {
        self.owner.shared.setup.record?;
        let pools = self.owner.shared.all_pools();
        let recordings = pools.iter().filter_map(|pool| pool.recording()).collect();
        Some(cmwq_core::pool::record::write(&recordings))
    }

    /// A snapshot of counters. Takes each pool's lock for a moment.
    pub fn stats(&self) -> Stats {
        let shared = &self.owner.shared;
        let pools = shared.all_pools().iter().map(|pool| pool_stats(pool)).collect();
        Stats { pools, panics: shared.panics.get(), manager_wakes: shared.manager.wakes.get() }
    }
}

fn pool_stats(pool: &Pool) -> PoolStats {
    let hold = pool.hold(clock::now());
    let core = hold.core();
    let (workers, active, queued) = (core.nr_workers(), core.nr_active_workers(), core.worklist().len());
    hold.release();
    PoolStats {
        name: pool.setup.name.clone(),
        workers,
        active,
        queued,
        started: pool.progress(),
        parks: pool.cells().map(|(_, cell)| cell.stats.parks.get()).sum(),
        submit_wakes: pool.submit_wakes.get(),
        wakes: pool.wakes.get(),
        created: pool.created.get(),
        create_failures: pool.create_failures.get(),
        exited: pool.exited.get(),
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("name", &self.owner.shared.setup.name).finish_non_exhaustive()
    }
}

impl Shared {
    /// The pool of a key.
    pub(crate) fn pool(self: &Arc<Self>, key: PoolKey) -> Arc<Pool> {
        self.pools.lock().get_or_make(key, |key| {
            let pool = Pool::new(self.pool_setup(key), Arc::downgrade(self));
            if let Some(bytes) = self.setup.record {
                pool.record(bytes - bytes / WORDS_PART);
            }
            pool
        })
    }

    pub(crate) fn all_pools(&self) -> Vec<Arc<Pool>> {
        self.pools.lock().all()
    }

    fn pool_setup(&self, key: &PoolKey) -> PoolSetup {
        let setup = &self.setup;
        let host = self.topology.is_host();
        let unbound = |pod: &CpuSet, strict: bool| match strict {
            true => (false, pod.clone(), format!("pod{pod}!")),
            false => (false, self.topology.cpus().clone(), format!("pod{pod}")),
        };
        let (managed, affinity, mut name) = match key {
            PoolKey::PerCpu(cpu) => (true, [*cpu].into_iter().collect(), format!("cpu{}", cpu.0)),
            PoolKey::Unbound { pod, strict } | PoolKey::RealTime { pod, strict, .. } => unbound(pod, *strict),
        };
        match key {
            PoolKey::RealTime { policy: SchedPolicy::Fifo(priority), .. } => name += &format!("f{priority}"),
            PoolKey::RealTime { policy: SchedPolicy::RoundRobin(priority), .. } => {
                name += &format!("r{priority}");
            }
            _ => {}
        }
        let ordinary = PoolSetup {
            config: PoolConfig { managed, ..setup.config },
            real_time: None,
            shape: setup.shape,
            wait: setup.wait,
            wake_via: setup.wake_via,
            help: setup.help,
            check_items: setup.check_items,
            steps: setup.steps.clone(),
            record: setup.record.map(|bytes| bytes / WORDS_PART),
            affinity: if host { affinity } else { CpuSet::default() },
            thread_name: format!("{}/{}", setup.name, name.trim_start_matches("pod")),
            name,
        };
        let PoolKey::RealTime { policy, .. } = key else { return ordinary };
        // Nobody spins, nobody relies on a claimed wake-up, and no wake-up can be hidden by one that was claimed
        // before it.
        PoolSetup {
            config: ordinary.config.in_real_time(),
            real_time: Some(*policy),
            shape: Shape::Inbox,
            wait: WaitPolicy::Park,
            wake_via: WakeVia::EventFd,
            help: true,
            ..ordinary
        }
    }

    /// The name of a queue by its number.
    pub(crate) fn queue_name(&self, queue: u64) -> Option<Arc<str>> {
        self.queue_names.lock().get(&queue).cloned()
    }

    /// Tells the event callback. Never under a lock; a panic of the callback is caught.
    pub(crate) fn tell(&self, event: &EngineEvent) {
        if let Some(callback) = &self.setup.on_event
            && let Err(payload) = crate::item::quietly(|| callback(event))
        {
            crate::item::discard(payload);
        }
    }
}
