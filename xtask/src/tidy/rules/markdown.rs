//! A page has one title, an essay has a length that can be read.

use crate::tidy::finding::Finding;
use crate::tidy::glob;
use crate::tidy::tree::Tree;

#[cfg(test)]
mod tests;

/// Where the essays are.
pub(crate) const ESSAYS: &str = "**/flow/*.md";
/// Lines of an essay.
const ESSAY_LINES_MAX: usize = 300;

pub(crate) fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in tree.text_files.iter().filter(|file| file.path.ends_with(".md")) {
        let titles = title_lines(&file.text);
        if titles.len() != 1 {
            let line = titles.get(1).copied().unwrap_or(1);
            let what = format!("{} titles (`# ..`), one expected", titles.len());
            findings.push(Finding::new(
                &file.path,
                line,
                "one-title",
                what,
                "keep one, make the others `##`",
            ));
        }
        let count = file.text.lines().count();
        if glob::matches(ESSAYS, &file.path) && count > ESSAY_LINES_MAX {
            let what = format!("{count} lines, {ESSAY_LINES_MAX} allowed");
            findings.push(Finding::new(&file.path, ESSAY_LINES_MAX + 1, "essay-length", what, "say less"));
        }
    }
}

/// Lines of the first-level headings outside code fences.
fn title_lines(text: &str) -> Vec<usize> {
    let mut fence: Option<&str> = None;
    let mut titles = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(opened)) => fence = Some(opened),
            (Some(opened), Some(closed)) if opened == closed => fence = None,
            (None, None) if line.starts_with("# ") => titles.push(index + 1),
            _ => {}
        }
    }
    titles
}
