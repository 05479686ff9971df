//! Which CPUs there are, which of them this process may use, and how they are grouped into pods.
//!
//! A [`Topology`] is a snapshot: it is read once and does not change. Reading is one cheap pass
//! over sysfs, a file for every core and a few for every cache and node, so nothing is deferred:
//! 1024 CPUs take about ten milliseconds. The source is the running machine ([`Topology::detect`]),
//! any copy of a machine's files ([`Topology::from_sysfs`], [`Topology::for_process`]) or a line of
//! text ([`Topology::synthetic`]).
//!
//! Files contradict each other, are missing or damaged; that is never fatal as long as some CPU is
//! known to be online. What was passed over is listed by [`Topology::ignored`].
//!
//! # The rules
//! * The pods of a scope are a partition of the usable CPUs. Usable CPUs are online, in the
//!   affinity mask and in the cpuset. Isolated CPUs are usable where the affinity mask names them:
//!   a mask that does was set on purpose.
//! * CPUs share a cache pod if they share the last level of data or unified cache they have. A CPU
//!   whose own files describe no cache is a cache pod of its own, though others may name it; its
//!   hardware threads are apart too, then, as nothing says what they share.
//! * Shards are cut from the usable cores of a cache, so they stay even under a narrow mask.
//! * CPUs that no node names share one numa pod.
//! * Where files overlap, the lower CPU's or node's word counts.
#![forbid(unsafe_code)]

mod cgroup;
mod cpu_set;
mod error;
mod files;
mod machine;
mod quota;
mod scope;
mod shard;
mod synthetic;
mod sysfs;

use std::fmt;
use std::path::Path;

pub use cpu_set::{CpuId, CpuSet, Iter, ParseCpuSetError};
pub use error::{Ignored, TopologyError, TopologyErrorKind};
pub use quota::Quota;
pub use scope::{ParseScopeError, Scope};
pub use synthetic::SPEC_GRAMMAR;

use crate::affinity;
use files::Files;
use machine::Machine;

/// Names a NUMA node by the kernel's number for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A NUMA node of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Node {
    /// The kernel's number.
    pub id: NodeId,
    /// Its online CPUs, usable or not; none if it is memory only.
    pub cpus: CpuSet,
}

/// CPUs that share a pool of workers under some [`Scope`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pod {
    /// Never empty, all of them usable.
    pub cpus: CpuSet,
    /// The node that holds all of them, if one does.
    pub node: Option<NodeId>,
}

/// A machine as one process may use it. It does not change; share it in an `Arc`.
///
/// ```
/// use cmwq_sys::topology::{Scope, Topology};
///
/// let topology = Topology::detect()?;
/// for pod in topology.pods(Scope::default()) {
///     println!("{}", pod.cpus);
/// }
/// # Ok::<(), cmwq_sys::topology::TopologyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Topology {
    machine: Machine,
    cpus: CpuSet,
    pods: [Vec<Pod>; Scope::ALL.len()],
    /// By scope and CPU number, the pod; `NO_POD` for CPUs that are not usable.
    pod_of: [Vec<u32>; Scope::ALL.len()],
    quota: Option<Quota>,
    ignored: Vec<Ignored>,
    is_host: bool,
}

const NO_POD: u32 = u32::MAX;

impl Topology {
    /// Reads this machine, as the calling thread may use it: its affinity mask counts, and so do
    /// the process's cgroups. Blocks for some file reads; meant for start-up.
    ///
    /// Without a readable sysfs the affinity mask alone decides, and no CPU is known to share
    /// anything.
    ///
    /// # Errors
    /// The affinity mask cannot be read ([`TopologyErrorKind::Affinity`]).
    pub fn detect() -> Result<Topology, TopologyError> {
        let mask = affinity::current().map_err(|error| TopologyError::affinity(&error))?;
        let mut topology = Topology::for_process(Path::new("/"), Some(&mask))
            .unwrap_or_else(|error| Topology::without_files(&mask, &error));
        topology.is_host = true;
        Ok(topology)
    }

    /// Reads the machine whose root directory is (or was copied to) `root`; the online CPUs are the
    /// usable ones.
    ///
    /// # Errors
    /// `root` holds no `sys/devices/system/cpu`, or no CPU in it is online.
    pub fn from_sysfs(root: &Path) -> Result<Topology, TopologyError> {
        let mut files = Files::default();
        let machine = sysfs::read(root, &mut files)?;
        let cpus = machine.online.clone();
        Ok(Topology::new(machine, cpus, files.into_ignored(), root == Path::new("/")))
    }

