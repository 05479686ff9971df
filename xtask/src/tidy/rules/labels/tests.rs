use super::check;
use crate::tidy::rules::sample;

const ESSAY: &str =
    "# Map\n\n**B1 baton** somebody runs the core\n- **W3 pending owns link:** its owner writes it\n";

fn places(essay: &str, code: &str) -> Vec<String> {
    let files = [("crates/core/flow/0-map.md", essay), ("crates/ring/src/inbox.rs", code)];
    let mut findings = Vec::new();
    check(&sample::tree(&files), &mut findings);
    sample::places(&findings)
}

#[test]
fn a_label_of_an_essay_may_be_cited() {
    assert!(places(ESSAY, "// SAFETY: W3 pending owns link, (B1 baton)\nfn a() {}").is_empty());
    assert!(places(ESSAY, "// Invariant: while it is owed,\n// B1 baton holds.\nfn a() {}").is_empty());
}

#[test]
fn an_unknown_label_is_a_finding() {
    assert_eq!(places(ESSAY, "\n// SAFETY: B2 stick\nfn a() {}"), ["crates/ring/src/inbox.rs:2"]);
    assert_eq!(places(ESSAY, "// SAFETY: this is\n// G7 gate.\nfn a() {}"), ["crates/ring/src/inbox.rs:2"]);
}

#[test]
fn a_label_under_another_name_is_a_finding() {
    assert_eq!(places(ESSAY, "// SAFETY: B1 stick\nfn a() {}").len(), 1);
}

#[test]
fn comments_without_a_mark_cite_nothing() {
    assert!(places(ESSAY, "// step P1 claims\n// SAFETY: none.\nfn a() {}\n// Q9 what\n").is_empty());
}

#[test]
fn a_label_defined_twice_is_a_finding() {
    let twice = format!("{ESSAY}\n**B1 other** again\n");
    assert_eq!(places(&twice, ""), ["crates/core/flow/0-map.md:6"]);
}

#[test]
fn the_essay_of_the_own_crate_decides() {
    let files = [
        ("crates/core/flow/0-map.md", ESSAY),
        ("crates/ring/flow/1-inbox.md", "# Inbox\n\n**B1 borrow** of a slot\n"),
        ("crates/ring/src/inbox.rs", "// SAFETY: B1 baton\nfn a() {}"),
        ("crates/sys/src/lib.rs", "// SAFETY: B1 baton\nfn a() {}"),
    ];
    let mut findings = Vec::new();
    check(&sample::tree(&files), &mut findings);
    assert_eq!(sample::places(&findings), ["crates/ring/src/inbox.rs:1"]);
}
