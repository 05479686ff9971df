use crate::tidy::rules::sample;

#[test]
fn test_code_is_told_from_shipped_code() {
    let tree = sample::tree(&[
        ("crates/ring/src/lib.rs", "mod inbox;\n#[cfg(test)]\nmod checks;\n"),
        ("crates/ring/src/inbox.rs", "#[cfg(test)]\nmod tests;\nfn a() {}\n#[test]\nfn b() {}\n"),
        ("crates/ring/src/checks.rs", ""),
        ("crates/ring/src/inbox/tests.rs", ""),
    ]);
    let is_test: Vec<bool> = tree.rust_files.iter().map(|file| file.is_test).collect();
    assert_eq!(is_test, [false, false, true, true]);
    let (_, inbox) = tree.parsed().nth(1).expect("parses");
    assert!(!inbox.is_test_line(3));
    assert!(inbox.is_test_line(5));
}

#[test]
fn a_source_that_does_not_parse_is_kept_with_the_reason() {
    let tree = sample::tree(&[("crates/ring/src/lib.rs", "fn (")]);
    assert!(tree.rust_files[0].parsed.is_err());
}