    /// Reads the files below `root` as a process would see them whose affinity mask is `mask` and
    /// whose cgroups are those of `root`'s `proc/self`: a container, from the inside.
    ///
    /// A mask or a cpuset that leaves no CPU is not believed, which [`Topology::ignored`] tells.
    ///
    /// # Errors
    /// As [`Topology::from_sysfs`].
    pub fn for_process(root: &Path, mask: Option<&CpuSet>) -> Result<Topology, TopologyError> {
        let mut files = Files::default();
        let machine = sysfs::read(root, &mut files)?;
        let limits = cgroup::read(root, &mut files);
        let mut cpus = machine.online.clone();
        let masks = mask.map(|mask| (mask, Path::new("affinity mask")));
        let cpusets = limits.cpuset.as_ref().map(|(cpus, path)| (cpus, path.as_path()));
        for (allowed, source) in masks.into_iter().chain(cpusets) {
            let both = cpus.intersection(allowed);
            if both.is_empty() {
                files.note(source, format!("allows CPU {allowed}, none of CPU {cpus}; not believed"));
            } else {
                cpus = both;
            }
        }
        let topology = Topology::new(machine, cpus, files.into_ignored(), false);
        Ok(Topology { quota: limits.quota, ..topology })
    }

    /// Builds the machine that a spec describes, such as `node:2/cache:4/core:8/thread:2`. The
    /// grammar is [`SPEC_GRAMMAR`].
    ///
    /// ```
    /// use cmwq_sys::topology::{Scope, Topology};
    ///
    /// let machine = Topology::synthetic("core:12/thread:2/offline:3")?;
    /// let shards = machine.pods(Scope::CacheShard);
    /// assert_eq!(shards[0].cpus.to_string(), "0-2,4-11");
    /// # Ok::<(), cmwq_sys::topology::TopologyError>(())
    /// ```
    ///
    /// # Errors
    /// The spec cannot be understood ([`TopologyErrorKind::Spec`]); the text names the byte.
    pub fn synthetic(spec: &str) -> Result<Topology, TopologyError> {
        let machine = synthetic::machine(spec)?;
        let cpus = machine.online.clone();
        Ok(Topology::new(machine, cpus, Vec::new(), false))
    }

    fn without_files(mask: &CpuSet, error: &TopologyError) -> Topology {
        let why = format!("{error}; CPUs are taken from the affinity mask");
        let ignored = vec![Ignored::new("/sys/devices/system/cpu", why)];
        Topology::new(Machine::of_cpus(mask), mask.clone(), ignored, true)
    }

    fn new(machine: Machine, cpus: CpuSet, ignored: Vec<Ignored>, is_host: bool) -> Topology {
        let pods = Scope::ALL.map(|scope| machine.pods(scope, &cpus));
        let size = cpus.last().map_or(0, |last| last.0 as usize + 1);
        let pod_of = Scope::ALL.map(|scope| {
            let mut table = vec![NO_POD; size];
            for (index, pod) in pods[scope.index()].iter().enumerate() {
                pod.cpus.iter().for_each(|cpu| table[cpu.0 as usize] = index as u32);
            }
            table
        });
        Topology { machine, cpus, pods, pod_of, quota: None, ignored, is_host }
    }

    /// The CPUs that may be used.
    pub fn cpus(&self) -> &CpuSet {
        &self.cpus
    }

    /// The pods of a scope: a partition of [`Topology::cpus`], ordered by first CPU.
    pub fn pods(&self, scope: Scope) -> &[Pod] {
        &self.pods[scope.index()]
    }

    /// Which of [`Topology::pods`] a CPU is in; `None` for a CPU that may not be used. A table
    /// look-up.
    pub fn pod_of(&self, scope: Scope, cpu: CpuId) -> Option<usize> {
        let pod = *self.pod_of[scope.index()].get(cpu.0 as usize)?;
        (pod != NO_POD).then_some(pod as usize)
    }

    /// The limit on CPU time, if there is one: the tightest found on the process's cgroups and
    /// their ancestors, as far up as the process can see.
    pub fn quota(&self) -> Option<Quota> {
        self.quota
    }

    /// How many CPUs are worth keeping busy: the number of usable ones, or what the quota leaves of
    /// it ([`Quota::usable_cpus`]).
    pub fn parallelism(&self) -> usize {
        let cpus = self.cpus.len();
        self.quota.map_or(cpus, |quota| quota.usable_cpus(cpus))
    }

    /// What was passed over while reading, and why.
    pub fn ignored(&self) -> &[Ignored] {
        &self.ignored
    }

    /// Whether the CPUs exist here, so that threads may be pinned to them.
    pub fn is_host(&self) -> bool {
        self.is_host
    }

    /// The machine's CPUs that are online, whether or not they may be used.
    pub fn online(&self) -> &CpuSet {
        &self.machine.online
    }

    /// The machine's CPUs that are present but not online.
    pub fn offline(&self) -> &CpuSet {
        &self.machine.offline
    }

    /// The online CPUs that the scheduler does not balance onto (`isolcpus`, isolated partitions).
    pub fn isolated(&self) -> &CpuSet {
        &self.machine.isolated
    }

    /// The machine's NUMA nodes, ascending, those with memory only included.
    pub fn nodes(&self) -> &[Node] {
        &self.machine.nodes
    }

    /// The same machine without the limits of a process: every online CPU is usable.
    #[must_use]
    pub fn unlimited(&self) -> Topology {
        let cpus = self.machine.online.clone();
        Topology::new(self.machine.clone(), cpus, self.ignored.clone(), self.is_host)
    }
}
