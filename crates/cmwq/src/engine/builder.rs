//! Choosing the machine, limits and policies of an engine.

use super::event::Callback;
use super::{Engine, EngineEvent, EngineSetup, Manager, Owner, Shared, manager};
use crate::memory::NoMemory;
use crate::pool::{Registry, Shape, WakeVia};
use crate::stats::Counter;
use crate::steps::Steps;
use crate::worker::{WaitPolicy, set_engine_thread};
use cmwq_core::limits;
use cmwq_core::pool::{ClaimPolicy, CoverPolicy, PoolConfig};
use cmwq_core::time::Span;
use cmwq_ring::Lock;
use cmwq_sys::topology::{Topology, TopologyError};
use std::collections::HashMap;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Builds an [`Engine`]. Every setting has a default.
pub struct EngineBuilder {
    name: String,
    topology: Option<Topology>,
    config: PoolConfig,
    wait: WaitPolicy,
    wake_via: WakeVia,
    help: bool,
    check_items: bool,
    shape: Shape,
    record: Option<usize>,
    steps: Steps,
    on_event: Option<Callback>,
}

impl Default for EngineBuilder {
    fn default() -> Self {
        EngineBuilder {
            name: "cmwq".to_owned(),
            topology: None,
            config: PoolConfig::default(),
            wait: WaitPolicy::default(),
            wake_via: WakeVia::default(),
            help: false,
            check_items: false,
            shape: Shape::default(),
            record: None,
            steps: Steps::default(),
            on_event: None,
        }
    }
}

impl fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineBuilder")
            .field("name", &self.name)
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

impl EngineBuilder {
    /// The first part of the threads' names (the system keeps 15 bytes of a name). Default `cmwq`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The machine. Default: this one, as far as the process may use it. On a described or synthetic machine
    /// workers run
    /// unpinned.
    pub fn topology(mut self, topology: Topology) -> Self {
        self.topology = Some(topology);
        self
    }

