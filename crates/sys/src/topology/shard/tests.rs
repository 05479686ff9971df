use super::*;
use crate::topology::CpuId;

/// Cores of `threads` CPUs each, numbered one after the other.
fn cores(count: u32, threads: u32) -> Vec<CpuSet> {
    (0..count).map(|core| (core * threads..(core + 1) * threads).map(CpuId).collect()).collect()
}

#[test]
fn sizes_are_those_of_the_kernels_rule() {
    for (count, sizes) in [
        (1, &[1][..]),
        (8, &[8]),
        (11, &[11]),
        (12, &[6, 6]),
        (13, &[7, 6]),
        (20, &[7, 7, 6]),
        (24, &[8, 8, 8]),
        (72, &[8; 9]),
    ] {
        let found: Vec<usize> = shards(&cores(count, 1)).iter().map(CpuSet::len).collect();
        assert_eq!(found, sizes, "{count} cores");
    }
}

#[test]
fn cores_stay_whole_and_in_order() {
    let found: Vec<String> = shards(&cores(12, 2)).iter().map(CpuSet::to_string).collect();
    assert_eq!(found, ["0-11", "12-23"]);
    assert!(shards(&[]).is_empty());
}
