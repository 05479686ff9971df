use super::check;
use crate::tidy::rules::sample;

fn places(files: &[(&str, &str)]) -> Vec<String> {
    let mut findings = Vec::new();
    check(&sample::tree(files), &sample::config("source_exempt = ['**/tests/ui/**']"), &mut findings);
    sample::places(&findings)
}

#[test]
fn declared_files_pass() {
    assert!(places(&[("a/src/lib.rs", "mod b;"), ("a/src/b.rs", ""), ("a/tests/c.rs", "")]).is_empty());
}

#[test]
fn a_file_that_nothing_declares_is_a_finding() {
    assert_eq!(places(&[("a/src/lib.rs", "// mod b;"), ("a/src/b.rs", "")]), ["a/src/b.rs:1"]);
}

#[test]
fn a_source_that_does_not_parse_is_a_finding() {
    assert_eq!(places(&[("a/src/lib.rs", "fn (")]), ["a/src/lib.rs:1", "a/src/lib.rs:1"]);
    assert!(places(&[("a/tests/ui/b.rs", "fn (")]).is_empty());
}
