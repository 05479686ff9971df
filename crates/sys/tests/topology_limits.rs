//! What a process may use, from the files that a container of any kind would see.

#[path = "topo/tree.rs"]
mod tree;

use std::fs;
use std::path::Path;

use cmwq_sys::topology::{CpuSet, Scope, Topology};
use tempfile::TempDir;
use tree::Style;

const V2_MOUNT: &str = "30 25 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
const V1_MOUNTS: &str = "\
31 25 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:5 - cgroup cgroup rw,cpu,cpuacct
32 25 0:28 / /sys/fs/cgroup/cpuset rw shared:6 - cgroup cgroup rw,cpuset
33 25 0:29 / /sys/fs/cgroup/memory rw shared:7 - cgroup cgroup rw,memory
";

/// Eight CPUs in two caches, and these files.
fn container(files: &[(&str, &str)]) -> TempDir {
    let dir = tree::directory();
    let machine = Topology::synthetic("cache:2/core:4").expect("a spec");
    let style = Style { lists: true, online_list: true, offline_sharers: false };
    tree::write(dir.path(), &machine, style).expect("a tree");
    for (path, text) in files {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().expect("a file in a directory")).expect("a directory");
        fs::write(path, text).expect("a file");
    }
    dir
}

fn read(dir: &TempDir) -> Topology {
    Topology::for_process(dir.path(), None).expect("a topology")
}

fn quota(dir: &TempDir) -> Option<f64> {
    read(dir).quota().map(|quota| quota.cpus())
}

fn cpus(dir: &TempDir) -> String {
    read(dir).cpus().to_string()
}

fn notes(dir: &TempDir) -> String {
    read(dir).ignored().iter().map(|note| format!("{note}\n")).collect()
}

#[test]
fn version_2_the_tightest_quota_of_the_group_and_its_ancestors_counts() {
    let group = "sys/fs/cgroup/pods/pod7/main";
    let files = |leaf, middle, top| {
        container(&[
            ("proc/self/cgroup", "0::/pods/pod7/main\n"),
            ("proc/self/mountinfo", V2_MOUNT),
            (&format!("{group}/cpu.max"), leaf),
            ("sys/fs/cgroup/pods/pod7/cpu.max", middle),
            ("sys/fs/cgroup/pods/cpu.max", top),
        ])
    };
    for (leaf, middle, top, expected) in [
        ("max 100000\n", "max 100000\n", "max 100000\n", None),
        ("150000 100000\n", "max 100000\n", "max 100000\n", Some(1.5)),
        ("400000 100000\n", "25000 50000\n", "max 100000\n", Some(0.5)),
        ("max 100000\n", "max 100000\n", "30000 20000\n", Some(1.5)),
        ("300000\n", "max\n", "max\n", Some(3.0)),
    ] {
        assert_eq!(quota(&files(leaf, middle, top)), expected, "{leaf} {middle} {top}");
    }
}

#[test]
fn version_2_the_cpuset_of_the_nearest_group_that_has_one_counts() {
    let dir = container(&[
        ("proc/self/cgroup", "0::/a/b\n"),
        ("proc/self/mountinfo", V2_MOUNT),
        ("sys/fs/cgroup/cpuset.cpus.effective", "0-7\n"),
        ("sys/fs/cgroup/a/cpuset.cpus.effective", "2-5\n"),
        ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
    ]);
    assert_eq!(cpus(&dir), "2-5");
    let topology = read(&dir);
    let caches: Vec<String> = topology.pods(Scope::Cache).iter().map(|pod| pod.cpus.to_string()).collect();
    assert_eq!(caches, ["2-3", "4-5"]);
    // A partition's CPUs are gone from its parent's effective set.
    let partition = container(&[
        ("proc/self/cgroup", "0::/a/b\n"),
        ("proc/self/mountinfo", V2_MOUNT),
        ("sys/fs/cgroup/a/cpuset.cpus.effective", "0-3\n"),
        ("sys/fs/cgroup/a/b/cpuset.cpus.effective", "6-7\n"),
    ]);
    assert_eq!(cpus(&partition), "6-7");
}

