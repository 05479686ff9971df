//! Descriptions of machines, emulated and real, give the pods that are right for them.
//!
//! The expected values do not come from the code under test. Cores, last-level caches and nodes are
//! those that `lstopo --if fsroot` of hwloc 2.9 finds, turned into sets by hand; where hwloc means
//! something else (it splits the modules of the 64-CPU machine, which the kernel calls siblings; it
//! spreads overlapping and interleaved nodes) they were read from the files. Shards were worked out
//! on paper by the kernel's rule.

#[path = "topo/tree.rs"]
#[allow(dead_code, reason = "trees are not written here")]
mod tree;

use std::path::{Path, PathBuf};
use std::process::Command;

use cmwq_sys::topology::{Pod, Scope, Topology};

/// A machine and its pods, written as CPU lists with `|` between pods.
struct Expected {
    name: &'static str,
    smt: String,
    cache_shard: String,
    cache: String,
    numa: String,
    /// The node of each numa pod; -1 for none.
    nodes: &'static [i64],
}

/// Pods of `size` consecutive CPUs each, `count` of them from CPU 0.
fn runs(size: u32, count: u32) -> String {
    let run = |first: u32| match size {
        1 => first.to_string(),
        _ => format!("{first}-{}", first + size - 1),
    };
    let runs: Vec<String> = (0..count).map(|index| run(index * size)).collect();
    runs.join("|")
}

fn expected(
    name: &'static str,
    [smt, cache_shard, cache, numa]: [&str; 4],
    nodes: &'static [i64],
) -> Expected {
    Expected {
        name,
        smt: smt.to_owned(),
        cache_shard: cache_shard.to_owned(),
        cache: cache.to_owned(),
        numa: numa.to_owned(),
        nodes,
    }
}

fn emulated() -> Vec<Expected> {
    let (pairs, singles) = (|count| runs(2, count), |count| runs(1, count));
    let odd_offline = "0|3|4-5|6-7|8|10-11|12-13|14-15";
    let all_odd_offline = "0,3-8,10-15";
    let interleaved = "0,2,4,6|1,3,5,7|8,10,12,14|9,11,13,15";
    let nodes_interleaved = "0,2,4,6,8,10,12,14|1,3,5,7,9,11,13,15";
    vec![
        expected("amd-8-2s-smt2", [&pairs(4), "0-3|4-7", "0-3|4-7", "0-7"], &[0]),
        expected("intel-8-2s-smt2", [&pairs(4), "0-3|4-7", "0-3|4-7", "0-7"], &[0]),
        expected("amd-16-4die-smt2", [&pairs(8), "0-15", "0-15", "0-15"], &[0]),
        expected("amd-32-4node", [&pairs(16), &runs(8, 4), &runs(8, 4), &runs(8, 4)], &[0, 1, 2, 3]),
        expected(
            "amd-16-2node-interleaved",
            [&singles(16), interleaved, interleaved, nodes_interleaved],
            &[0, 1],
        ),
        expected("amd-8-offline-memnode", ["0|2-3|4", "0,2-3|4", "0,2-3|4", "0,2-3|4"], &[0, 1]),
        expected("intel-16-4die", [&singles(16), &runs(4, 4), &runs(4, 4), "0-15"], &[0]),
        expected(
            "amd-16-smt-odd-offline",
            [odd_offline, all_odd_offline, all_odd_offline, all_odd_offline],
            &[0],
        ),
        expected("intel-192-2node", [&pairs(96), &runs(16, 12), &runs(96, 2), &runs(96, 2)], &[0, 1]),
        expected("amd-4of16-hotplug", [&pairs(2), "0-3", "0-3", "0-3"], &[0]),
    ]
}

fn real() -> Vec<Expected> {
    let (pairs, singles) = (|count| runs(2, count), |count| runs(1, count));
    let offlines = "0,4,8,12|1,9|3,7,11,15|6,10";
    let hybrid = format!("{}|12|13|14|15|16|17|18|19", runs(2, 6));
    let asymmetric = "0|1,5|2,6|3,7|4";
    let even_odd = "4,6,8,10,12,14,16,18,20|5,7,9,11,13,15,17,19";
    let from_4: Vec<String> = (4..=20).map(|cpu| cpu.to_string()).collect();
    vec![
        expected(
            "128arm-2pa2n8cluster4co",
            [&singles(128), &runs(8, 16), &runs(32, 4), &runs(32, 4)],
            &[0, 1, 2, 3],
        ),
        expected(
            "16amd64-4n4c-cgroup-distance-merge",
            [&singles(16), &runs(4, 4), &runs(4, 4), &runs(4, 4)],
            &[0, 1, 2, 3],
        ),
        expected(
            "16em64t-4s2c2t-offlines",
            ["0,8|1,9|3,11|4,12|6|7,15|10", offlines, offlines, "0-1,3-4,6-12,15"],
            &[0],
        ),
        expected("20em64t-hybrid-1p6c2t+2ca4co1t", [&hybrid, "0-12|13-19", "0-19", "0-19"], &[0]),
        expected(
            "48amd64-4pa2n6c-sparse",
            [&singles(48), &runs(6, 8), &runs(6, 8), &runs(6, 8)],
            &[0, 1, 2, 33, 34, 45, 72, 73],
        ),
        expected(
            "64amd64-4s2n4ca2co",
            [&pairs(32), &runs(8, 8), &runs(8, 8), &runs(8, 8)],
            &[0, 1, 2, 3, 4, 5, 6, 7],
        ),
        expected("8em64t-2s4c-asymcaches", [&singles(8), asymmetric, asymmetric, "0-7"], &[0]),
        expected(
            "fakeheterocpunuma",
            [&pairs(12), &singles(24), &singles(24), "0-3|4-7|8-11|12-15|16-19|20-23"],
            &[0, -1, 1, 5, 4, 3],
        ),
        expected("offline-cpu0-node0", [&from_4.join("|"), even_odd, even_odd, even_odd], &[-1, 1]),
    ]
}

