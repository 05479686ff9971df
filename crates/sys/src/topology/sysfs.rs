//! Reads a machine from the files of sysfs under any root.
//!
//! One pass, and as few files as will do: siblings and cache sharers are read from the first CPU of
//! a group and marked on all the others. A core costs one file, a cache about eight, and every
//! sharer of a cache two looks at whether it has the same caches.

use std::path::{Path, PathBuf};

use super::cpu_set::{CpuId, CpuSet};
use super::error::TopologyError;
use super::files::{Files, Spelling, describe, is_absent};
use super::machine::{Groups, Machine};
use super::{Node, NodeId};

/// Current and old names of the list of a core's hardware threads; old trees have masks only.
const SIBLING_FILES: [(&str, Spelling); 4] = [
    ("thread_siblings_list", Spelling::List),
    ("core_cpus_list", Spelling::List),
    ("thread_siblings", Spelling::Mask),
    ("core_cpus", Spelling::Mask),
];
const SHARER_FILES: [(&str, Spelling); 2] =
    [("shared_cpu_list", Spelling::List), ("shared_cpu_map", Spelling::Mask)];
const NODE_FILES: [(&str, Spelling); 2] = [("cpulist", Spelling::List), ("cpumap", Spelling::Mask)];

/// What the attempt to place a CPU in a group came to.
enum Sharers {
    /// These CPUs, the asking one among them, by this file's directory.
    Of(CpuSet, PathBuf),
    /// Nothing was said.
    Silent,
    /// Something was said that cannot be understood; another CPU of the group may say it better.
    Garbled,
}

/// Reads the machine below `root`, which stands for `/`.
pub(super) fn read(root: &Path, files: &mut Files) -> Result<Machine, TopologyError> {
    let system = root.join("sys/devices/system");
    let cpu_dir = system.join("cpu");
    let (online, offline) = online_and_offline(&cpu_dir, files)?;
    let isolated = files.cpus(&cpu_dir, &[("isolated", Spelling::List)]).unwrap_or_default();
    Ok(Machine {
        cores: cores(&cpu_dir, &online, files),
        caches: caches(&cpu_dir, &online, files),
        nodes: nodes(&system.join("node"), &online, files),
        isolated: isolated.intersection(&online),
        online,
        offline,
    })
}

fn online_and_offline(cpu_dir: &Path, files: &mut Files) -> Result<(CpuSet, CpuSet), TopologyError> {
    let listed = files.cpus(cpu_dir, &[("online", Spelling::List)]).filter(|online| !online.is_empty());
    let present = files.cpus(cpu_dir, &[("present", Spelling::List)]).filter(|present| !present.is_empty());
    let (online, known) = match listed {
        Some(online) => (online.clone(), online),
        None => by_directory(cpu_dir, files)?,
    };
    if online.is_empty() {
        return Err(TopologyError::no_cpus(cpu_dir));
    }
    let present = present.unwrap_or(known);
    let absent = online.difference(&present);
    if absent.is_empty() {
        return Ok((online.clone(), present.difference(&online)));
    }
    let path = cpu_dir.join("present");
    if absent == online {
        files.note(path, "names no CPU that is online; not believed");
        return Ok((online, CpuSet::new()));
    }
    files.note(path, format!("does not name CPU {absent}, though listed as online; left out"));
    let online = online.difference(&absent);
    let offline = present.difference(&online);
    Ok((online, offline))
}

/// Without a list: a directory for every present CPU, in it `online`, which only CPUs that can be
/// taken off have.
fn by_directory(cpu_dir: &Path, files: &mut Files) -> Result<(CpuSet, CpuSet), TopologyError> {
    let numbers = files.numbered(cpu_dir, "cpu");
    let numbers = numbers.map_err(|error| TopologyError::unreadable(cpu_dir, &describe(&error)))?;
    let present: CpuSet = numbers.into_iter().map(CpuId).collect();
    let mut online = CpuSet::new();
    for cpu in &present {
        let path = cpu_dir.join(format!("cpu{cpu}/online"));
        let text = files.text(&path);
        match text.as_deref().map(|text| text.trim_matches(['\n', '\0', ' '])) {
            Some("0") => {}
            Some("1") | None => _ = online.insert(cpu),
            Some(_) => {
                files.note(path, "neither 0 nor 1; the CPU is taken to be online");
                online.insert(cpu);
            }
        }
    }
    Ok((online, present))
}

