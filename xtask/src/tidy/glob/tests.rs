use super::matches;

#[test]
fn one_star_stays_within_a_name() {
    assert!(matches("crates/*/flow/*.md", "crates/core/flow/0-map.md"));
    assert!(!matches("crates/*/flow/*.md", "crates/core/src/flow/0-map.md"));
}

#[test]
fn two_stars_cross_directories() {
    assert!(matches("crates/ring/src/**", "crates/ring/src/inbox/word.rs"));
    assert!(!matches("crates/ring/src/**", "crates/sys/src/lib.rs"));
    assert!(matches("**/ui/*.rs", "ui/a.rs"));
    assert!(matches("**/ui/*.rs", "crates/cmwq/tests/ui/a.rs"));
}

#[test]
fn other_characters_stand_for_themselves() {
    assert!(!matches("tidy.toml", "tidyxtoml"));
}
