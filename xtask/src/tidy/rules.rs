//! The rules, one file each: `check` reads the tree and reports.

use super::config::Config;
use super::finding::Finding;
use super::metadata::Metadata;
use super::tree::Tree;

mod budget;
mod dependencies;
mod index;
mod labels;
mod markdown;
mod names;
mod ordering;
mod pure;
mod reach;
mod safety;
#[cfg(test)]
pub(crate) mod sample;
mod words;

/// Runs every rule; the findings come sorted by place.
pub(crate) fn check(tree: &Tree, metadata: &Metadata, config: &Config) -> Vec<Finding> {
    let mut findings = Vec::new();
    dependencies::check(tree, metadata, config, &mut findings);
    budget::check(tree, &mut findings);
    names::check(tree, &mut findings);
    pure::check(tree, metadata, config, &mut findings);
    ordering::check(tree, config, &mut findings);
    safety::check(tree, &mut findings);
    reach::check(tree, config, &mut findings);
    index::check(tree, &mut findings);
    labels::check(tree, &mut findings);
    markdown::check(tree, &mut findings);
    words::check(tree, config, &mut findings);
    findings.sort();
    findings.dedup();
    findings
}
