use super::{INDEX, RULES, check};
use crate::tidy::rules::sample;

const TESTS: &str =
    "#[test]\n/// Why.\n#[cfg(unix)]\nfn is_held() {}\n\n#[test]\nfn is_held_too() {}\n\nfn helps() {}\n";

/// The findings of an index of all rules whose first row is this.
fn findings_of(row: &str) -> Vec<String> {
    let others: Vec<String> = (2..=RULES).map(|rule| rule.to_string()).collect();
    findings_of_page(&format!("{row}\n| {} | why | open |\n", others.join(", ")))
}

fn findings_of_page(page: &str) -> Vec<String> {
    let tree = sample::tree(&[
        (INDEX, page),
        ("crates/cmwq/tests/flush.rs", TESTS),
        ("crates/ring/tests/loom_cell.rs", "#[test]\nfn is_seen() {}\nid: \"cell-blind\",\n"),
        ("crates/core/src/pool/tests.rs", TESTS),
        ("xtask/mutants.toml", "[[mutant]]\nid = \"drain-late\"\n"),
    ]);
    let mut findings = Vec::new();
    check(&tree, &mut findings);
    findings.into_iter().map(|finding| format!("{}: {}", finding.line, finding.what)).collect()
}

#[test]
fn tests_and_variants_that_exist_pass() {
    let row = "| 1 | a `rule` | `flush`: `is_held`, `is_held_too`; core `pool/tests`: `is_held`; \
               because: ring `loom_cell`: `is_seen` | `cell-blind`, `cell-...`, `drain-late` |";
    assert!(findings_of(row).is_empty(), "{:?}", findings_of(row));
}

#[test]
fn what_does_not_exist_is_named() {
    for (named, what) in [
        ("`flush`: `is_held`, `is_gone`", "1: no test `is_gone` in `flush` of cmwq"),
        ("`flush`: `is_hel`", "1: no test `is_hel` in `flush` of cmwq"),
        ("`flush`: `helps`", "1: no test `helps` in `flush` of cmwq"),
        ("ring `flush`: `is_held`", "1: no test `is_held` in `flush` of ring"),
        ("`gone`: `is_held`", "1: no test `is_held` in `gone` of cmwq"),
        ("none", "1: the rule has no test"),
    ] {
        assert_eq!(findings_of(&format!("| 1 | rule | {named} | break |")), [what]);
    }
    assert_eq!(
        findings_of("| 1 | rule | `flush`: `is_held` | `cell-gone` |"),
        ["1: no broken variant `cell-gone`"]
    );
}

#[test]
fn each_rule_is_there_once() {
    assert_eq!(findings_of("text"), ["1: rule 1 is missing"]);
    let twice = findings_of("| 1, 2 | rule | `flush`: `is_held` | break |");
    assert_eq!(twice, ["2: rule 2 is there twice or unknown"]);
    let unknown = findings_of("| 1, 47 | rule | `flush`: `is_held` | break |");
    assert_eq!(unknown, ["1: rule 47 is there twice or unknown"]);
}

#[test]
fn a_workspace_without_the_index_passes() {
    let mut findings = Vec::new();
    check(&sample::tree(&[("README.md", "# Title\n")]), &mut findings);
    assert!(findings.is_empty());
}
