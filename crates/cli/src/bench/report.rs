//! What every benchmark does around its measuring: a bar, the table or the document, the verdicts and the exit status.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::judge::Verdict;
use crate::output::{self, Failure, JsonTarget};

/// A bar on a terminal, for so many processes.
pub(super) fn progress(cells: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {eta} {msg}");
    let bar = ProgressBar::new(cells as u64);
    style.map_or(bar.clone(), |style| bar.with_style(style))
}

/// Writes the document where it is to go, and prints the table unless the document has taken its place; the verdicts
/// in either case.
pub(super) fn show(
    target: Option<&JsonTarget>,
    document: &impl Serialize,
    table: impl FnOnce() -> String,
    verdicts: &[Verdict],
) -> Result<(), Failure> {
    if let Some(target) = target {
        output::write_json(target, document)?;
    }
    if target == Some(&JsonTarget::Stdout) {
        verdicts.iter().for_each(|verdict| eprintln!("{verdict}"));
        return Ok(());
    }
    let mut text = table();
    text.push_str(if verdicts.is_empty() { "" } else { "\n" });
    text.extend(verdicts.iter().map(|verdict| format!("{verdict}\n")));
    output::print(&text)
}

/// Fails when something could not be measured, or when `judged` figures are missed, or when there is none of those:
/// then `nothing` says so. `parts` are what is measured, such as cells.
pub(super) fn conclude(
    parts: &str,
    failed: &[String],
    judged: bool,
    verdicts: &[Verdict],
    nothing: &str,
) -> Result<(), Failure> {
    if let Some(first) = failed.first() {
        let count = failed.len();
        return Err(Failure::missed(format!("{count} {parts} could not be measured, the first: {first}")));
    }
    let missed = verdicts.iter().filter(|verdict| verdict.is_missed()).count();
    match (judged, verdicts.len(), missed) {
        (false, ..) | (true, 1.., 0) => Ok(()),
        (true, 0, _) => Err(Failure::missed(nothing)),
        (true, all, missed) => Err(Failure::missed(format!("{missed} of {all} judged figures are missed"))),
    }
}
