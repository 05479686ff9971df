use super::{NamedPath, named_paths};

fn paths(source: &str) -> Vec<NamedPath> {
    named_paths(source.parse().expect("sample parses"))
}

fn spelled(source: &str) -> Vec<String> {
    paths(source).into_iter().map(|path| path.segments.join("::")).collect()
}

#[test]
fn groups_of_an_import_are_spelled_out() {
    assert_eq!(
        spelled("use std::{sync::atomic::{AtomicU32, Ordering::*}, time as clock};"),
        ["std::sync::atomic::AtomicU32", "std::sync::atomic::Ordering::*", "std::time"]
    );
}

#[test]
fn a_group_without_a_prefix_is_spelled_out() {
    let found = paths("use {a::b, c::{d, self}};");
    assert!(found.iter().all(|path| path.is_import));
    assert_eq!(spelled("use {a::b, c::{d, self}};"), ["a::b", "c::d", "c::self"]);
}

#[test]
fn an_import_ends_at_its_semicolon() {
    let found = paths("use a::b; c::d();");
    assert!(found[0].is_import);
    assert!(!found[1].is_import);
}

#[test]
fn macro_bodies_are_read_and_lines_are_known() {
    let found = paths("check!(\n  word.load(Ordering::Acquire)\n);");
    let ordering = found.iter().find(|path| path.holds(&["Ordering", "Acquire"])).expect("is found");
    assert_eq!(ordering.line, 2);
    assert!(!ordering.is_import);
}

#[test]
fn strings_and_comments_name_nothing() {
    assert!(spelled("// Ordering::Acquire\n\"Ordering::Acquire\"").is_empty());
}
