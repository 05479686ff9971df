//! The pools of an engine, by what tells them apart.

use super::Pool;
use cmwq_sys::policy::SchedPolicy;
use cmwq_sys::topology::{CpuId, CpuSet};
use std::sync::Arc;

/// What tells pools apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PoolKey {
    /// The managed pool of one CPU.
    PerCpu(CpuId),
    /// An unbound pool: its pod, and whether its workers stay there.
    Unbound { pod: CpuSet, strict: bool },
    /// The same in real time.
    RealTime { pod: CpuSet, strict: bool, policy: SchedPolicy },
}

/// Pools live until their engine ends; an unused one keeps at most the idle floor of workers.
#[derive(Default)]
pub(crate) struct Registry {
    pools: Vec<(PoolKey, Arc<Pool>)>,
}

impl Registry {
    /// The pool of a key, made when there is none.
    pub(crate) fn get_or_make(
        &mut self,
        key: PoolKey,
        make: impl FnOnce(&PoolKey) -> Arc<Pool>,
    ) -> Arc<Pool> {
        if let Some((_, pool)) = self.pools.iter().find(|(k, _)| *k == key) {
            return Arc::clone(pool);
        }
        let pool = make(&key);
        self.pools.push((key, Arc::clone(&pool)));
        pool
    }

    /// All pools, in order of creation.
    pub(crate) fn all(&self) -> Vec<Arc<Pool>> {
        self.pools.iter().map(|(_, pool)| Arc::clone(pool)).collect()
    }
}
