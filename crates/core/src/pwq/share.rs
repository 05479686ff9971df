//! How the limit of an unbound queue is split over the NUMA nodes.

use crate::limits;

/// The most active items of a node that has `node_cpus` of the `total_cpus` which the queue uses: its share of
/// `max_active`, rounded up, but at least `min_active` and at most `max_active`. The sum over the nodes may exceed
/// `max_active`. Pods that lie in no single node share a further limit, which is `max_active` itself.
pub const fn node_share(max_active: u32, min_active: u32, node_cpus: u32, total_cpus: u32) -> u32 {
    if total_cpus == 0 {
        return min_active;
    }
    let share = (max_active as u64 * node_cpus as u64).div_ceil(total_cpus as u64) as u32;
    let floor = if share < min_active { min_active } else { share };
    if floor > max_active { max_active } else { floor }
}

/// The `min_active` of a queue that names none.
pub const fn min_active_default(max_active: u32) -> u32 {
    if max_active < limits::MIN_ACTIVE_DEFAULT { max_active } else { limits::MIN_ACTIVE_DEFAULT }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_gets_its_share_rounded_up_within_bounds() {
        assert_eq!(node_share(1024, 8, 16, 64), 256);
        assert_eq!(node_share(100, 8, 1, 3), 34, "rounded up");
        assert_eq!(node_share(16, 8, 1, 64), 8, "at least min_active");
        assert_eq!(node_share(4, 4, 1, 64), 4, "but never more than max_active");
        assert_eq!(node_share(4, 0, 1, 64), 1, "without a floor every node still gets one");
        assert_eq!(node_share(2048, 8, 1024, 1024), 2048);
        assert_eq!(node_share(100, 8, 0, 0), 8, "no CPU is left");
    }

    #[test]
    fn every_share_lets_something_run() {
        for max_active in 1..=64 {
            for nodes in 1..=8 {
                let share = node_share(max_active, min_active_default(max_active), 1, nodes);
                assert!(share >= 1 && share <= max_active && share * nodes >= max_active);
                assert!(share >= min_active_default(max_active));
            }
        }
    }
}
