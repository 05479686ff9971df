//! Writes a machine out as the files of sysfs.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use cmwq_sys::topology::{CpuId, CpuSet, Scope, Topology};

/// How a tree spells what it says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    /// Lists of siblings and sharers; masks otherwise, as in old trees.
    pub(crate) lists: bool,
    /// The list of online CPUs; a file for each CPU otherwise.
    pub(crate) online_list: bool,
    /// Cache lists go on to name offline CPUs.
    pub(crate) offline_sharers: bool,
}

/// Writes `machine` below `root`.
pub(crate) fn write(root: &Path, machine: &Topology, style: Style) -> io::Result<()> {
    let system = root.join("sys/devices/system");
    let cpu_dir = system.join("cpu");
    fs::create_dir_all(&cpu_dir)?;
    let all = machine.online().union(machine.offline());
    if style.online_list {
        put(&cpu_dir, "online", machine.online())?;
        put(&cpu_dir, "present", &all)?;
    }
    put(&cpu_dir, "isolated", machine.isolated())?;
    for cpu in &all {
        let dir = cpu_dir.join(format!("cpu{cpu}"));
        fs::create_dir(&dir)?;
        if !style.online_list {
            fs::write(dir.join("online"), if machine.online().contains(cpu) { "1\n" } else { "0\n" })?;
        }
    }
    for core in machine.pods(Scope::Smt) {
        for cpu in &core.cpus {
            let dir = made(cpu_dir.join(format!("cpu{cpu}/topology")))?;
            spell(&dir, style, ("thread_siblings_list", "thread_siblings"), &core.cpus)?;
        }
    }
    for cache in machine.pods(Scope::Cache) {
        let mut sharers = cache.cpus.clone();
        if style.offline_sharers {
            sharers.extend(machine.offline());
        }
        for cpu in &cache.cpus {
            write_caches(&cpu_dir.join(format!("cpu{cpu}/cache")), cpu, &sharers, style)?;
        }
    }
    for node in machine.nodes() {
        let dir = made(system.join(format!("node/node{}", node.id)))?;
        spell(&dir, style, ("cpulist", "cpumap"), &node.cpus)?;
    }
    Ok(())
}

/// A cache for data and one for instructions that are private, and the shared one.
fn write_caches(dir: &Path, cpu: CpuId, sharers: &CpuSet, style: Style) -> io::Result<()> {
    let own = CpuSet::from_iter([cpu]);
    for (index, level, kind, cpus) in
        [(0, 1, "Data", &own), (1, 1, "Instruction", &own), (2, 3, "Unified", sharers)]
    {
        let dir = made(dir.join(format!("index{index}")))?;
        fs::write(dir.join("level"), format!("{level}\n"))?;
        fs::write(dir.join("type"), format!("{kind}\n"))?;
        spell(&dir, style, ("shared_cpu_list", "shared_cpu_map"), cpus)?;
    }
    Ok(())
}

fn made(dir: PathBuf) -> io::Result<PathBuf> {
    fs::create_dir_all(&dir)?;
    Ok(dir)
}

fn put(dir: &Path, name: &str, cpus: &CpuSet) -> io::Result<()> {
    fs::write(dir.join(name), format!("{cpus}\n"))
}

fn spell(dir: &Path, style: Style, (list, mask): (&str, &str), cpus: &CpuSet) -> io::Result<()> {
    if style.lists { put(dir, list, cpus) } else { fs::write(dir.join(mask), mask_of(cpus)) }
}

/// The kernel's mask: groups of eight digits, the highest first.
pub(crate) fn mask_of(cpus: &CpuSet) -> String {
    let groups = cpus.last().map_or(1, |last| last.0 / 32 + 1);
    let group = |group: u32| {
        let bits = (0..32).filter(|bit| cpus.contains(CpuId(group * 32 + bit)));
        format!("{:08x}", bits.fold(0_u32, |word, bit| word | 1 << bit))
    };
    let groups: Vec<String> = (0..groups).rev().map(group).collect();
    groups.join(",") + "\n"
}

/// A directory for a tree, in memory where the system has such a place: trees are thousands of
/// files.
pub(crate) fn directory() -> tempfile::TempDir {
    let in_memory = tempfile::tempdir_in("/dev/shm");
    in_memory.or_else(|_| tempfile::tempdir()).expect("a temporary directory")
}

/// Says what was not tested, past the harness, which hides the output of tests that pass.
#[allow(dead_code, reason = "not every test file has something to skip")]
pub(crate) fn skipped(what: &str) {
    _ = writeln!(io::stderr(), "skipped: {what}");
    if let Some(path) = std::env::var_os("CMWQ_SKIPS") {
        let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
        _ = file.and_then(|mut file| writeln!(file, "skipped: {what}"));
    }
}
