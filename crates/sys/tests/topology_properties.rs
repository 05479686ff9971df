//! What holds for every machine, and for every damaged description of one.

#[path = "topo/tree.rs"]
mod tree;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cmwq_sys::topology::{CpuId, CpuSet, Pod, Scope, Topology};
use proptest::prelude::*;
use tree::Style;

fn counts(max: usize) -> impl Strategy<Value = String> {
    let one = (1..=max, 1..=2_usize).prop_map(|(count, times)| match times {
        1 => count.to_string(),
        _ => format!("{count}x{times}"),
    });
    prop::collection::vec(one, 1..3).prop_map(|counts| counts.join("+"))
}

/// A spec of a machine of up to some hundred CPUs, CPU 0 online.
fn specs() -> impl Strategy<Value = String> {
    let shape = (1..=3_usize, counts(3), counts(20), counts(3), 0..=2_usize);
    let order = prop::sample::select(vec!["cores", "threads", "nodes"]);
    let gone = prop::collection::btree_set(1..60_u32, 0..6);
    (shape, order, gone.clone(), gone).prop_map(|(shape, order, offline, absent)| {
        let (nodes, caches, cores, threads, memory) = shape;
        let plain = format!("node:{nodes}/cache:{caches}/core:{cores}/thread:{threads}");
        let size = Topology::synthetic(&plain).expect("a valid spec").cpus().len() as u32;
        let list = |cpus: &BTreeSet<u32>| {
            let cpus = cpus.iter().filter(|&&cpu| cpu < size);
            cpus.map(u32::to_string).collect::<Vec<String>>().join(",")
        };
        let gone = format!("offline:{}/absent:{}", list(&offline), list(&absent));
        format!("{plain}/memory:{memory}/order:{order}/{gone}")
    })
}

fn styles() -> impl Strategy<Value = Style> {
    any::<[bool; 3]>().prop_map(|[lists, online_list, offline_sharers]| Style {
        lists,
        online_list,
        offline_sharers,
    })
}

fn assert_partition(topology: &Topology) {
    for scope in Scope::ALL {
        let pods = topology.pods(scope);
        let mut seen = CpuSet::new();
        for (index, pod) in pods.iter().enumerate() {
            assert!(!pod.cpus.is_empty() && seen.is_disjoint(&pod.cpus), "{scope}");
            seen = seen.union(&pod.cpus);
            let is_found = |cpu| topology.pod_of(scope, cpu) == Some(index);
            assert!(pod.cpus.iter().all(is_found), "{scope}");
        }
        assert_eq!(&seen, topology.cpus(), "{scope}");
        assert!(pods.is_sorted_by_key(|pod| pod.cpus.first()), "{scope}");
        assert_eq!(topology.pod_of(scope, CpuId(u32::MAX)), None);
    }
}

fn assert_nested(inner: &[Pod], outer: &[Pod]) {
    for pod in inner {
        let holders = outer.iter().filter(|outer| pod.cpus.is_subset(&outer.cpus));
        assert_eq!(holders.count(), 1, "{pod:?} in {outer:?}");
    }
}