fn cores(cpu_dir: &Path, online: &CpuSet, files: &mut Files) -> Vec<CpuSet> {
    let mut groups = Groups::default();
    for cpu in online {
        if !groups.has(cpu) {
            let dir = cpu_dir.join(format!("cpu{cpu}/topology"));
            if let Sharers::Of(cpus, dir) = sharers(cpu, dir, &SIBLING_FILES, files) {
                let taken = groups.claim(&cpus.intersection(online));
                note_taken(&taken, &dir, files);
            }
        }
    }
    let silent = without_group(&groups, online);
    if !silent.is_empty() {
        let path = cpu_dir.join("cpu*/topology");
        files.note(path, format!("says nothing of CPU {silent}; each is taken as a core of its own"));
    }
    groups.finish(online)
}

/// Garbled files get a second look once every other CPU has spoken: first at the same cache, then
/// at smaller ones.
fn caches(cpu_dir: &Path, online: &CpuSet, files: &mut Files) -> Vec<CpuSet> {
    let mut groups = Groups::default();
    let mut garbled = CpuSet::new();
    for cpu in online {
        if !groups.has(cpu) {
            match last_level(cpu_dir, cpu, files).next(files) {
                Sharers::Of(cpus, dir) => {
                    place(&mut groups, cpu, cpus.intersection(online), &dir, files);
                }
                Sharers::Silent => {}
                Sharers::Garbled => _ = garbled.insert(cpu),
            }
        }
    }
    for cpu in &garbled {
        if groups.has(cpu) {
            continue;
        }
        let mut levels = last_level(cpu_dir, cpu, files);
        loop {
            match levels.next(files) {
                Sharers::Of(cpus, dir) => {
                    place(&mut groups, cpu, cpus.intersection(online), &dir, files);
                    break;
                }
                Sharers::Silent => break,
                Sharers::Garbled => {}
            }
        }
    }
    let silent = without_group(&groups, online);
    if !silent.is_empty() {
        let why = format!("names no cache of CPU {silent}; each is a cache pod of its own");
        files.note(cpu_dir.join("cpu*/cache"), why);
    }
    groups.finish(online)
}

/// Puts a CPU with those that `dir`, its directory of the cache, says share it. Of these the CPUs
/// that have the same caches are taken along; the others are asked in their turn, as they may lack
/// this cache or have a further level.
fn place(groups: &mut Groups, cpu: CpuId, sharers: CpuSet, dir: &Path, files: &mut Files) {
    if groups.join(&sharers, cpu) {
        return;
    }
    let mut members = CpuSet::from_iter([cpu]);
    if sharers.len() > 1 {
        let cpu_dir = dir.ancestors().nth(3).unwrap_or(dir);
        let own = cache_indexes(cpu_dir, cpu, files);
        // Without gaps two looks at names do for a listing.
        let count = own.len() as u32;
        let has_gaps = own.iter().copied().ne(0..count);
        let index = dir.file_name().unwrap_or_default();
        let beyond = format!("index{count}");
        members.extend(sharers.iter().filter(|&other| {
            if has_gaps {
                return cache_indexes(cpu_dir, other, files) == own;
            }
            let caches = cpu_dir.join(format!("cpu{other}/cache"));
            caches.join(index).exists() && !caches.join(&beyond).exists()
        }));
    }
    let taken = groups.claim_part(sharers, &members);
    note_taken(&taken, dir, files);
}

fn cache_indexes(cpu_dir: &Path, cpu: CpuId, files: &mut Files) -> Vec<u32> {
    let dir = cpu_dir.join(format!("cpu{cpu}/cache"));
    files.numbered(&dir, "index").unwrap_or_else(|error| {
        if !is_absent(&error) {
            files.note(&dir, describe(&error));
        }
        Vec::new()
    })
}

