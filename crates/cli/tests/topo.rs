//! `cmwq topo` as its users see it.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

fn topo(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cmwq")).arg("topo").args(arguments).output().expect("the tool runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

fn document(arguments: &[&str]) -> Value {
    let output = topo(arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a JSON document, and nothing else")
}

#[test]
fn the_document_of_a_synthetic_machine() {
    let spec = "node:2/core:2/thread:2/offline:3/memory:1";
    let found = document(&["--synthetic", spec, "--json", "-"]);
    let expected = json!({
        "schema": "cmwq-topo/1",
        "cpus": [0, 1, 2, 4, 5, 6, 7],
        "scopes": {
            "cpu": [[0], [1], [2], [4], [5], [6], [7]],
            "smt": [[0, 1], [2], [4, 5], [6, 7]],
            "cache_shard": [[0, 1, 2], [4, 5, 6, 7]],
            "cache": [[0, 1, 2], [4, 5, 6, 7]],
            "numa": [[0, 1, 2], [4, 5, 6, 7]],
            "system": [[0, 1, 2, 4, 5, 6, 7]],
        },
        "quota": null,
        "ignored": [],
    });
    assert_eq!(found, expected);
}

#[test]
fn the_picture_of_a_synthetic_machine() {
    let spec = "node:2/core:2/thread:2/offline:3/isolated:4/memory:1";
    let output = topo(&["--synthetic", spec]);
    let expected = "\
3 nodes, 2 caches, 4 cores, 7 CPUs online

node 0
  cache 0-2  [0 1] [2]
node 1
  cache 4-7  [4i 5] [6 7]
node 2  no CPU online (memory only)
isolated (i): 4
offline: 3

scope          pods  CPUs of each
cpu               7  each of 0-2,4-7
smt               4  0-1 | 2 | 4-5 | 6-7
cache_shard*      2  0-2 | 4-7
cache             2  0-2 | 4-7
numa              2  0-2 | 4-7
system            1  0-2,4-7
* the default
";
    assert_eq!(text(&output.stdout), expected);
    assert!(output.stderr.is_empty());
}

#[test]
fn the_document_of_a_tree_tells_what_was_ignored() {
    let dir = tempfile::tempdir().expect("a directory");
    let cpu = dir.path().join("sys/devices/system/cpu");
    fs::create_dir_all(&cpu).expect("a directory");
    fs::write(cpu.join("online"), "0-1\n").expect("a file");
    fs::write(cpu.join("isolated"), "what\n").expect("a file");
    let root = dir.path().to_str().expect("a plain path");
    let found = document(&["--sysfs", root, "--json", "-"]);
    assert_eq!(found["scopes"]["cache"], json!([[0], [1]]));
    assert_eq!(found["scopes"]["numa"], json!([[0, 1]]));
    let ignored = found["ignored"].as_array().expect("an array");
    let isolated = cpu.join("isolated").display().to_string();
    assert!(ignored.iter().any(|note| note["path"] == json!(isolated)), "{ignored:?}");
    assert!(ignored.iter().all(|note| note["why"].is_string()));
    assert!(
        text(&topo(&["--sysfs", root]).stdout)
            .contains(&format!("  {isolated}: not a CPU number at byte 0\n"))
    );
}

#[test]
fn a_document_goes_to_a_file_beside_the_picture() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("topo.json");
    let output = topo(&["--synthetic", "core:2", "--json", path.to_str().expect("a plain path")]);
    assert!(text(&output.stdout).starts_with("1 node, 1 cache, 2 cores, 2 CPUs online\n"));
    let written = fs::read_to_string(&path).expect("the file");
    assert!(written.ends_with("}\n"));
    let found: Value = serde_json::from_str(&written).expect("a document");
    assert_eq!(found["cpus"], json!([0, 1]));
}

#[test]
fn bad_input_is_one_line_and_status_2() {
    for (arguments, named) in [
        (&["--sysfs", "/nowhere/at/all"][..], "/nowhere/at/all"),
        (&["--sysfs", "/dev/null"], "/dev/null"),
        (&["--synthetic", "core:"], "byte 5"),
        (&["--synthetic", ""], "byte 0"),
        (&["--synthetic", "core:2", "--json", "/nowhere/at/all.json"], "/nowhere/at/all.json"),
        (&["--synthetic", "core:2", "--json", "/dev/full"], "/dev/full"),
        (&["--synthetic", "core:2", "--json", "/"], "/: "),
    ] {
        let output = topo(arguments);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(named) && error.lines().count() == 1, "{arguments:?}: {error}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn the_help_has_the_grammar() {
    let output = topo(&["--help"]);
    assert!(text(&output.stdout).contains("node:2/cache:4/core:8/thread:2"));
}

#[test]
fn a_reader_who_leaves_early_is_no_failure() {
    let tool = env!("CARGO_BIN_EXE_cmwq");
    let script = format!("'{tool}' topo --synthetic core:2000 | true; exit \"${{PIPESTATUS[0]}}\"");
    match Command::new("bash").args(["-c", &script]).output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", output.status);
            assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
        }
        Err(error) => skipped(&format!("a closed pipe: bash: {error}")),
    }
}

