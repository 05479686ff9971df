//! A label that a comment cites stands in an essay, under the name it is cited by.

use std::collections::BTreeMap;

use regex::Regex;

use super::markdown::ESSAYS;
use crate::tidy::comments::Comments;
use crate::tidy::finding::Finding;
use crate::tidy::glob;
use crate::tidy::tree::Tree;

#[cfg(test)]
mod tests;

const RULE: &str = "label";
/// `**B1 name**` at the start of a line, as a list item or not.
const DEFINITION: &str = r"^\s*(?:[-*] |\d+\. |\| )?\*\*([A-Z]\d{1,2}) ([a-z][^*]*)\*\*";
/// `B1 name` in what follows a mark.
const CITATION: &str = r"\b([A-Z]\d{1,2}) ([a-z][a-z_-]*)";
const MARKS: [&str; 2] = ["SAFETY:", "Invariant:"];

/// Label -> its name, within one crate.
type Labels = BTreeMap<String, String>;

pub(crate) fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    let crates = defined(tree, findings);
    let Ok(citation) = Regex::new(CITATION) else { unreachable!("the pattern is constant") };
    for (file, parsed) in tree.parsed() {
        let own = crates.get(crate_of(&file.path));
        for (line, text) in cited_lines(&parsed.comments) {
            for cited in citation.captures_iter(&text) {
                let (label, word) = (&cited[1], &cited[2]);
                let names: Vec<&String> = match own.and_then(|labels| labels.get(label)) {
                    Some(name) => vec![name],
                    None => crates.values().filter_map(|labels| labels.get(label)).collect(),
                };
                if names.iter().any(|name| first_word(name) == word) {
                    continue;
                }
                let what = match names.first() {
                    Some(name) => format!("cites `{label} {word}`, the essay says `{label} {name}`"),
                    None => format!("cites `{label} {word}`, which no essay defines"),
                };
                let remedy =
                    format!("cite a label by its name, or start a line of flow/*.md with `**{label} ..**`");
                findings.push(Finding::new(&file.path, line, RULE, what, remedy));
            }
        }
    }
}

/// The labels of the essays by crate directory; a label defined twice is a finding.
fn defined<'a>(tree: &'a Tree, findings: &mut Vec<Finding>) -> BTreeMap<&'a str, Labels> {
    let Ok(definition) = Regex::new(DEFINITION) else { unreachable!("the pattern is constant") };
    let mut crates: BTreeMap<&str, Labels> = BTreeMap::new();
    for essay in tree.text_files.iter().filter(|file| glob::matches(ESSAYS, &file.path)) {
        let labels = crates.entry(crate_of(&essay.path)).or_default();
        for (index, line) in essay.text.lines().enumerate() {
            let Some(found) = definition.captures(line) else {
                continue;
            };
            if labels.insert(found[1].to_string(), found[2].to_string()).is_some() {
                let what = format!("{} is defined twice in this crate", &found[1]);
                findings.push(Finding::new(
                    &essay.path,
                    index + 1,
                    RULE,
                    what,
                    "give it a number of its own",
                ));
            }
        }
    }
    crates
}

/// Comment text from a mark to the end of its comment, by line.
fn cited_lines(comments: &Comments) -> Vec<(usize, String)> {
    let mut lines = Vec::new();
    let mut is_open = false;
    for line in 1..=comments.line_count() {
        let text = comments.at(line);
        let mark = MARKS.iter().filter_map(|mark| text.find(mark)).min();
        is_open = mark.is_some() || (is_open && !text.is_empty() && !comments.has_code(line));
        if is_open {
            lines.push((line, text[mark.unwrap_or(0)..].to_string()));
        }
    }
    lines
}

/// `crates/core` of `crates/core/flow/0-map.md`.
fn crate_of(path: &str) -> &str {
    let end = ["/flow/", "/src/", "/tests/", "/benches/"].iter().filter_map(|part| path.find(part)).min();
    &path[..end.unwrap_or(0)]
}

fn first_word(name: &str) -> &str {
    name.split(|c: char| c.is_whitespace() || matches!(c, ':' | '.' | ',')).next().unwrap_or(name)
}