fn without_group(groups: &Groups, online: &CpuSet) -> CpuSet {
    online.iter().filter(|&cpu| !groups.has(cpu)).collect()
}

fn note_taken(taken: &CpuSet, dir: &Path, files: &mut Files) {
    if !taken.is_empty() {
        let why = "which another CPU's files place elsewhere; not followed";
        files.note(dir, format!("also claims CPU {taken}, {why}"));
    }
}

fn sharers(cpu: CpuId, dir: PathBuf, names: &[(&str, Spelling)], files: &mut Files) -> Sharers {
    let notes_before = files.note_count();
    match files.cpus(&dir, names) {
        Some(cpus) if cpus.contains(cpu) => Sharers::Of(cpus, dir),
        Some(_) => {
            files.note(dir, format!("does not name CPU {cpu} itself; not believed"));
            Sharers::Garbled
        }
        None if files.note_count() > notes_before => Sharers::Garbled,
        None => Sharers::Silent,
    }
}

/// The data caches of one CPU, the last level first.
struct Levels {
    cpu: CpuId,
    dirs: std::vec::IntoIter<PathBuf>,
    garbled: bool,
}

impl Levels {
    /// The sharers of the next cache that is not for instructions alone; silent once there is none.
    fn next(&mut self, files: &mut Files) -> Sharers {
        if std::mem::take(&mut self.garbled) {
            return Sharers::Garbled;
        }
        for dir in self.dirs.by_ref() {
            let kind = files.text(&dir.join("type"));
            if kind.is_some_and(|kind| kind.trim() == "Instruction") {
                continue;
            }
            match sharers(self.cpu, dir, &SHARER_FILES, files) {
                Sharers::Silent => {}
                found => return found,
            }
        }
        Sharers::Silent
    }
}

fn last_level(cpu_dir: &Path, cpu: CpuId, files: &mut Files) -> Levels {
    let cache_dir = cpu_dir.join(format!("cpu{cpu}/cache"));
    let indexes = cache_indexes(cpu_dir, cpu, files);
    let mut garbled = false;
    let mut levels: Vec<(u32, PathBuf)> = Vec::new();
    for index in indexes {
        let dir = cache_dir.join(format!("index{index}"));
        let path = dir.join("level");
        let Some(text) = files.text(&path) else {
            continue;
        };
        match text.trim_matches(['\n', '\0', ' ']).parse() {
            Ok(level) => levels.push((level, dir)),
            Err(_) => {
                files.note(path, "not a cache level; this cache does not count");
                garbled = true;
            }
        }
    }
    levels.sort_by_key(|&(level, _)| std::cmp::Reverse(level));
    let dirs: Vec<PathBuf> = levels.into_iter().map(|(_, dir)| dir).collect();
    Levels { cpu, dirs: dirs.into_iter(), garbled }
}

/// Nodes with memory only are kept, without CPUs. Where two name one CPU, the lower node has it.
fn nodes(node_dir: &Path, online: &CpuSet, files: &mut Files) -> Vec<Node> {
    let numbers = match files.numbered(node_dir, "node") {
        Ok(numbers) => numbers,
        Err(error) => {
            files.note(node_dir, format!("{}; all CPUs share one numa pod", describe(&error)));
            return Vec::new();
        }
    };
    let mut taken = CpuSet::new();
    let mut nodes = Vec::new();
    for number in numbers {
        let dir = node_dir.join(format!("node{number}"));
        let named = files.cpus(&dir, &NODE_FILES).unwrap_or_default().intersection(online);
        let twice = named.intersection(&taken);
        if !twice.is_empty() {
            files.note(dir, format!("also claims CPU {twice}, which a lower node has; not followed"));
        }
        taken = taken.union(&named);
        nodes.push(Node { id: NodeId(number), cpus: named.difference(&twice) });
    }
    let homeless = online.difference(&taken);
    if !homeless.is_empty() {
        files.note(node_dir, format!("no node names CPU {homeless}; they share one numa pod"));
    }
    nodes
}
