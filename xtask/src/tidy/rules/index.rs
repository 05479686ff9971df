//! The index of the workqueue's rules names tests that exist, and each rule once.
//!
//! The page names a test as `` `file`: `test`, `test` ``. The file is one of `crates/cmwq/tests`, or after a crate's
//! name one of that crate's sources or tests.

use crate::tidy::finding::Finding;
use crate::tidy::tree::Tree;

#[cfg(test)]
mod tests;

/// The index.
const INDEX: &str = "docs/rules.md";
/// How many rules there are.
const RULES: u32 = 46;
/// Whose tests are named without a crate.
const CRATE: &str = "cmwq";
/// Where the broken variants of the drivers are listed.
const VARIANTS: &str = "/tests/loom_";
/// Where the broken variants of all of our code are.
const MUTANTS: &str = "xtask/mutants.toml";

/// Some words in backticks, with the text before them on their line (up to the words before), and what follows.
struct Quoted<'a> {
    before: &'a str,
    words: &'a str,
    after: &'a str,
}

pub(crate) fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    let Some(index) = tree.text_file(INDEX) else { return };
    let mut seen = Vec::new();
    for (number, line) in index.text.lines().enumerate().map(|(at, line)| (at + 1, line)) {
        let mut report = |what: String, remedy: &str| {
            findings.push(Finding::new(INDEX, number, "index", what, remedy));
        };
        let named = named_tests(line);
        for (package, file, test) in &named {
            if !is_test_of(tree, package, file, test) {
                report(format!("no test `{test}` in `{file}` of {package}"), "name one that exists");
            }
        }
        for variant in quoted(line).iter().map(|quoted| quoted.words).filter(|words| is_variant(words)) {
            if !has_variant(tree, variant) {
                report(format!("no broken variant `{variant}`"), "name one that exists");
            }
        }
        let rules = rules_of(line);
        if line.split('|').count() > 5 && !rules.is_empty() && named.is_empty() {
            report("the rule has no test".into(), "name one, or list it among those without");
        }
        for rule in rules {
            if seen.contains(&rule) || !(1..=RULES).contains(&rule) {
                report(format!("rule {rule} is there twice or unknown"), "list each of the rules once");
            }
            seen.push(rule);
        }
    }
    for rule in (1..=RULES).filter(|rule| !seen.contains(rule)) {
        findings.push(Finding::new(INDEX, 1, "index", format!("rule {rule} is missing"), "list it"));
    }
}

/// The numbers in the first cell of a row.
fn rules_of(line: &str) -> Vec<u32> {
    let Some(row) = line.strip_prefix('|') else { return Vec::new() };
    let cell = row.split('|').next().unwrap_or("");
    cell.split(',').filter_map(|number| number.trim().parse().ok()).collect()
}

/// The tests a line names, as (crate, file, test).
fn named_tests(line: &str) -> Vec<(&str, &str, &str)> {
    let mut named = Vec::new();
    let mut file: Option<(&str, &str)> = None;
    for quoted in quoted(line) {
        if quoted.after.starts_with(": `") {
            let word = quoted.before.split_whitespace().last().unwrap_or("");
            let is_crate = !word.is_empty() && word.chars().all(|letter| letter.is_ascii_lowercase());
            file = Some((if is_crate { word } else { CRATE }, quoted.words));
        } else if let Some((package, file)) = file {
            named.push((package, file, quoted.words));
        }
        if !quoted.after.starts_with(": `") && !quoted.after.starts_with(", `") {
            file = None;
        }
    }
    named
}

fn quoted(line: &str) -> Vec<Quoted<'_>> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some((before, tail)) = rest.split_once('`') {
        let Some((words, after)) = tail.split_once('`') else { break };
        found.push(Quoted { before, words, after });
        rest = after;
    }
    found
}

/// Whether the file has this function under `#[test]`.
fn is_test_of(tree: &Tree, package: &str, file: &str, test: &str) -> bool {
    let paths = ["src", "tests"].map(|part| format!("crates/{package}/{part}/{file}.rs"));
    paths.iter().filter_map(|path| tree.text_file(path)).any(|file| has_test(&file.text, test))
}

fn has_test(text: &str, test: &str) -> bool {
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    let head = format!("fn {test}(");
    let is_above = |line: &&&str| line.starts_with("#[") || line.starts_with("//");
    lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.starts_with(&head))
        .any(|(at, _)| lines[..at].iter().rev().take_while(is_above).any(|line| *line == "#[test]"))
}

/// `word-in-lower-case`.
fn is_variant(words: &str) -> bool {
    words.contains('-')
        && !words.ends_with(['-', '.'])
        && words.chars().all(|letter| letter.is_ascii_lowercase() || letter == '-')
}

fn has_variant(tree: &Tree, variant: &str) -> bool {
    let (id, mutant) = (format!("id: \"{variant}\""), format!("id = \"{variant}\"\n"));
    let has = |path: &str, text: &str| {
        path.contains(VARIANTS) && text.contains(&id) || path == MUTANTS && text.contains(&mutant)
    };
    tree.text_files.iter().any(|file| has(&file.path, &file.text))
}
