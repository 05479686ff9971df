//! `cmwq bench ring --rt`: whether a poster that was stopped holds back the messages of others.

mod drive;
mod late;
mod rule;

use std::fmt::Write;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::args::Arguments;
use super::systems::NO_URING;
use crate::bench::child;
use crate::bench::figures::{Spread, median};
use crate::bench::judge::{Bound, Verdict};
use crate::bench::machine::Machine;
use crate::bench::report;
use crate::output::{Failure, JsonTarget};
use late::Lateness;
use rule::Rule;

/// Changes whenever a reader of older documents would go wrong.
const SCHEMA: &str = "cmwq-bench-ring-rt/1";
/// A fresh process gets this much time beyond its messages'.
const LIMIT: Duration = Duration::from_secs(20);
/// What the rule that is known to hold back must show, or the set-up shows nothing.
const CONTROL_LEAST: f64 = 101.0;

/// What one fresh process measures.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Cell {
    rule: Rule,
    window_us: u64,
    messages: u64,
}

/// A row: counts are sums of all runs, the percentile is the median of theirs, the maximum that of all.
#[derive(Serialize)]
struct Row {
    rule: Rule,
    window_us: u64,
    #[serde(flatten)]
    lateness: Lateness,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    machine: Machine,
    runs: usize,
    rows: Vec<Row>,
    skipped: Vec<String>,
    failed: Vec<String>,
    judged: &'a [Verdict],
}

/// Whether threads may be put under SCHED_FIFO.
pub(super) fn permitted() -> Result<(), String> {
    let tried = thread::spawn(|| cmwq_sys::policy::set_fifo(1)).join();
    let tried = tried.map_err(|_| "a thread panicked".to_owned())?;
    tried.map_err(|error| format!("SCHED_FIFO is not permitted: {error}"))
}

/// Measures all rows, rules in turns.
pub(super) fn run(
    arguments: &Arguments,
    machine: Machine,
    target: Option<&JsonTarget>,
) -> Result<(), Failure> {
    let runs = arguments.runs as usize;
    let messages = arguments.rt_messages.div_ceil(runs as u64);
    // The window of a system call cannot be stretched from outside.
    let cells: Vec<Cell> = [0, arguments.window_us]
        .into_iter()
        .flat_map(|window_us| Rule::ALL.map(|rule| Cell { rule, window_us, messages }))
        .filter(|cell| cell.rule != Rule::MsgRing || cell.window_us == 0)
        .collect();
    let mut found: Vec<Vec<Lateness>> = vec![Vec::new(); cells.len()];
    let (mut skipped, mut failed) = (Vec::new(), Vec::new());
    let bar = report::progress(cells.len() * runs);
    let limit = LIMIT + drive::PERIOD * u32::try_from(messages * 4).unwrap_or(u32::MAX);
    for run in 0..runs {
        for step in 0..cells.len() {
            let index = (step + run) % cells.len();
            let cell = &cells[index];
            let name = format!("{}, window {} us", cell.rule.name(), cell.window_us);
            bar.set_message(name.clone());
            match child::measure("ring-rt-cell", cell, limit) {
                Ok(lateness) => found[index].push(lateness),
                Err(why) if why.starts_with(NO_URING) => skipped = vec![format!("{name}: {why}")],
                Err(why) => failed.push(format!("{name}, run {run}: {why}")),
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    let rows: Vec<Row> = cells.iter().zip(&found).filter_map(|(cell, found)| row(cell, found)).collect();
    let verdicts = if arguments.judge { judge(&rows) } else { Vec::new() };
    let document = Document { schema: SCHEMA, machine, runs, rows, skipped, failed, judged: &verdicts };
    report::show(target, &document, || table(&document), &verdicts)?;
    report::conclude("cells", &document.failed, arguments.judge, &verdicts, "nothing was measured")
}

/// In a fresh process: measures one cell and prints what it finds.
pub(crate) fn answer(cell: &str) -> Result<(), Failure> {
    child::answer(cell, drive::measure)
}

fn row(cell: &Cell, found: &[Lateness]) -> Option<Row> {
    let sum = |of: fn(&Lateness) -> u64| found.iter().map(of).sum();
    let p999: Vec<f64> = found.iter().map(|lateness| lateness.p999_us).collect();
    let lateness = Lateness {
        messages: sum(|all| all.messages),
        late_100us: sum(|all| all.late_100us),
        late_1ms: sum(|all| all.late_1ms),
        attributed: sum(|all| all.attributed),
        p999_us: if found.is_empty() { return None } else { median(&p999) },
        max_us: found.iter().map(|lateness| lateness.max_us).fold(0.0, f64::max),
        lost: sum(|all| all.lost),
    };
    Some(Row { rule: cell.rule, window_us: cell.window_us, lateness })
}

/// With the stretched window: ours holds nothing back, while the positive control does; and nothing is ever lost.
fn judge(rows: &[Row]) -> Vec<Verdict> {
    let verdict = |figure: String, value: u64, bound| {
        Spread::of(&[value as f64]).map(|value| Verdict::new(figure, value, bound))
    };
    let mut verdicts = Vec::new();
    for row in rows {
        let (name, &Lateness { attributed, lost, .. }) = (row.rule.name(), &row.lateness);
        let window = row.window_us;
        let figure = format!("{name}, window {window} us, held back by a stopped poster");
        verdicts.extend(match row.rule {
            Rule::Cmwq => verdict(figure, attributed, Bound::AtMost(0.0)),
            Rule::Credit if window > 0 => verdict(figure, attributed, Bound::AtLeast(CONTROL_LEAST)),
            Rule::Credit | Rule::HelpedFutex | Rule::MsgRing => None,
        });
        verdicts.extend(verdict(format!("{name}, window {window} us, lost"), lost, Bound::AtMost(0.0)));
    }
    verdicts
}

fn table(document: &Document<'_>) -> String {
    let mut text = document.machine.headline();
    _ = writeln!(
        text,
        "\n{} fresh processes a row; counts are sums, p99.9 the median, max of all",
        document.runs
    );
    for skipped in &document.skipped {
        _ = writeln!(text, "skipped: {skipped}");
    }
    _ = writeln!(
        text,
        "\n{:<13} {:>9} {:>9} {:>9} {:>7} {:>10} {:>5} {:>9} {:>9}",
        "rule", "window us", "messages", "> 100 us", "> 1 ms", "attributed", "lost", "p99.9 us", "max us"
    );
    for Row { rule, window_us, lateness: all } in &document.rows {
        _ = writeln!(
            text,
            "{:<13} {window_us:>9} {:>9} {:>9} {:>7} {:>10} {:>5} {:>9.1} {:>9.1}",
            rule.name(),
            all.messages,
            all.late_100us,
            all.late_1ms,
            all.attributed,
            all.lost,
            all.p999_us,
            all.max_us
        );
    }
    text
}
