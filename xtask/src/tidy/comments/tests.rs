use super::Comments;

fn comments(source: &str) -> Comments {
    Comments::new(source, source.parse().expect("sample parses"))
}

#[test]
fn line_block_and_documentation_comments_are_comments() {
    let found = comments("/// SAFETY: one\nfn a() {} // two\n/* three\n four */\n");
    assert_eq!(found.at(1), "/// SAFETY: one");
    assert_eq!(found.at(2), "// two");
    assert_eq!(found.at(4), "four */");
    assert!(found.has_code(2));
    assert!(!found.has_code(1));
    assert!(!found.has_code(4));
}

#[test]
fn a_string_is_code() {
    let found = comments("const A: &str = \"// SAFETY: no\n // nor this\";\n");
    assert_eq!(found.at(1), "");
    assert_eq!(found.at(2), "");
    assert!(found.has_code(2));
}

#[test]
fn a_mark_reaches_upwards_only() {
    let found = comments("// Ordering: pairs\n\nconst A: u8 = 1;\nconst B: u8 = 2;\n");
    assert!(found.holds_above(3, 8, "Ordering:"));
    assert!(found.holds_above(3, 2, "Ordering:"));
    assert!(!found.holds_above(3, 1, "Ordering:"));
    assert!(!comments("const A: u8 = 1;\n// Ordering: late\n").holds_above(1, 8, "Ordering:"));
}

#[test]
fn wide_characters_do_not_shift_the_lines() {
    let found = comments("const A: &str = \"\u{e9}\u{4e2d}\"; // \u{e9}t\u{e9}\nconst B: u8 = 1; // b\n");
    assert_eq!(found.at(1), "// \u{e9}t\u{e9}");
    assert_eq!(found.at(2), "// b");
}
