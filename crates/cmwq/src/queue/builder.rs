//! Choosing what a queue is.

use super::inner::{Joint, QueueInner, Slot};
use super::{Owner, Queue};
use crate::engine::{BuildError, Engine};
use crate::pool::PoolKey;
use cmwq_core::limits;
use cmwq_ring::CacheLine;
use cmwq_ring::sync::{AtomicU32, AtomicU64, Ordering};
use cmwq_sys::topology::{CpuId, Scope};
use std::collections::HashMap;
use std::sync::Arc;

/// A number for a queue, from 1. Unique in the process: an item of one engine may use the queues of another.
fn new_id() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    // Ordering: relaxed: a number, ordering nothing.
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// Builds a [`Queue`]. Without further settings it is the kernel's unbound queue: items start as soon as a worker is
/// available, at most 1024 at a time in each pod, in pods of about 8 cores that share a cache.
///
/// An unbound queue does not look whether its items block: a thousand sleeping items may mean a thousand threads.
#[derive(Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct QueueBuilder {
    engine: Engine,
    name: String,
    per_cpu: bool,
    max_active: u32,
    scope: Scope,
    strict: bool,
}

impl QueueBuilder {
    pub(crate) fn new(engine: Engine, name: String) -> Self {
        let max_active = limits::MAX_ACTIVE_DEFAULT;
        QueueBuilder { engine, name, per_cpu: false, max_active, scope: Scope::default(), strict: false }
    }

    /// Items run on the CPU they are submitted from, one at a time while they do not block (the kernel's
    /// `WQ_PERCPU`):
    /// another starts when the running one enters [`blocking`](crate::blocking) or waits through this crate.
    pub fn per_cpu(mut self) -> Self {
        self.per_cpu = true;
        self
    }

    /// Items run in the pod of the CPU they are submitted from (the kernel's `WQ_UNBOUND`); the default.
    pub fn unbound(mut self) -> Self {
        self.per_cpu = false;
        self
    }

    /// The most items of this queue that are started and not ended, per CPU for a per-CPU queue and per pod for an
    /// unbound
    /// one: 1 to 2048, 0 stands for the default of 1024. Further ones wait in order. One is not an ordered queue when
    /// there are several pods.
    pub fn max_active(mut self, max_active: u32) -> Self {
        self.max_active = if max_active == 0 { limits::MAX_ACTIVE_DEFAULT } else { max_active };
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

    /// Makes the queue. Takes the engine's and the pools' locks for a moment; creates no thread.
    ///
    /// # Errors
    /// When `max_active` is above 2048.
    pub fn build(self) -> Result<Queue, BuildError> {
        if self.max_active > limits::MAX_ACTIVE_MAX {
            let what = format!(
                "queue {:?}: max_active {} is above {}; choose less, or 0 for the default of {}",
                self.name,
                self.max_active,
                limits::MAX_ACTIVE_MAX,
                limits::MAX_ACTIVE_DEFAULT
            );
            return Err(BuildError::setting(what));
        }
        let shared = Arc::clone(&self.engine.owner.shared);
        let id = new_id();
        let name: Arc<str> = self.name.clone().into();
        shared.queue_names.lock().insert(id, Arc::clone(&name));
        let joints = self.joints(id);
        let slots = self.slots(&joints);
        let arrivals = (0..shared.topology.cpus().len()).map(|_| CacheLine::default()).collect();
        let inner = Arc::new(QueueInner {
            id,
            name,
            word: CacheLine::default(),
            done: AtomicU32::new(0),
            arrivals,
            slots,
            joints,
            engine: Arc::downgrade(&shared),
        });
        Ok(Queue { owner: Arc::new(Owner { inner, engine: self.engine }) })
    }

    /// One pwq a pod, with the leaves of the pod's CPUs.
    fn joints(&self, id: u64) -> Box<[Joint]> {
        let shared = &self.engine.owner.shared;
        let topology = &shared.topology;
        let leaf_of: HashMap<CpuId, u32> = topology.cpus().iter().zip(0..).collect();
        let scope = if self.per_cpu { Scope::Cpu } else { self.scope };
        let pods = topology.pods(scope).iter();
        pods.map(|pod| {
            let key = if self.per_cpu {
                PoolKey::PerCpu(pod.cpus.first().expect("a pod has a CPU"))
            } else {
                PoolKey::Unbound { pod: pod.cpus.clone(), strict: self.strict }
            };
            let pool = shared.pool(key);
            let leaves = pod.cpus.iter().map(|cpu| leaf_of[&cpu]).collect();
            Joint { pwq: pool.join(id, self.max_active), pool, leaves }
        })
        .collect()
    }

    /// Every CPU number up to the last usable one, mapped to a pwq and a leaf.
    fn slots(&self, joints: &[Joint]) -> Box<[Slot]> {
        let cpus = self.engine.owner.shared.topology.cpus();
        let by_leaf: HashMap<u32, usize> = joints
            .iter()
            .enumerate()
            .flat_map(|(at, j)| j.leaves.iter().map(move |&leaf| (leaf, at)))
            .collect();
        let last = cpus.last().map_or(0, |cpu| cpu.0);
        let mut usable_before = 0;
        (0..=last)
            .map(|cpu| {
                let usable = cpus.contains(CpuId(cpu));
                let leaf = if usable { usable_before } else { cpu % cpus.len() as u32 };
                usable_before += u32::from(usable);
                {
                    let joint = &joints[by_leaf[&leaf]];
                    Slot { pwq: joint.pwq, cpu: cpu as u8, near: joint.pool.near, leaf, usable }
                }
            })
            .collect()
    }
}
