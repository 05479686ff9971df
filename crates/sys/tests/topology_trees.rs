//! Trees with something odd about them, one oddity at a time.

#[path = "topo/tree.rs"]
mod tree;

use std::fs;
use std::path::{Path, PathBuf};

use cmwq_sys::topology::{Scope, Topology, TopologyErrorKind};
use tempfile::TempDir;
use tree::Style;

const STYLE: Style = Style { lists: true, online_list: true, offline_sharers: false };

fn written(spec: &str, style: Style) -> TempDir {
    let dir = tree::directory();
    let machine = Topology::synthetic(spec).expect("a spec");
    tree::write(dir.path(), &machine, style).expect("a tree");
    dir
}

fn at(dir: &TempDir, path: &str) -> PathBuf {
    dir.path().join("sys/devices/system").join(path)
}

fn put(dir: &TempDir, path: &str, text: impl AsRef<[u8]>) {
    let path = at(dir, path);
    fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
    fs::write(path, text).expect("a file");
}

fn pods(topology: &Topology, scope: Scope) -> String {
    let lists: Vec<String> = topology.pods(scope).iter().map(|pod| pod.cpus.to_string()).collect();
    lists.join("|")
}

fn read(dir: &TempDir) -> Topology {
    Topology::from_sysfs(dir.path()).expect("a topology")
}

fn is_noted(topology: &Topology, path: &Path, why: &str) -> bool {
    topology.ignored().iter().any(|note| note.path == path && note.why.contains(why))
}

#[test]
fn isolated_cpus_are_listed_and_told() {
    let topology = read(&written("core:4/isolated:1-2", STYLE));
    assert_eq!(topology.cpus().to_string(), "0-3");
    assert_eq!(topology.isolated().to_string(), "1-2");
}

#[test]
fn numbers_with_gaps_and_beyond_1024() {
    let spec = "node:2/cache:10/core:32/thread:2/absent:100-300/offline:5,1100-1200";
    for lists in [true, false] {
        let topology = read(&written(spec, Style { lists, ..STYLE }));
        assert_eq!(topology.cpus().to_string(), "0-4,6-99,301-1099,1201-1279");
        assert_eq!(topology.offline().to_string(), "5,1100-1200");
        let caches = pods(&topology, Scope::Cache);
        assert!(caches.starts_with("0-4,6-63|64-99|301-319|320-383|"), "{caches}");
        assert!(caches.ends_with("|1088-1099|1201-1215|1216-1279"), "{caches}");
    }
}

#[test]
fn a_garbled_cache_file_is_made_up_for_by_the_other_sharers() {
    let dir = written("cache:2/core:4", STYLE);
    put(&dir, "cpu/cpu0/cache/index2/shared_cpu_list", b"0-\xff3\n");
    let topology = read(&dir);
    assert_eq!(pods(&topology, Scope::Cache), "0-3|4-7");
    assert!(is_noted(&topology, &at(&dir, "cpu/cpu0/cache/index2/shared_cpu_list"), "not text at byte 2"));
}

#[test]
fn a_cache_that_all_sharers_garble_falls_back_to_a_smaller_one() {
    let dir = written("core:2/thread:2", STYLE);
    for cpu in 0..4 {
        put(&dir, &format!("cpu/cpu{cpu}/cache/index2/shared_cpu_list"), "0-3?\n");
        let core = if cpu < 2 { "0-1\n" } else { "2-3\n" };
        put(&dir, &format!("cpu/cpu{cpu}/cache/index3/level"), "2\n");
        put(&dir, &format!("cpu/cpu{cpu}/cache/index3/shared_cpu_list"), core);
    }
    assert_eq!(pods(&read(&dir), Scope::Cache), "0-1|2-3");
}

#[test]
fn a_damaged_list_gives_way_to_the_mask_beside_it() {
    let dir = written("core:4", STYLE);
    put(&dir, "cpu/cpu0/cache/index2/shared_cpu_list", "0-x\n");
    put(&dir, "cpu/cpu0/cache/index2/shared_cpu_map", "0000000f\n");
    put(&dir, "node/node0/cpulist", "0-3,\n");
    put(&dir, "node/node0/cpumap", "f\n");
    let topology = read(&dir);
    assert_eq!(pods(&topology, Scope::Cache), "0-3");
    assert_eq!(topology.pods(Scope::Numa)[0].node.map(|node| node.0), Some(0));
    assert!(is_noted(&topology, &at(&dir, "node/node0/cpulist"), "a missing CPU number at byte 4"));
}

