use std::path::PathBuf;

use super::check;
use crate::tidy::finding::Finding;
use crate::tidy::metadata::{Dependency, Metadata, Package};
use crate::tidy::rules::sample;

const CONFIG: &str = "
[conditional]
loom = 'cmwq_loom'
[knows]
a-core = {}
a-sys = { workspace = ['a-core'], external = ['libc'] }
a-cli = { workspace = ['*'], external = ['*'], leaf = true }
";

type Edge<'a> = (&'a str, Option<&'a str>, Option<&'a str>);

fn findings(package: &str, edges: &[Edge<'_>]) -> Vec<Finding> {
    let mut packages: Vec<Package> = ["a-core", "a-sys", "a-cli", "a-new"].map(bare).into();
    packages.retain(|known| known.name == package || known.name != "a-new");
    let subject = packages.iter_mut().find(|known| known.name == package).expect("is known");
    subject.dependencies = edges
        .iter()
        .map(|(name, kind, target)| Dependency {
            name: name.to_string(),
            kind: kind.map(str::to_string),
            target: target.map(str::to_string),
        })
        .collect();
    let metadata = Metadata { workspace_root: PathBuf::from("/w"), packages };
    let manifest = format!("{package}/Cargo.toml");
    let tree = sample::tree(&[(manifest.as_str(), "[dependencies]\nlibc = \"0.2\"\na-cli = \"1\"\n")]);
    let mut findings = Vec::new();
    check(&tree, &metadata, &sample::config(CONFIG), &mut findings);
    findings
}

fn bare(name: &str) -> Package {
    Package {
        name: name.to_string(),
        manifest_path: PathBuf::from(format!("/w/{name}/Cargo.toml")),
        dependencies: Vec::new(),
        targets: Vec::new(),
    }
}

#[test]
fn what_a_package_may_know_passes() {
    assert!(findings("a-sys", &[("a-core", None, None), ("libc", None, None)]).is_empty());
    assert!(findings("a-cli", &[("a-sys", None, None), ("clap", None, None)]).is_empty());
}

#[test]
fn a_dependency_against_the_direction_is_a_finding() {
    assert_eq!(findings("a-core", &[("a-sys", None, None)]).len(), 1);
}

#[test]
fn an_outside_package_is_a_finding_at_its_line() {
    assert_eq!(sample::places(&findings("a-core", &[("libc", None, None)])), ["a-core/Cargo.toml:2"]);
    assert_eq!(findings("a-core", &[("cc", Some("build"), None)]).len(), 1);
}

#[test]
fn tests_may_use_what_they_like_but_no_leaf() {
    assert!(findings("a-core", &[("proptest", Some("dev"), None)]).is_empty());
    assert_eq!(sample::places(&findings("a-sys", &[("a-cli", Some("dev"), None)])), ["a-sys/Cargo.toml:3"]);
}

#[test]
fn a_conditional_package_needs_its_cfg() {
    assert!(findings("a-core", &[("loom", None, Some("cfg(cmwq_loom)"))]).is_empty());
    assert_eq!(findings("a-core", &[("loom", None, None)]).len(), 1);
    assert_eq!(findings("a-core", &[("loom", None, Some("cfg(unix)"))]).len(), 1);
}

#[test]
fn an_unlisted_package_is_a_finding() {
    assert_eq!(sample::places(&findings("a-new", &[])), ["a-new/Cargo.toml:1"]);
}
