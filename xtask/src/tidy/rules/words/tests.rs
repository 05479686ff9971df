use super::check;
use crate::tidy::rules::sample;

const CONFIG: &str = r#"
forbidden_words = ["banana", "ripe pear"]
forbidden_patterns = ['''(?:^|[\s"'(=])/(?:orchard|garden)/''']
words_exempt = ["tidy.toml"]
"#;

fn places(path: &str, text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    check(&sample::tree(&[(path, text)]), &sample::config(CONFIG), &mut findings);
    sample::places(&findings)
}

#[test]
fn other_words_pass() {
    assert!(
        places("README.md", "bananas, pears, /sys/devices, https://host/orchard/, ../garden/\n").is_empty()
    );
}

#[test]
fn a_forbidden_word_is_a_finding_in_any_case() {
    assert_eq!(places("src/lib.rs", "\n// Banana: later\n"), ["src/lib.rs:2"]);
    assert_eq!(places("run", "a RIPE PEAR"), ["run:1"]);
}

#[test]
fn a_forbidden_pattern_is_a_finding() {
    assert_eq!(places("run", "cd /orchard/tree"), ["run:1"]);
    assert_eq!(places("run", "A=\"/garden/b\""), ["run:1"]);
}

#[test]
fn exempt_files_may_say_it() {
    assert!(places("tidy.toml", "banana").is_empty());
}

#[test]
fn a_broken_pattern_is_a_finding() {
    let mut findings = Vec::new();
    check(&sample::tree(&[]), &sample::config("forbidden_patterns = ['(']"), &mut findings);
    assert_eq!(sample::places(&findings), ["tidy.toml:1"]);
}
