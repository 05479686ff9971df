use std::collections::BTreeMap;

use super::{Reached, reach};

fn reached(files: &[(&str, &str)]) -> Reached {
    let parsed: Vec<(String, syn::File)> = files
        .iter()
        .map(|(path, text)| (path.to_string(), syn::parse_file(text).expect("sample parses")))
        .collect();
    let syntax: BTreeMap<String, &syn::File> =
        parsed.iter().map(|(path, file)| (path.clone(), file)).collect();
    reach(&[("a/src/lib.rs".to_string(), false)], &syntax)
}

#[test]
fn both_layouts_and_inline_modules_are_followed() {
    let found = reached(&[
        ("a/src/lib.rs", "mod pool; mod queue { mod cell; }"),
        ("a/src/pool.rs", "mod core;"),
        ("a/src/pool/core.rs", ""),
        ("a/src/queue/cell.rs", ""),
        ("a/src/stray.rs", ""),
    ]);
    let paths: Vec<&str> = found.keys().map(String::as_str).collect();
    assert_eq!(paths, ["a/src/lib.rs", "a/src/pool.rs", "a/src/pool/core.rs", "a/src/queue/cell.rs"]);
}

#[test]
fn a_mod_file_owns_its_directory() {
    let found = reached(&[
        ("a/src/lib.rs", "mod sleep;"),
        ("a/src/sleep/mod.rs", "mod counters;"),
        ("a/src/sleep/counters.rs", ""),
    ]);
    assert!(found.contains_key("a/src/sleep/counters.rs"));
}

#[test]
fn named_paths_are_followed() {
    let found = reached(&[
        (
            "a/src/lib.rs",
            "#[cfg_attr(cmwq_loom, path = \"sync/loom.rs\")] mod sync; #[path = \"../b.rs\"] mod b;",
        ),
        ("a/src/sync.rs", ""),
        ("a/src/sync/loom.rs", ""),
        ("a/b.rs", ""),
    ]);
    assert_eq!(found.len(), 4);
}

#[test]
fn a_file_for_tests_only_is_known_as_such() {
    let found = reached(&[
        ("a/src/lib.rs", "#[cfg(test)] mod tests; #[cfg(all(test, unix))] mod shared; mod shared;"),
        ("a/src/tests.rs", "mod cases;"),
        ("a/src/tests/cases.rs", ""),
        ("a/src/shared.rs", ""),
    ]);
    assert!(found["a/src/tests.rs"]);
    assert!(found["a/src/tests/cases.rs"]);
    assert!(!found["a/src/shared.rs"]);
}
