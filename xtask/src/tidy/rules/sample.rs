//! Small workspaces for the tests of the rules.

use std::path::PathBuf;

use crate::tidy::config::Config;
use crate::tidy::finding::Finding;
use crate::tidy::metadata::{Metadata, Package, Target};
use crate::tidy::tree::Tree;

/// A tree of these files; every `src/lib.rs` and `src/main.rs` among them is a root.
pub(crate) fn tree(files: &[(&str, &str)]) -> Tree {
    let owned = files.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect();
    Tree::new(owned, &metadata(files))
}

/// What cargo would say of these files: one package per root.
pub(crate) fn metadata(files: &[(&str, &str)]) -> Metadata {
    let roots =
        files.iter().filter(|(path, _)| path.ends_with("src/lib.rs") || path.ends_with("src/main.rs"));
    let packages = roots.map(|(path, _)| {
        let directory = path.rsplit_once("/src/").map_or("", |(directory, _)| directory);
        Package {
            name: directory.rsplit('/').next().unwrap_or(directory).to_string(),
            manifest_path: PathBuf::from(format!("/w/{directory}/Cargo.toml")),
            dependencies: Vec::new(),
            targets: vec![Target { kind: vec!["lib".into()], src_path: PathBuf::from(format!("/w/{path}")) }],
        }
    });
    Metadata { workspace_root: PathBuf::from("/w"), packages: packages.collect() }
}

pub(crate) fn config(text: &str) -> Config {
    Config::parse(text).expect("sample configuration parses")
}

/// The places of the findings, as `path:line`.
pub(crate) fn places(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{}:{}", finding.path, finding.line)).collect()
}
