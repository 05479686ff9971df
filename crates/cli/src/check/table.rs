//! What an exploration found, as lines of a table.

use std::fmt::Write;

use cmwq_check::seam::{Report, Rule, Variant, Violation};

/// The head of the table of configurations under one claim policy.
pub(crate) fn heading(claim: &str) -> String {
    let rules = Rule::ALL.iter().filter(|r| r.is_required()).map(|r| r.name()).collect::<Vec<_>>().join(", ");
    format!(
        "seam, picked workers claimed as \"{claim}\"; rules: {rules}\n\
         {:<20} {:>10} {:>5} {:>8}  what was found\n",
        "configuration", "states", "depth", "seconds"
    )
}

/// One configuration: every rule holds, or which are broken; then what was noted and what was missed.
pub(crate) fn line(report: &Report) -> String {
    let mut line = format!(
        "{:<20} {:>10} {:>5} {:>8.1}  ",
        report.config.name,
        report.states,
        report.depth,
        report.time.as_secs_f64()
    );
    if report.violations.is_empty() {
        line.push_str(if report.complete { "all hold" } else { "all hold so far: gave up" });
    } else {
        let _ = write!(line, "violated: {}", violations(&report.violations));
    }
    let missed: Vec<&str> = report.missed.iter().map(|m| m.name()).collect();
    if !missed.is_empty() {
        let _ = write!(line, "; never reached: {}", missed.join(", "));
    }
    if !report.noted.is_empty() {
        let _ = write!(line, "; noted: {}", violations(&report.noted));
    }
    line.push('\n');
    line
}

fn violations(violations: &[Violation]) -> String {
    let each = violations.iter().map(|v| format!("{} ({} steps)", v.rule.name(), v.path.len() - 1));
    each.collect::<Vec<_>>().join(", ")
}

/// The head of the table of broken drivers.
pub(crate) fn variant_heading() -> String {
    format!(
        "\nbroken drivers: each must be found\n{:<24} {:<16} {:>10}  found by\n",
        "variant", "configuration", "states"
    )
}

/// One broken driver: the rule it breaks and how long the shortest way is.
pub(crate) fn variant_line(variant: Variant, report: &Report) -> String {
    let found = match report.violations.first() {
        Some(first) => format!("found: {} after {} steps", first.rule.name(), first.path.len() - 1),
        None => "NOT FOUND".to_owned(),
    };
    format!("{:<24} {:<16} {:>10}  {found}\n", variant.id(), report.config.name, report.states)
}