#[test]
fn version_1_quota_and_cpuset() {
    let dir = container(&[
        ("proc/self/cgroup", "5:cpu,cpuacct:/docker/x\n4:cpuset:/docker/x\n3:memory:/docker/x\n0::/\n"),
        ("proc/self/mountinfo", V1_MOUNTS),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us", "220000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "-1\n"),
        ("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpuset/docker/x/cpuset.cpus", "1,3-4\n"),
        ("sys/fs/cgroup/cpuset/cpuset.cpus", "0-7\n"),
    ]);
    assert_eq!(quota(&dir), Some(2.2));
    assert_eq!(cpus(&dir), "1,3-4");
    assert_eq!(read(&dir).parallelism(), 3);
}

#[test]
fn a_container_that_sees_its_group_as_the_top_of_the_mount() {
    // Version 1 without a cgroup namespace: full paths, and a mount that shows a part.
    let dir = container(&[
        ("proc/self/cgroup", "2:cpu:/docker/x/inner\n1:cpuset:/docker/x\n"),
        (
            "proc/self/mountinfo",
            "31 25 0:27 /docker/x /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n\
             32 25 0:28 /docker/x /sys/fs/cgroup/cpuset ro - cgroup cgroup rw,cpuset\n",
        ),
        ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n"),
        ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpu/inner/cpu.cfs_quota_us", "-1\n"),
        ("sys/fs/cgroup/cpuset/cpuset.cpus", "0-1\n"),
    ]);
    assert_eq!((quota(&dir), cpus(&dir)), (Some(0.5), "0-1".to_owned()));
    assert_eq!(read(&dir).parallelism(), 1);
    // Version 2 in a namespace: both paths are `/`.
    let dir = container(&[
        ("proc/self/cgroup", "0::/\n"),
        ("proc/self/mountinfo", V2_MOUNT),
        ("sys/fs/cgroup/cpu.max", "120000 100000\n"),
        ("sys/fs/cgroup/cpuset.cpus.effective", "4-7\n"),
    ]);
    assert_eq!((quota(&dir), cpus(&dir)), (Some(1.2), "4-7".to_owned()));
}

