//! Cuts the CPUs of one last-level cache into shards of about eight cores.
//!
//! The kernel's rule: as many shards as `cores / 8` rounded to the nearest whole number, at least
//! one; the first `cores mod shards` of them get one core more. Twelve cores are two shards of six,
//! twenty are three of 7, 7, 6.

use super::cpu_set::CpuSet;

/// How many cores a shard aims at.
const CORES_PER_SHARD: usize = 8;

/// How many shards the cores of one cache are spread over.
pub(super) fn shard_count(cores: usize) -> usize {
    ((cores + CORES_PER_SHARD / 2) / CORES_PER_SHARD).max(1)
}

/// Spreads cores, ordered by their first CPU, over the shards of one cache.
pub(super) fn shards(cores: &[CpuSet]) -> Vec<CpuSet> {
    let count = shard_count(cores.len());
    let (each, larger) = (cores.len() / count, cores.len() % count);
    let mut rest = cores;
    (0..count)
        .map(|index| {
            let (own, later) = rest.split_at(each + usize::from(index < larger));
            rest = later;
            own.iter().fold(CpuSet::new(), |shard, core| shard.union(core))
        })
        .filter(|shard| !shard.is_empty())
        .collect()
}

#[cfg(test)]
mod tests;
