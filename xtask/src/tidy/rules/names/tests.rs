use super::check;
use crate::tidy::rules::sample;

fn places(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    check(&sample::tree(&[(path, text)]), &mut findings);
    sample::places(&findings)
}

#[test]
fn a_module_named_after_its_idea_passes() {
    assert!(places("crates/ring/src/inbox.rs", "mod word { fn types() {} }").is_empty());
}

#[test]
fn a_drawer_is_a_finding_as_file_directory_and_inline_module() {
    assert_eq!(places("crates/ring/src/utils.rs", ""), ["crates/ring/src/utils.rs:1"]);
    assert_eq!(places("crates/ring/tests/common/mod.rs", ""), ["crates/ring/tests/common/mod.rs:1"]);
    assert_eq!(
        places("crates/ring/src/inbox.rs", "mod a {\nmod helpers {} }"),
        ["crates/ring/src/inbox.rs:2"]
    );
}
