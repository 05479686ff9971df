//! How long it takes to read a machine: this one, and trees of 1024 CPUs in several shapes.
//!
//! `cargo run --release -p cmwq-sys --example topology_time`

#[path = "../tests/topo/tree.rs"]
#[allow(dead_code, reason = "shared with tests")]
mod tree;

use std::time::Duration;

use cmwq_sys::topology::Topology;
use rustix::time::{ClockId, clock_gettime};
use tree::Style;

const ROUNDS: usize = 31;

/// CPU time, system calls included: what other processes do on a busy machine does not count.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Median, fastest and slowest of some rounds.
fn time(mut read: impl FnMut() -> Topology) -> [Duration; 3] {
    let round = |_| {
        let start = thread_time();
        std::hint::black_box(read());
        thread_time().saturating_sub(start)
    };
    let mut times: Vec<Duration> = (0..ROUNDS).map(round).collect();
    times.sort_unstable();
    [times[ROUNDS / 2], times[0], times[ROUNDS - 1]]
}

fn report(what: &str, [median, fastest, slowest]: [Duration; 3]) {
    println!("{what:<45} {median:>9.1?} ({fastest:.1?} to {slowest:.1?})");
}

fn main() {
    println!("CPU time, median of {ROUNDS} (fastest to slowest)");
    report("this machine", time(|| Topology::detect().expect("this machine")));
    for (what, spec) in [
        ("1024 CPUs, 8 nodes, caches of 64 cores", "node:8/core:64/thread:2"),
        ("1024 CPUs, 8 nodes, caches of 8 cores", "node:8/cache:8/core:8/thread:2"),
        ("1024 CPUs, 64 nodes, no threads share a core", "node:64/cache:2/core:8"),
        ("1024 CPUs, every CPU has a cache of its own", "cache:1024"),
    ] {
        let machine = Topology::synthetic(spec).expect("a spec");
        report(&format!("{what}, built"), time(|| Topology::synthetic(spec).expect("a spec")));
        let dir = tree::directory();
        let style = Style { lists: true, online_list: true, offline_sharers: false };
        tree::write(dir.path(), &machine, style).expect("a tree");
        report(what, time(|| Topology::from_sysfs(dir.path()).expect("a tree")));
    }
}
