//! Decisions are pure: no unsafe code where it is forbidden, no threads, clock or atomics in the core.

use std::path::Path;

use syn::Meta;

use crate::tidy::config::Config;
use crate::tidy::finding::Finding;
use crate::tidy::metadata::Metadata;
use crate::tidy::tree::Tree;

#[cfg(test)]
mod tests;

/// What a pure source does not name, and what it does instead.
const IMPURE: [(&[&str], &str); 5] = [
    (&["std", "thread"], "decide here, let the runtime act"),
    (&["time", "Instant"], "take the time as an argument"),
    (&["time", "SystemTime"], "take the time as an argument"),
    (&["sync", "atomic"], "answer with the next word, let a driver write it"),
    (&["std", "env"], "take the setting as an argument"),
];

pub(crate) fn check(tree: &Tree, metadata: &Metadata, config: &Config, findings: &mut Vec<Finding>) {
    for directory in &config.forbid_unsafe {
        check_roots(tree, metadata, directory, findings);
    }
    for (file, parsed) in tree.parsed() {
        if !config.pure.iter().any(|directory| Path::new(&file.path).starts_with(directory)) {
            continue;
        }
        for path in &parsed.paths {
            for (names, remedy) in IMPURE.iter().filter(|(names, _)| path.holds(names)) {
                let what = format!("names {}", names.join("::"));
                findings.push(Finding::new(&file.path, path.line, "pure", what, *remedy));
            }
        }
    }
}

/// Every library and binary of the package forbids unsafe code.
fn check_roots(tree: &Tree, metadata: &Metadata, directory: &str, findings: &mut Vec<Finding>) {
    let rule = "forbid-unsafe";
    let manifest = Path::new(directory).join("Cargo.toml");
    let is_meant = |path: &Path| Path::new(&metadata.relative(path)) == manifest;
    let Some(package) = metadata.packages.iter().find(|package| is_meant(&package.manifest_path)) else {
        let what = format!("no package in {directory}");
        findings.push(Finding::new("tidy.toml", 1, rule, what, "correct forbid_unsafe"));
        return;
    };
    for target in package.targets.iter().filter(|target| !target.is_test()) {
        let root = metadata.relative(&target.src_path);
        let forbids = tree
            .parsed()
            .find(|(file, _)| file.path == root)
            .is_some_and(|(_, parsed)| forbids_unsafe(&parsed.syntax));
        if !forbids {
            let what = "this root allows unsafe code";
            findings.push(Finding::new(&root, 1, rule, what, "add #![forbid(unsafe_code)]"));
        }
    }
}

fn forbids_unsafe(file: &syn::File) -> bool {
    file.attrs.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("forbid") => {
            list.tokens.clone().into_iter().any(|token| token.to_string() == "unsafe_code")
        }
        _ => false,
    })
}
