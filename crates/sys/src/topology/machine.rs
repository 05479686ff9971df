//! What a tree of files or a spec says about a machine, and the pods that follow from it.

use std::collections::HashMap;

use super::cpu_set::{CpuId, CpuSet};
use super::scope::Scope;
use super::shard;
use super::{Node, NodeId, Pod};

/// The facts about a machine, before any limit of a process.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Machine {
    pub(super) online: CpuSet,
    /// Present, not online.
    pub(super) offline: CpuSet,
    /// Kept from the scheduler's balancing; a subset of `online`.
    pub(super) isolated: CpuSet,
    /// Ascending by id; their online CPUs are disjoint. Some may have none.
    pub(super) nodes: Vec<Node>,
    /// Partition of `online` by core.
    pub(super) cores: Vec<CpuSet>,
    /// Partition of `online` by last-level cache.
    pub(super) caches: Vec<CpuSet>,
}

/// A partition in the making: whoever claims a CPU first has it.
#[derive(Debug, Default)]
pub(super) struct Groups {
    groups: Vec<CpuSet>,
    taken: CpuSet,
    /// Which group was made on behalf of which set.
    by_claim: HashMap<CpuSet, usize>,
}

impl Groups {
    pub(super) fn has(&self, cpu: CpuId) -> bool {
        self.taken.contains(cpu)
    }

    /// Makes a group of those CPUs that are in no group yet, and answers with the others.
    pub(super) fn claim(&mut self, cpus: &CpuSet) -> CpuSet {
        let free = cpus.difference(&self.taken);
        self.taken.extend(&free);
        if !free.is_empty() {
            self.groups.push(free.clone());
        }
        cpus.difference(&free)
    }

    /// As `claim`, on behalf of a set of which only the `members` are sure. A CPU that turns out to
    /// name the same set can [`join`](Groups::join) later.
    pub(super) fn claim_part(&mut self, set: CpuSet, members: &CpuSet) -> CpuSet {
        self.by_claim.insert(set, self.groups.len());
        self.claim(members)
    }

    /// Puts a CPU into the group that was made on behalf of this set, if there is one.
    pub(super) fn join(&mut self, set: &CpuSet, cpu: CpuId) -> bool {
        let index = self.by_claim.get(set).copied();
        let group = index.and_then(|index| self.groups.get_mut(index));
        let is_found = group.is_some();
        if let Some(group) = group {
            group.insert(cpu);
            self.taken.insert(cpu);
        }
        is_found
    }

    /// Every CPU of `all` without a group becomes one of its own; groups are ordered by their first
    /// CPU.
    pub(super) fn finish(mut self, all: &CpuSet) -> Vec<CpuSet> {
        for cpu in &all.difference(&self.taken) {
            self.groups.push(CpuSet::from_iter([cpu]));
        }
        self.groups.sort_by_key(CpuSet::first);
        self.groups
    }
}

impl Machine {
    /// A machine of which nothing is known but its CPUs.
    pub(super) fn of_cpus(online: &CpuSet) -> Machine {
        let each = Groups::default().finish(online);
        Machine { online: online.clone(), cores: each.clone(), caches: each, ..Machine::default() }
    }

    /// The pods of one scope over the usable CPUs, ordered by their first CPU.
    pub(super) fn pods(&self, scope: Scope, usable: &CpuSet) -> Vec<Pod> {
        let sets = match scope {
            Scope::Cpu => usable.iter().map(|cpu| CpuSet::from_iter([cpu])).collect(),
            Scope::Smt => restrict(&self.cores, usable),
            Scope::CacheShard => self.cache_shards(usable),
            Scope::Cache => restrict(&self.caches, usable),
            Scope::Numa => self.numa_sets(usable),
            Scope::System => restrict(std::slice::from_ref(usable), usable),
        };
        sets.into_iter().map(|cpus| Pod { node: self.node_of(&cpus), cpus }).collect()
    }

    /// A core is counted where its CPUs share a cache; a core cut by the cache lists is one core on
    /// either side.
    fn cache_shards(&self, usable: &CpuSet) -> Vec<CpuSet> {
        let cores = restrict(&self.cores, usable);
        let mut core_of = vec![0; usable.last().map_or(0, |last| last.0 as usize + 1)];
        for (index, core) in cores.iter().enumerate() {
            core.iter().for_each(|cpu| core_of[cpu.0 as usize] = index);
        }
        let mut sets = Vec::new();
        for cache in restrict(&self.caches, usable) {
            let mut own = Groups::default();
            for cpu in &cache {
                if !own.has(cpu) {
                    own.claim(&cores[core_of[cpu.0 as usize]].intersection(&cache));
                }
            }
            sets.extend(shard::shards(&own.finish(&cache)));
        }
        sets.sort_by_key(CpuSet::first);
        sets
    }

    fn numa_sets(&self, usable: &CpuSet) -> Vec<CpuSet> {
        let mut rest = usable.clone();
        let mut sets = Vec::new();
        for node in &self.nodes {
            sets.push(node.cpus.clone());
            rest = rest.difference(&node.cpus);
        }
        sets.push(rest);
        restrict(&sets, usable)
    }

    /// The node that holds all of these CPUs.
    fn node_of(&self, cpus: &CpuSet) -> Option<NodeId> {
        let first = cpus.first()?;
        let node = self.nodes.iter().find(|node| node.cpus.contains(first))?;
        cpus.is_subset(&node.cpus).then_some(node.id)
    }
}

/// What is left of each set among the usable CPUs, empty ones dropped, ordered by first CPU.
fn restrict(sets: &[CpuSet], usable: &CpuSet) -> Vec<CpuSet> {
    let mut left: Vec<CpuSet> = sets.iter().map(|set| set.intersection(usable)).collect();
    left.retain(|set| !set.is_empty());
    left.sort_by_key(CpuSet::first);
    left
}
