use std::ops::RangeInclusive;

use super::test_regions;

fn regions(source: &str) -> Vec<RangeInclusive<usize>> {
    test_regions(source.parse().expect("sample parses"))
}

#[test]
fn test_items_are_found_at_any_depth() {
    let source =
        "fn a() {}\n#[cfg(test)]\nmod tests {\n}\nmod b {\n  #[test]\n  #[ignore]\n  fn c() {\n  }\n}\n";
    assert_eq!(regions(source), [2..=4, 6..=9]);
}

#[test]
fn only_predicates_that_need_a_test_build_count() {
    assert_eq!(regions("#[cfg(all(test, cmwq_loom))]\nfn a() {}"), [1..=2]);
    assert_eq!(regions("#[cfg(any(test, all(test, unix)))]\nuse a::b;"), [1..=2]);
    assert!(regions("#[cfg(not(test))]\nfn a() {}").is_empty());
    assert!(regions("#[cfg(any(test, unix))]\nfn a() {}").is_empty());
    assert!(regions("#[cfg(feature = \"test\")]\nfn a() {}").is_empty());
}
