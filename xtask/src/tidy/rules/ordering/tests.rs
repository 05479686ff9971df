use super::check;
use crate::tidy::finding::Finding;
use crate::tidy::rules::sample;

const CONFIG: &str =
    "ordering_scope = ['crates/ring', 'crates/sys']\nordering_files = ['crates/ring/src/**']";
const REASON: &str = "// Ordering: pairs with drain; weaker would lose the item.\n";
const SITE: &str = "fn a() { word.load(Ordering::Acquire); }\n";

fn findings(path: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    check(&sample::tree(&[(path, text)]), &sample::config(CONFIG), &mut findings);
    findings
}

fn rules(path: &str, text: &str) -> Vec<&'static str> {
    findings(path, text).into_iter().map(|finding| finding.rule).collect()
}

#[test]
fn a_reason_within_reach_passes() {
    assert!(rules("crates/ring/src/inbox.rs", &format!("{REASON}{SITE}")).is_empty());
    assert!(rules("crates/ring/src/inbox.rs", &format!("{REASON}{}{SITE}", "\n".repeat(7))).is_empty());
    assert!(rules("crates/ring/src/inbox.rs", "fn a() { b(Ordering::SeqCst) } // Ordering: all").is_empty());
}

#[test]
fn no_reason_within_reach_is_a_finding() {
    assert_eq!(rules("crates/ring/src/inbox.rs", SITE), ["ordering-comment"]);
    assert_eq!(
        rules("crates/ring/src/inbox.rs", &format!("{REASON}{}{SITE}", "\n".repeat(8))),
        ["ordering-comment"]
    );
}

#[test]
fn a_path_in_the_code_is_no_reason() {
    assert_eq!(
        rules("crates/ring/src/a.rs", "fn a() { b(atomic::Ordering::Relaxed) }"),
        ["ordering-comment"]
    );
}

#[test]
fn an_ordering_outside_the_driver_files_is_a_finding() {
    assert_eq!(rules("crates/sys/src/futex.rs", &format!("{REASON}{SITE}")), ["ordering-file"]);
}

#[test]
fn other_crates_comparisons_and_tests_are_free() {
    assert!(rules("crates/cli/src/main.rs", SITE).is_empty());
    assert!(rules("crates/sys/src/cpu.rs", "fn a() { b(Ordering::Less) }").is_empty());
    assert!(rules("crates/sys/src/cpu.rs", "fn a() { b(Pace::Relaxed) }").is_empty());
    assert!(rules("crates/ring/tests/loom.rs", SITE).is_empty());
    assert!(rules("crates/ring/src/inbox/tests.rs", SITE).is_empty());
    assert!(rules("crates/ring/src/inbox.rs", &format!("#[cfg(test)]\nmod tests {{ {SITE} }}")).is_empty());
}

#[test]
fn counters_are_relaxed_without_a_reason() {
    let relaxed = "const RELAXED: Ordering = Ordering::Relaxed;";
    assert!(rules("crates/sys/src/stats/counters.rs", relaxed).is_empty());
    assert_eq!(rules("crates/sys/src/stats/counters.rs", SITE), ["ordering-file", "ordering-comment"]);
}

#[test]
fn importing_the_names_is_a_finding() {
    assert_eq!(
        rules("crates/ring/src/a.rs", "use std::sync::atomic::Ordering::{Acquire, Release};"),
        ["ordering-import", "ordering-import"]
    );
    assert_eq!(rules("crates/ring/src/a.rs", "use std::sync::atomic::Ordering::*;"), ["ordering-import"]);
    assert!(rules("crates/ring/src/a.rs", "use std::sync::atomic::{AtomicU64, Ordering};").is_empty());
}

#[test]
fn the_finding_names_the_line_of_the_site() {
    assert_eq!(
        sample::places(&findings("crates/ring/src/a.rs", &format!("\n{SITE}"))),
        ["crates/ring/src/a.rs:2"]
    );
}