#[test]
fn a_cpu_without_caches_is_a_cache_pod_of_its_own() {
    let dir = written("core:4", STYLE);
    for cpu in 0..4 {
        fs::remove_dir_all(at(&dir, &format!("cpu/cpu{cpu}/cache"))).expect("removed");
    }
    let topology = read(&dir);
    assert_eq!(pods(&topology, Scope::Cache), "0|1|2|3");
    assert_eq!(pods(&topology, Scope::CacheShard), "0|1|2|3");
    assert!(is_noted(&topology, &at(&dir, "cpu/cpu*/cache"), "CPU 0-3"));
}

#[test]
fn a_cpu_without_caches_is_alone_though_others_name_it() {
    let dir = written("core:4", STYLE);
    fs::remove_dir_all(at(&dir, "cpu/cpu2/cache")).expect("removed");
    let topology = read(&dir);
    assert_eq!(pods(&topology, Scope::Cache), "0-1,3|2");
    assert!(is_noted(&topology, &at(&dir, "cpu/cpu*/cache"), "CPU 2;"));
}

#[test]
fn a_cpu_that_lost_its_last_level_takes_nobody_along() {
    let dir = written("core:4", STYLE);
    for cpu in 0..4 {
        let pair = if cpu < 2 { "0-1\n" } else { "2-3\n" };
        put(&dir, &format!("cpu/cpu{cpu}/cache/index3/level"), "2\n");
        put(&dir, &format!("cpu/cpu{cpu}/cache/index3/shared_cpu_list"), pair);
    }
    assert_eq!(pods(&read(&dir), Scope::Cache), "0-3");
    fs::remove_dir_all(at(&dir, "cpu/cpu0/cache/index2")).expect("removed");
    assert_eq!(pods(&read(&dir), Scope::Cache), "0|1-3");
}

#[test]
fn sharers_may_number_the_same_cache_differently() {
    let dir = written("core:4", STYLE);
    for cpu in [1, 2] {
        let cache = at(&dir, &format!("cpu/cpu{cpu}/cache"));
        fs::rename(cache.join("index2"), cache.join("index5")).expect("renamed");
    }
    let topology = read(&dir);
    assert_eq!(pods(&topology, Scope::Cache), "0-3");
    assert!(topology.ignored().is_empty(), "{:?}", topology.ignored());
}

#[test]
fn instruction_caches_do_not_count_and_a_cache_without_type_does() {
    let dir = written("core:4", STYLE);
    for cpu in 0..4 {
        put(&dir, &format!("cpu/cpu{cpu}/cache/index2/type"), "Instruction\n");
        let pair = if cpu < 2 { "0-1\n" } else { "2-3\n" };
        put(&dir, &format!("cpu/cpu{cpu}/cache/index3/level"), "2\n");
        put(&dir, &format!("cpu/cpu{cpu}/cache/index3/shared_cpu_list"), pair);
    }
    assert_eq!(pods(&read(&dir), Scope::Cache), "0-1|2-3");
}

#[test]
fn without_nodes_all_cpus_share_a_numa_pod() {
    let dir = written("core:4", STYLE);
    fs::remove_dir_all(at(&dir, "node")).expect("removed");
    let topology = read(&dir);
    assert_eq!(pods(&topology, Scope::Numa), "0-3");
    assert_eq!(topology.pods(Scope::Numa)[0].node, None);
    assert!(is_noted(&topology, &at(&dir, "node"), "share one numa pod"));
}

#[test]
fn without_siblings_every_cpu_is_a_core() {
    let dir = written("core:2/thread:2", STYLE);
    for cpu in 0..4 {
        fs::remove_dir_all(at(&dir, &format!("cpu/cpu{cpu}/topology"))).expect("removed");
    }
    let topology = read(&dir);
    assert_eq!(pods(&topology, Scope::Smt), "0|1|2|3");
    assert!(is_noted(&topology, &at(&dir, "cpu/cpu*/topology"), "CPU 0-3"));
}

