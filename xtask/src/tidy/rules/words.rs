//! The project speaks of itself alone: no unfinished notes, no places of one machine.

use regex::Regex;

use crate::tidy::config::Config;
use crate::tidy::finding::Finding;
use crate::tidy::glob;
use crate::tidy::tree::Tree;

#[cfg(test)]
mod tests;

const RULE: &str = "words";

pub(crate) fn check(tree: &Tree, config: &Config, findings: &mut Vec<Finding>) {
    let patterns = match patterns(config) {
        Ok(patterns) => patterns,
        Err(error) => {
            let what = format!("a forbidden pattern is no regular expression: {error}");
            findings.push(Finding::new("tidy.toml", 1, RULE, what, "correct it"));
            return;
        }
    };
    for file in &tree.text_files {
        if glob::matches_any(&config.words_exempt, &file.path) {
            continue;
        }
        for (index, line) in file.text.lines().enumerate() {
            for found in patterns.iter().filter_map(|pattern| pattern.find(line)) {
                let what = format!("says `{}`", found.as_str().trim());
                findings.push(Finding::new(
                    &file.path,
                    index + 1,
                    RULE,
                    what,
                    "say it without, or finish it",
                ));
            }
        }
    }
}

/// The words as whole words in any case, then the patterns as they are.
fn patterns(config: &Config) -> Result<Vec<Regex>, regex::Error> {
    let words = config.forbidden_words.iter().map(|word| format!(r"(?i)\b{}\b", regex::escape(word)));
    words.chain(config.forbidden_patterns.iter().cloned()).map(|pattern| Regex::new(&pattern)).collect()
}