/// Sizes, in cores, of the shards of every cache.
fn assert_even_shards(topology: &Topology) {
    let cores_in = |cpus: &CpuSet| {
        let cores = topology.pods(Scope::Smt).iter();
        cores.filter(|core| core.cpus.is_subset(cpus)).count()
    };
    for cache in topology.pods(Scope::Cache) {
        let shards = topology.pods(Scope::CacheShard).iter();
        let own = shards.filter(|shard| shard.cpus.is_subset(&cache.cpus));
        let sizes: Vec<usize> = own.map(|shard| cores_in(&shard.cpus)).collect();
        let rounded = ((cores_in(&cache.cpus) as f64 / 8.0).round() as usize).max(1);
        assert_eq!(sizes.len(), rounded, "{sizes:?}");
        assert!(sizes.iter().max().unwrap_or(&0) - sizes.iter().min().unwrap_or(&0) <= 1, "{sizes:?}");
        assert!(sizes.is_sorted_by(|before, after| before >= after), "{sizes:?}");
    }
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).expect("a listing") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { dirs.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

/// What happens to a file.
#[derive(Clone, Debug)]
enum Damage {
    Missing,
    Directory,
    Bytes(Vec<u8>),
    Inserted(usize, u8),
    Cut(usize),
}

fn damages() -> impl Strategy<Value = Damage> {
    let textual = "[0-9a-f,\\- \\n]{0,12}".prop_map(String::into_bytes);
    prop_oneof![
        Just(Damage::Missing),
        Just(Damage::Directory),
        prop::collection::vec(any::<u8>(), 0..20).prop_map(Damage::Bytes),
        textual.prop_map(Damage::Bytes),
        (any::<prop::sample::Index>(), any::<u8>())
            .prop_map(|(at, byte)| Damage::Inserted(at.index(40), byte)),
        (0..4_usize).prop_map(Damage::Cut),
    ]
}

fn damage(path: &Path, damage: &Damage) {
    let Ok(mut bytes) = fs::read(path) else {
        return;
    };
    match damage {
        Damage::Missing | Damage::Directory => {
            fs::remove_file(path).expect("removed");
            if matches!(damage, Damage::Directory) {
                fs::create_dir(path).expect("made");
            }
            return;
        }
        Damage::Bytes(other) => bytes.clone_from(other),
        Damage::Inserted(at, byte) => bytes.insert((*at).min(bytes.len()), *byte),
        Damage::Cut(at) => bytes.truncate(*at),
    }
    fs::write(path, bytes).expect("written");
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn pods_partition_and_nest_and_survive_a_round_through_files(
        spec in specs(),
        style in styles(),
    ) {
        let machine = Topology::synthetic(&spec).expect("a valid spec");
        assert_partition(&machine);
        assert_nested(machine.pods(Scope::Cpu), machine.pods(Scope::Smt));
        assert_nested(machine.pods(Scope::Smt), machine.pods(Scope::CacheShard));
        assert_nested(machine.pods(Scope::CacheShard), machine.pods(Scope::Cache));
        assert_nested(machine.pods(Scope::Cache), machine.pods(Scope::Numa));
        assert_nested(machine.pods(Scope::Numa), machine.pods(Scope::System));
        assert_even_shards(&machine);

        let dir = tree::directory();
        tree::write(dir.path(), &machine, style).expect("a tree");
        let read = Topology::from_sysfs(dir.path()).expect("a topology");
        for scope in Scope::ALL {
            prop_assert_eq!(read.pods(scope), machine.pods(scope), "{}", scope);
        }
        prop_assert_eq!(read.offline(), machine.offline());
        prop_assert_eq!(read.isolated(), machine.isolated());
        prop_assert_eq!(read.nodes(), machine.nodes());
        prop_assert!(read.ignored().is_empty(), "{:?}", read.ignored());
    }

    #[test]
    fn a_narrow_mask_leaves_even_shards(spec in specs(), keep in any::<u64>()) {
        let machine = Topology::synthetic(&spec).expect("a valid spec");
        let dir = tree::directory();
        let style = Style { lists: true, online_list: true, offline_sharers: false };
        tree::write(dir.path(), &machine, style).expect("a tree");
        let is_kept = |cpu: &CpuId| keep.rotate_left(cpu.0) & 1 == 1;
        let mask: CpuSet = machine.online().iter().filter(is_kept).collect();
        let limited = Topology::for_process(dir.path(), Some(&mask)).expect("a topology");
        if !mask.is_empty() {
            prop_assert_eq!(limited.cpus(), &mask);
        }
        assert_partition(&limited);
        assert_nested(limited.pods(Scope::Smt), limited.pods(Scope::CacheShard));
        assert_even_shards(&limited);
        let unlimited = limited.unlimited();
        prop_assert_eq!(unlimited.cpus(), machine.online());
    }

    #[test]
    fn damaged_trees_give_a_partition_or_an_error_that_names_the_file(
        style in styles(),
        wounds in prop::collection::vec((any::<prop::sample::Index>(), damages()), 1..8),
    ) {
        let spec = "node:2/core:3/thread:2/offline:1/isolated:2/memory:1";
        let machine = Topology::synthetic(spec).expect("a valid spec");
        let dir = tree::directory();
        tree::write(dir.path(), &machine, style).expect("a tree");
        let files = files_below(dir.path());
        for (index, wound) in &wounds {
            damage(&files[index.index(files.len())], wound);
        }
        match Topology::from_sysfs(dir.path()) {
            Ok(topology) => {
                assert_partition(&topology);
                assert_nested(topology.pods(Scope::CacheShard), topology.pods(Scope::Cache));
                for note in topology.ignored() {
                    let is_named = note.path.starts_with(dir.path()) && !note.why.is_empty();
                    prop_assert!(is_named, "{}", note);
                }
            }
            Err(error) => {
                let text = error.to_string();
                prop_assert!(text.contains(&dir.path().display().to_string()), "{}", text);
                prop_assert_eq!(text.lines().count(), 1);
            }
        }
    }
}

/// Text that a file about cgroups could almost hold.
fn cgroup_text() -> impl Strategy<Value = Vec<u8>> {
    let words = vec![
        "0::/",
        "4:cpu:/a",
        "5:cpuset:",
        "/",
        "..",
        "/sys/fs/cgroup",
        " - ",
        "cgroup2",
        "cgroup",
        "rw,cpu",
        "30 25 0:26 /",
        "max",
        "100000",
        "-1",
        "0-3",
        "\n",
        " ",
        ":",
        ",",
        "\\040",
        "\0",
        "\u{e9}",
    ];
    let word = prop_oneof![
        8 => prop::sample::select(words).prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
    ];
    prop::collection::vec(word, 0..24).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn damaged_files_about_cgroups_leave_some_cpus(
        texts in prop::collection::vec(cgroup_text(), 6),
        has_mountinfo in any::<bool>(),
    ) {
        let machine = Topology::synthetic("core:4").expect("a spec");
        let dir = tree::directory();
        let style = Style { lists: true, online_list: true, offline_sharers: false };
        tree::write(dir.path(), &machine, style).expect("a tree");
        let group = "sys/fs/cgroup";
        let version_2 = ["cpu.max", "cpuset.cpus.effective"];
        let version_1 = ["cpu/cpu.cfs_quota_us", "cpuset/cpuset.cpus"];
        let names = version_2.iter().chain(&version_1);
        let mut files: Vec<String> = names.map(|name| format!("{group}/{name}")).collect();
        files.push("proc/self/cgroup".to_owned());
        if has_mountinfo {
            files.push("proc/self/mountinfo".to_owned());
        }
        for (path, text) in files.iter().zip(&texts) {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
        let topology = Topology::for_process(dir.path(), None).expect("a topology");
        prop_assert!(!topology.cpus().is_empty());
        prop_assert!(topology.quota().is_none_or(|quota| quota.cpus() > 0.0));
        prop_assert!(topology.parallelism() >= 1);
        assert_partition(&topology);
    }
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn any_text_is_a_spec_or_an_error_that_names_the_byte(
        spec in prop_oneof![likely_specs(), any::<String>()],
    ) {
        if let Err(error) = Topology::synthetic(&spec) {
            let text = error.to_string();
            let named = text.rsplit_once(", byte ").and_then(|(_, rest)| rest.split(':').next());
            let at = named.and_then(|at| at.parse::<usize>().ok());
            prop_assert!(at.is_some_and(|at| at <= spec.len()), "{}", text);
            prop_assert_eq!(text.lines().count(), 1);
        }
    }

    #[test]
    fn sets_are_sets(left in sets(), right in sets()) {
        let (a, b) = (of(&left), of(&right));
        prop_assert_eq!(a.union(&b), of(&left.union(&right).copied().collect()));
        prop_assert_eq!(a.intersection(&b), of(&left.intersection(&right).copied().collect()));
        prop_assert_eq!(a.difference(&b), of(&left.difference(&right).copied().collect()));
        prop_assert_eq!(a.is_subset(&b), left.is_subset(&right));
        prop_assert_eq!(a.is_disjoint(&b), left.is_disjoint(&right));
        prop_assert_eq!(a.len(), left.len());
        prop_assert_eq!(a.iter().map(|cpu| cpu.0).collect::<BTreeSet<u32>>(), left.clone());
        prop_assert_eq!(CpuSet::parse_list(&a.to_string()), Ok(a.clone()));
        prop_assert_eq!(CpuSet::parse_mask(&tree::mask_of(&a)), Ok(a.clone()));
        let mut emptied = a.clone();
        for cpu in &b {
            prop_assert_eq!(emptied.remove(cpu), left.contains(&cpu.0));
        }
        prop_assert_eq!(emptied, a.difference(&b));
    }

    #[test]
    fn any_text_is_a_set_or_an_error_inside_it(
        text in prop_oneof!["[0-9a-f,\\- \\n\\x00]{0,30}", any::<String>()],
    ) {
        for parsed in [CpuSet::parse_list(&text), CpuSet::parse_mask(&text)] {
            prop_assert!(parsed.map_or_else(|error| error.at() <= text.len(), |_| true));
        }
    }
}

/// Texts that get past the first check of a field more often than not.
fn likely_specs() -> impl Strategy<Value = String> {
    let keys = vec!["node", "cache", "core", "thread", "offline", "absent", "memory", "cores", ""];
    let field = (prop::sample::select(keys), "[0-9x+,:\\-]{0,6}");
    let field = field.prop_map(|(key, value)| format!("{key}:{value}"));
    prop::collection::vec(field, 0..4).prop_map(|fields| fields.join("/"))
}

fn sets() -> impl Strategy<Value = BTreeSet<u32>> {
    let edges = vec![0, 63, 64, 127, 128, 1023, 1024, 65535];
    prop_oneof![
        prop::collection::btree_set(0..200_u32, 0..60),
        prop::collection::btree_set(prop::sample::select(edges), 0..6),
    ]
}

fn of(cpus: &BTreeSet<u32>) -> CpuSet {
    cpus.iter().rev().copied().map(CpuId).collect()
}