    /// How long a worker that is not needed stays. Default 10 s; the kernel's is 300 s.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.config.idle_timeout = Span::from(timeout);
        self
    }

    /// The most workers of each pool, 1 to 4096. Default 4096. Items that wait for each other need a worker each: a
    /// low limit can dead-lock them.
    pub fn workers_max(mut self, workers: u32) -> Self {
        self.config.workers_max = workers;
        self
    }

    /// How long a pool waits after a thread could not be created. Default 1 s.
    pub fn create_cooldown(mut self, cooldown: Duration) -> Self {
        self.config.create_cooldown = Span::from(cooldown);
        self
    }

    /// Who looks after new items while workers run. Default [`CoverPolicy::Watched`].
    pub fn cover(mut self, cover: CoverPolicy) -> Self {
        self.config.cover = cover;
        self
    }

    /// How a picked worker is claimed. Default [`ClaimPolicy::Kicked`].
    pub fn claim(mut self, claim: ClaimPolicy) -> Self {
        self.config.claim = claim;
        self
    }

    /// How workers and waiters wait. Default [`WaitPolicy::Adaptive`].
    pub fn wait(mut self, wait: WaitPolicy) -> Self {
        self.wait = wait;
        self
    }

    /// How sleeping threads are woken. Default [`WakeVia::Futex`].
    pub fn wake_via(mut self, via: WakeVia) -> Self {
        self.wake_via = via;
        self
    }

    /// Whether a thread that needs a worker issues a wake-up that another thread has claimed but perhaps not issued.
    /// Default no: the claimer is relied upon, which saves system calls; it may be preempted in between.
    pub fn help_wakeups(mut self, help: bool) -> Self {
        self.help = help;
        self
    }

    /// Whether workers look, after each item, for what its function has left behind on their thread: signals blocked or
    /// unblocked, other CPUs, another scheduling policy, priority or nice value. It is told by
    /// [`EngineEvent::ItemLeft`], and taken back. Default no: it takes three system calls an item.
    ///
    /// What others do to the thread while an item runs counts as the item's. A lock that a function has left locked is
    /// not seen: a process has no list of them.
    pub fn check_items(mut self, check: bool) -> Self {
        self.check_items = check;
        self
    }

    /// Called when something worth knowing happens, on the thread where it happens, with no lock held. It should be
    /// short; a
    /// panic in it is caught.
    pub fn on_event(mut self, callback: impl Fn(&EngineEvent) + Send + Sync + 'static) -> Self {
        self.on_event = Some(Box::new(callback));
        self
    }

    /// Records what each pool is told and decides, with room for this many bytes a pool; when it is full the oldest
    /// give way. See [`Engine::recording`]. Default off.
    pub fn record(mut self, bytes: usize) -> Self {
        self.record = Some(bytes);
        self
    }

    /// Idle workers that culling leaves in each pool. Default 2, as in the kernel. With less, a pool that is used now
    /// and then ends and makes threads all the time.
    pub fn idle_floor(mut self, workers: u32) -> Self {
        self.config.idle_floor = workers;
        self
    }

    /// How submissions reach the worklist; see [`Shape`].
    #[cfg(feature = "bench")]
    pub fn shape(mut self, shape: Shape) -> Self {
        self.shape = shape;
        self
    }

    /// Calls a hook at each [step](crate::bench::Step) of the engine's threads, on the thread that is there, which goes
    /// on when the hook returns. At steps that are under a lock, the hook must not use the engine.
    #[cfg(feature = "bench")]
    pub fn on_step(mut self, hook: impl Fn(&crate::bench::At<'_>) + Send + Sync + 'static) -> Self {
        self.steps = Steps::new(hook);
        self
    }

    /// Builds the engine: reads the machine if none was given and starts the manager thread. Blocks for a few ms at
    /// most.
    ///
    /// # Errors
    /// [`BuildErrorKind::Topology`], [`BuildErrorKind::Thread`] or [`BuildErrorKind::Setting`] (a name with a zero
    /// byte, a
    /// number of workers out of range).
    pub fn build(self) -> Result<Engine, BuildError> {
        if self.name.contains('\0') {
            let what = format!("engine name {:?} holds a zero byte, which no thread's name may", self.name);
            return Err(BuildError::setting(what));
        }
        let workers = self.config.workers_max;
        if workers == 0 || workers > limits::POOL_WORKERS_MAX {
            let what = format!("workers_max {workers} is not in 1..={}", limits::POOL_WORKERS_MAX);
            return Err(BuildError { kind: BuildErrorKind::Setting, what });
        }
        let topology = match self.topology {
            Some(topology) => topology,
            None => Topology::detect()?,
        };
        let manager = Manager::new(self.wake_via)?;
        let setup = EngineSetup {
            name: self.name,
            config: self.config,
            wait: self.wait,
            wake_via: self.wake_via,
            help: self.help,
            check_items: self.check_items,
            shape: self.shape,
            record: self.record,
            steps: self.steps,
            on_event: self.on_event,
        };
        let shared = Arc::new(Shared {
            topology,
            setup,
            pools: Lock::new(Registry::default()),
            manager,
            timers: Arc::default(),
            threads: Lock::new(Vec::new()),
            queue_names: Lock::new(HashMap::new()),
            panics: Counter::default(),
            manager_thread: Lock::new(None),
        });
        let engine = Arc::clone(&shared);
        let thread = cmwq_sys::thread::spawn(format!("{}/manager", shared.setup.name), move || {
            set_engine_thread(Arc::as_ptr(&engine) as usize);
            if engine.topology.is_host() {
                let _ = cmwq_sys::affinity::set_current(engine.topology.cpus());
            }
            manager::run(&engine);
        })?;
        *shared.manager_thread.lock() = Some(thread);
        Ok(Engine { owner: Arc::new(Owner { shared }) })
    }
}

/// Why an engine or a queue could not be built.
#[derive(Debug)]
pub struct BuildError {
    kind: BuildErrorKind,
    what: String,
}

/// The kinds of [`BuildError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildErrorKind {
    /// The machine could not be read.
    Topology,
    /// The manager thread, or what it sleeps on, could not be created; or the first threads of a real-time queue.
    Thread,
    /// A setting is out of its range.
    Setting,
    /// The system has refused memory that a queue needs for each CPU or pod. Nothing is left of the queue, and the
    /// engine is as before.
    Memory,
}

impl BuildError {
    pub(crate) fn setting(what: String) -> Self {
        BuildError { kind: BuildErrorKind::Setting, what }
    }

    pub(crate) fn thread(what: String) -> Self {
        BuildError { kind: BuildErrorKind::Thread, what }
    }

    pub(crate) fn memory(queue: &str, refused: &NoMemory) -> Self {
        let what = format!("queue {queue:?} cannot be created: {refused}");
        BuildError { kind: BuildErrorKind::Memory, what }
    }

    /// What kind of error it is.
    pub fn kind(&self) -> BuildErrorKind {
        self.kind
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for BuildError {}

impl From<TopologyError> for BuildError {
    fn from(error: TopologyError) -> Self {
        BuildError { kind: BuildErrorKind::Topology, what: error.to_string() }
    }
}

impl From<io::Error> for BuildError {
    fn from(error: io::Error) -> Self {
        BuildError {
            kind: BuildErrorKind::Thread,
            what: format!("the engine's manager thread cannot be created: {error}"),
        }
    }
}