#[test]
fn files_that_name_others_but_not_their_own_cpu_are_not_believed() {
    let dir = written("core:4", STYLE);
    put(&dir, "cpu/cpu1/topology/thread_siblings_list", "2-3\n");
    let topology = read(&dir);
    assert_eq!(pods(&topology, Scope::Smt), "0|1|2|3");
    assert!(is_noted(&topology, &at(&dir, "cpu/cpu1/topology"), "does not name CPU 1 itself"));
}

#[test]
fn where_groups_overlap_the_lower_cpu_is_right() {
    let dir = written("core:4", STYLE);
    put(&dir, "cpu/cpu0/topology/thread_siblings_list", "0-1\n");
    put(&dir, "cpu/cpu2/topology/thread_siblings_list", "1-2\n");
    let topology = read(&dir);
    assert_eq!(pods(&topology, Scope::Smt), "0-1|2|3");
    assert!(is_noted(&topology, &at(&dir, "cpu/cpu2/topology"), "also claims CPU 1"));
}

#[test]
fn online_is_found_from_directories_where_the_list_is_missing_or_damaged() {
    let spec = "core:4/offline:2";
    for text in [None, Some("0-3-9"), Some(""), Some("\u{0}")] {
        let dir = written(spec, Style { online_list: false, ..STYLE });
        fs::remove_file(at(&dir, "cpu/cpu0/online")).expect("CPU 0 cannot be taken off");
        put(&dir, "cpu/cpu3/online", "yes\n");
        put(&dir, "cpu/cpufreq/policy0", "");
        if let Some(text) = text {
            put(&dir, "cpu/online", text);
        }
        let topology = read(&dir);
        assert_eq!(
            (topology.cpus().to_string(), topology.offline().to_string()),
            ("0-1,3".into(), "2".into())
        );
        assert!(is_noted(&topology, &at(&dir, "cpu/cpu3/online"), "neither 0 nor 1"));
    }
}

#[test]
fn online_cpus_that_are_not_present_are_left_out() {
    let dir = written("core:4", STYLE);
    put(&dir, "cpu/present", "0-2\n");
    let topology = read(&dir);
    assert_eq!(topology.cpus().to_string(), "0-2");
    assert!(is_noted(&topology, &at(&dir, "cpu/present"), "does not name CPU 3"));
    put(&dir, "cpu/present", "8-9\n");
    assert_eq!(read(&dir).cpus().to_string(), "0-3");
}

#[test]
fn a_tree_without_any_online_cpu_is_an_error() {
    let dir = tree::directory();
    let error = Topology::from_sysfs(dir.path()).expect_err("nothing there");
    assert_eq!(error.kind(), TopologyErrorKind::Unreadable);
    fs::create_dir_all(at(&dir, "cpu")).expect("a directory");
    let error = Topology::from_sysfs(dir.path()).expect_err("no CPU");
    assert_eq!(error.kind(), TopologyErrorKind::NoCpus);
    assert!(error.to_string().contains(&at(&dir, "cpu").display().to_string()), "{error}");
}

#[test]
fn directories_and_pipes_in_place_of_files_do_not_stop_the_reader() {
    let dir = written("core:2", STYLE);
    let pipe = at(&dir, "cpu/cpu0/topology/thread_siblings_list");
    fs::remove_file(&pipe).expect("removed");
    let status = std::process::Command::new("mkfifo").arg(&pipe).status();
    if !status.is_ok_and(|status| status.success()) {
        tree::skipped("no mkfifo to make a pipe with");
    }
    fs::remove_file(at(&dir, "cpu/isolated")).expect("removed");
    fs::create_dir(at(&dir, "cpu/isolated")).expect("made");
    let topology = read(&dir);
    assert_eq!(pods(&topology, Scope::Smt), "0|1");
    assert!(is_noted(&topology, &at(&dir, "cpu/isolated"), "is a directory"));
}

#[test]
fn this_machine_can_be_read() {
    let topology = Topology::detect().expect("this machine");
    assert!(topology.is_host() && !topology.cpus().is_empty() && topology.parallelism() >= 1);
    assert!(topology.cpus().is_subset(&cmwq_sys::affinity::current().expect("affinity")));
    let cpu = topology.cpus().first().expect("a CPU");
    assert_eq!(topology.pod_of(Scope::System, cpu), Some(0));
}
