//! A memory ordering is named in driver files only, and each time with its reason.

use std::path::Path;

use crate::tidy::config::Config;
use crate::tidy::finding::Finding;
use crate::tidy::glob;
use crate::tidy::paths::NamedPath;
use crate::tidy::tree::{Parsed, RustFile, Tree};

#[cfg(test)]
mod tests;

const ORDERINGS: [&str; 5] = ["Relaxed", "Acquire", "Release", "AcqRel", "SeqCst"];
/// What opens the comment that gives the reason.
const MARK: &str = "Ordering:";
/// Lines between the comment and the site, at most.
const REACH: usize = 8;
/// Files below a directory of this name count things; their counters are relaxed without a reason.
const STATS_DIRECTORY: &str = "stats";

pub(crate) fn check(tree: &Tree, config: &Config, findings: &mut Vec<Finding>) {
    for (file, parsed) in tree.parsed() {
        let in_scope =
            config.ordering_scope.iter().any(|directory| Path::new(&file.path).starts_with(directory));
        if in_scope && !file.is_test {
            let is_driver = glob::matches_any(&config.ordering_files, &file.path);
            check_file(file, parsed, is_driver, findings);
        }
    }
}

fn check_file(file: &RustFile, parsed: &Parsed, is_driver: bool, findings: &mut Vec<Finding>) {
    let is_stats = file.path.split('/').any(|name| name == STATS_DIRECTORY);
    for path in parsed.paths.iter().filter(|path| !parsed.is_test_line(path.line)) {
        let Some(ordering) = named_ordering(path) else {
            continue;
        };
        if is_stats && ordering == "Relaxed" {
            continue;
        }
        let mut report = |rule, what: String, remedy: &str| {
            findings.push(Finding::new(&file.path, path.line, rule, what, remedy));
        };
        if path.is_import {
            let what = format!("imports Ordering::{ordering}");
            report("ordering-import", what, "import Ordering and write Ordering:: at the site");
            continue;
        }
        if !is_driver {
            let what = format!("names Ordering::{ordering} outside the driver files");
            report("ordering-file", what, "call a driver, or list the file in ordering_files of tidy.toml");
        }
        if !parsed.comments.holds_above(path.line, REACH, MARK) {
            let what = format!("Ordering::{ordering} without a reason");
            report("ordering-comment", what, "add `// Ordering: pairs with ..; weaker would ..` above it");
        }
    }
}

/// The atomic ordering that a path names; `*` for an import of all of them.
fn named_ordering(path: &NamedPath) -> Option<&str> {
    let [.., owner, last] = path.segments.as_slice() else {
        return None;
    };
    let is_named = ORDERINGS.contains(&last.as_str()) || (path.is_import && last == "*");
    (owner == "Ordering" && is_named).then_some(last)
}