fn written(pods: &[Pod]) -> String {
    let lists: Vec<String> = pods.iter().map(|pod| pod.cpus.to_string()).collect();
    lists.join("|")
}

fn check(expected: &Expected, root: &Path) {
    let topology = Topology::from_sysfs(root).expect(expected.name);
    for (scope, pods) in [
        (Scope::Smt, &expected.smt),
        (Scope::CacheShard, &expected.cache_shard),
        (Scope::Cache, &expected.cache),
        (Scope::Numa, &expected.numa),
    ] {
        assert_eq!(&written(topology.pods(scope)), pods, "{} {scope}", expected.name);
    }
    let nodes = topology.pods(Scope::Numa).iter().map(|pod| pod.node.map_or(-1, |id| id.0.into()));
    assert_eq!(nodes.collect::<Vec<i64>>(), expected.nodes, "{}", expected.name);
    let each: Vec<String> = topology.cpus().iter().map(|cpu| cpu.to_string()).collect();
    assert_eq!(written(topology.pods(Scope::Cpu)), each.join("|"), "{}", expected.name);
    assert_eq!(written(topology.pods(Scope::System)), topology.cpus().to_string(), "{}", expected.name);
    assert!(!topology.is_host() && topology.quota().is_none(), "{}", expected.name);
}

/// Unpacks an archive and answers with the directory that holds `sys`.
fn unpack(archive: &Path, into: &Path) -> Result<PathBuf, String> {
    let status = Command::new("tar").arg("-xf").arg(archive).arg("-C").arg(into).status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => return Err(format!("tar -xf {}: {status}", archive.display())),
        Err(error) => return Err(format!("tar: {error}")),
    }
    let inner = std::fs::read_dir(into).expect("a listing").map(|entry| entry.expect("an entry").path());
    let mut roots: Vec<PathBuf> = inner.filter(|path| path.join("sys").is_dir()).collect();
    Ok(roots.pop().unwrap_or_else(|| into.to_owned()))
}

#[test]
fn emulated_machines() {
    let archives = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/topo");
    for expected in emulated() {
        let dir = tree::directory();
        let archive = archives.join(format!("{}.tar.gz", expected.name));
        let root = unpack(&archive, dir.path()).expect("the archive unpacks");
        check(&expected, &root);
    }
}

#[test]
fn real_machines() {
    let Some(archives) = std::env::var_os("CMWQ_TOPO_REAL").map(PathBuf::from) else {
        let count = real().len();
        tree::skipped(&format!("{count} real machines: CMWQ_TOPO_REAL does not name their directory"));
        return;
    };
    let mut skipped = 0;
    for expected in real() {
        let dir = tree::directory();
        let archive = archives.join(format!("{}.tar.bz2", expected.name));
        match unpack(&archive, dir.path()) {
            Ok(root) => check(&expected, &root),
            Err(error) => {
                skipped += 1;
                tree::skipped(&error);
            }
        }
    }
    if skipped > 0 {
        tree::skipped(&format!("{skipped} of {} real machines", real().len()));
    }
}

#[test]
fn offline_cpus_and_nodes_with_memory_only_are_told() {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/topo/amd-8-offline-memnode.tar.gz");
    let dir = tree::directory();
    let root = unpack(&archive, dir.path()).expect("the archive unpacks");
    let topology = Topology::from_sysfs(&root).expect("a topology");
    assert_eq!(topology.offline().to_string(), "1,5-7");
    let nodes: Vec<String> = topology.nodes().iter().map(|node| node.cpus.to_string()).collect();
    assert_eq!(nodes, ["0,2-3", "4", ""]);
    assert!(topology.ignored().is_empty(), "{:?}", topology.ignored());
}