#[test]
fn nested_namespaces_show_paths_that_begin_above_their_root() {
    let mount = |root: &str| format!("30 25 0:26 {root} /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    let top = ("sys/fs/cgroup/cpu.max", "700000 100000\n");
    // The mount reaches two levels above the namespace; the process sits beside its root.
    let outside = mount("/../..");
    let dir = container(&[
        ("proc/self/cgroup", "0::/../../slice/job\n"),
        ("proc/self/mountinfo", &outside),
        top,
        ("sys/fs/cgroup/slice/job/cpu.max", "200000 100000\n"),
    ]);
    assert_eq!(quota(&dir), Some(2.0));
    // The names between the top of the mount and the process are hidden.
    let dir = container(&[("proc/self/cgroup", "0::/\n"), ("proc/self/mountinfo", &outside), top]);
    assert_eq!(quota(&dir), Some(7.0));
    assert!(notes(&dir).contains("mounted from outside the cgroup namespace"), "{}", notes(&dir));
    // The process is not below what is mounted.
    let inside = mount("/");
    let dir = container(&[("proc/self/cgroup", "0::/../other\n"), ("proc/self/mountinfo", &inside), top]);
    assert_eq!(quota(&dir), None);
    assert!(notes(&dir).contains("does not hold the cgroup of the process"), "{}", notes(&dir));
}

#[test]
fn of_several_mounts_the_one_that_shows_most_is_used() {
    let mounts = "\
30 25 0:26 /a/b /mnt/part rw - cgroup2 cgroup2 rw
31 25 0:26 / /mnt/with\\040space rw - cgroup2 cgroup2 rw
";
    let dir = container(&[
        ("proc/self/cgroup", "0::/a/b\n"),
        ("proc/self/mountinfo", mounts),
        ("mnt/with space/a/cpu.max", "10000 100000\n"),
        ("mnt/part/cpu.max", "max 100000\n"),
    ]);
    assert_eq!(quota(&dir), Some(0.1));
}

#[test]
fn both_versions_side_by_side_leave_what_both_allow() {
    let mounts = format!("{V1_MOUNTS}{}", V2_MOUNT.replace("/sys/fs/cgroup ", "/sys/fs/cgroup/unified "));
    let dir = container(&[
        ("proc/self/cgroup", "4:cpuset:/x\n0::/y\n"),
        ("proc/self/mountinfo", &mounts),
        ("sys/fs/cgroup/cpuset/x/cpuset.cpus", "0-5\n"),
        ("sys/fs/cgroup/unified/y/cpu.max", "100000 100000\n"),
        ("sys/fs/cgroup/unified/y/cpuset.cpus.effective", "4-7\n"),
    ]);
    assert_eq!((quota(&dir), cpus(&dir)), (Some(1.0), "4-5".to_owned()));
}

#[test]
fn the_affinity_mask_and_the_cpuset_both_count() {
    let dir = container(&[
        ("proc/self/cgroup", "0::/\n"),
        ("proc/self/mountinfo", V2_MOUNT),
        ("sys/fs/cgroup/cpuset.cpus.effective", "2-7\n"),
    ]);
    let with = |mask: &str| {
        let mask: CpuSet = mask.parse().expect("a list");
        Topology::for_process(dir.path(), Some(&mask)).expect("a topology")
    };
    assert_eq!(with("0-3,100").cpus().to_string(), "2-3");
    let contradiction = with("0-1");
    assert_eq!(contradiction.cpus().to_string(), "0-1");
    let why = contradiction.ignored().iter().map(|note| note.why.as_str()).collect::<String>();
    assert!(why.contains("none of CPU 0-1; not believed"), "{why}");
}

#[test]
fn limits_that_make_no_sense_are_noted_and_not_applied() {
    for (text, group) in [
        ("lots 100000\n", "cpu.max"),
        ("0 100000\n", "cpu.max"),
        ("100000 0\n", "cpu.max"),
        ("100000 x\n", "cpu.max"),
        ("\n", "cpu.max"),
        ("-5 100000\n", "cpu.max"),
        ("3-1\n", "cpuset.cpus.effective"),
    ] {
        let path = format!("sys/fs/cgroup/{group}");
        let dir =
            container(&[("proc/self/cgroup", "0::/\n"), ("proc/self/mountinfo", V2_MOUNT), (&path, text)]);
        assert_eq!((quota(&dir), cpus(&dir)), (None, "0-7".to_owned()), "{text}");
        assert!(notes(&dir).contains(group), "{text}: {}", notes(&dir));
    }
}

#[test]
fn a_tree_without_proc_has_no_limits_and_without_mountinfo_the_usual_mounts() {
    let dir = container(&[]);
    assert_eq!((quota(&dir), cpus(&dir)), (None, "0-7".to_owned()));
    assert!(notes(&dir).contains("proc/self/cgroup: not there"), "{}", notes(&dir));
    let dir = container(&[("proc/self/cgroup", "0::/a\n"), ("sys/fs/cgroup/a/cpu.max", "5000 10000\n")]);
    assert_eq!(quota(&dir), Some(0.5));
}

#[test]
fn from_sysfs_applies_no_limit() {
    let dir = container(&[
        ("proc/self/cgroup", "0::/\n"),
        ("proc/self/mountinfo", V2_MOUNT),
        ("sys/fs/cgroup/cpu.max", "50000 100000\n"),
        ("sys/fs/cgroup/cpuset.cpus.effective", "0\n"),
    ]);
    let topology = Topology::from_sysfs(dir.path()).expect("a topology");
    assert_eq!((topology.quota(), topology.cpus().len()), (None, 8));
}

#[test]
fn a_missing_root_is_one_line_that_names_it() {
    let error = Topology::from_sysfs(Path::new("/nowhere/at/all")).expect_err("no such place").to_string();
    assert!(error.starts_with("/nowhere/at/all/sys/devices/system/cpu: "), "{error}");
    assert_eq!(error.lines().count(), 1);
}

#[test]
fn quotas_are_rounded_up_to_at_least_one_and_at_most_the_cpus() {
    for (time, period, cpus, usable) in
        [(1, 100_000, 8, 1), (150_000, 100_000, 8, 2), (200_000, 100_000, 8, 2), (900_000, 100_000, 4, 4)]
    {
        let quota = cmwq_sys::topology::Quota::new(time, period).expect("not zero");
        assert_eq!(quota.usable_cpus(cpus), usable, "{time} / {period}");
    }
}