/// A cgroup of version 1 that is removed again.
struct Group(PathBuf);

impl Group {
    fn new(path: PathBuf) -> io::Result<Group> {
        fs::create_dir(&path)?;
        Ok(Group(path))
    }

    fn set(&self, file: &str, value: &str) -> io::Result<()> {
        fs::write(self.0.join(file), value)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        _ = fs::remove_dir(&self.0);
    }
}

/// Runs the tool as a member of the group.
fn document_in(group: &Group) -> Value {
    let script = "echo $$ > \"$1/cgroup.procs\" && exec \"$0\" topo --json -";
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_cmwq")]).arg(&group.0);
    let output = command.output().expect("a shell");
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a document")
}

fn skipped(what: &str) {
    _ = writeln!(io::stderr(), "skipped: {what}");
}

fn group_name(purpose: &str) -> String {
    format!("cmwq-{purpose}-{}", std::process::id())
}

#[test]
fn a_quota_on_an_ancestor_in_a_real_cgroup() {
    // The inner group is dropped, and so removed, first.
    let attempt = || -> io::Result<(Group, Group)> {
        let outer = Group::new(Path::new("/sys/fs/cgroup/cpu").join(group_name("quota")))?;
        outer.set("cpu.cfs_quota_us", "150000")?;
        let inner = Group::new(outer.0.join("inner"))?;
        Ok((outer, inner))
    };
    match attempt() {
        Ok((_outer, inner)) => assert_eq!(document_in(&inner)["quota"], json!(1.5)),
        Err(error) => skipped(&format!("a quota in a real cgroup of version 1: {error}")),
    }
}

#[test]
fn a_cpuset_in_a_real_cgroup() {
    let top = Path::new("/sys/fs/cgroup/cpuset");
    let attempt = || -> io::Result<(Group, String)> {
        let all = fs::read_to_string(top.join("cpuset.cpus"))?;
        let last = all.trim().rsplit(['-', ',']).next().unwrap_or("0").to_owned();
        let group = Group::new(top.join(group_name("cpuset")))?;
        group.set("cpuset.mems", fs::read_to_string(top.join("cpuset.mems"))?.trim())?;
        group.set("cpuset.cpus", &last)?;
        Ok((group, last))
    };
    match attempt() {
        Ok((group, last)) => {
            let last: u32 = last.parse().expect("a CPU number");
            assert_eq!(document_in(&group)["scopes"]["system"], json!([[last]]));
        }
        Err(error) => skipped(&format!("a cpuset in a real cgroup of version 1: {error}")),
    }
}

#[test]
fn an_affinity_mask_counts_unless_a_tree_is_named() {
    let run = |arguments: &[&str]| {
        let mut command = Command::new("taskset");
        command.args(["-c", "0", env!("CARGO_BIN_EXE_cmwq"), "topo", "--json", "-"]).args(arguments);
        command.output().ok().filter(|output| output.status.success())
    };
    let (Some(own), Some(tree)) = (run(&[]), run(&["--sysfs", "/"])) else {
        return skipped("an affinity mask of CPU 0: no taskset, or it is not permitted");
    };
    let parse = |output: Output| serde_json::from_slice::<Value>(&output.stdout).expect("a document");
    assert_eq!(parse(own)["cpus"], json!([0]));
    let online = fs::read_to_string("/sys/devices/system/cpu/online").expect("a Linux machine");
    let count = parse(tree)["cpus"].as_array().map_or(0, Vec::len);
    assert!((online.trim() == "0") == (count == 1));
}
