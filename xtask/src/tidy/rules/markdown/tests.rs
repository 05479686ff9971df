use super::check;
use crate::tidy::rules::sample;

fn places(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    check(&sample::tree(&[(path, text)]), &mut findings);
    findings.into_iter().map(|finding| format!("{}:{}", finding.rule, finding.line)).collect()
}

#[test]
fn one_title_passes_and_code_has_none() {
    assert!(places("README.md", "# Title\n\n## Part\n\n```sh\n# a comment\n```\n").is_empty());
}

#[test]
fn no_title_and_two_titles_are_findings() {
    assert_eq!(places("README.md", "## Part\n"), ["one-title:1"]);
    assert_eq!(places("README.md", "# One\n\n# Two\n"), ["one-title:3"]);
}

#[test]
fn only_essays_have_a_budget() {
    let long = format!("# Title\n{}", "a\n".repeat(300));
    assert_eq!(places("crates/core/flow/3-pool.md", &long), ["essay-length:301"]);
    assert!(places("CHANGELOG.md", &long).is_empty());
    assert!(places("crates/core/flow/3-pool.md", &long[..long.len() - 2]).is_empty());
}
