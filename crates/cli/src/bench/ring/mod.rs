//! `cmwq bench ring`: messages from many threads to one, by the completion ring and by what one would use instead.

mod args;
mod cell;
mod document;
mod drive;
mod judge;
mod plan;
mod systems;
mod table;

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

pub(crate) use args::Arguments;

use super::child;
use super::judge::Verdict;
use super::machine::Machine;
use crate::output::{self, Failure, JsonTarget};
use crate::source::Source;
use cell::{Cell, Measured, Shape};
use document::{Document, Outcome};
use plan::Plan;

/// A fresh process gets this much time beyond what its messages may take at worst.
const LIMIT: Duration = Duration::from_secs(20);
/// At worst a message takes this long.
const MESSAGE_LIMIT: Duration = Duration::from_micros(50);

/// Measures every cell, then shows the rows.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let source = Source::default();
    let topology = source.read()?;
    let target = arguments.json.as_deref().map(JsonTarget::from);
    target.as_ref().map_or(Ok(()), output::check_json)?;
    let mut machine = Machine::look(&source, &topology);
    let plan = Plan::new(arguments);
    let outcome = measure_all(&plan);
    machine.look_again(&topology);
    let verdicts = if arguments.judge { judge::judge(&outcome.rows) } else { Vec::new() };
    let document = Document::new(machine, outcome, plan.runs, &verdicts);
    if let Some(target) = &target {
        output::write_json(target, &document)?;
    }
    if target == Some(JsonTarget::Stdout) {
        verdicts.iter().for_each(|verdict| eprintln!("{verdict}"));
    } else {
        let mut text = table::of(&document);
        text.push_str(if verdicts.is_empty() { "" } else { "\n" });
        text.extend(verdicts.iter().map(|verdict| format!("{verdict}\n")));
        output::print(&text)?;
    }
    conclude(arguments, &document.failed, &verdicts)
}

/// In a fresh process: measures one cell and prints what it finds.
pub(crate) fn answer(cell: &str) -> Result<(), Failure> {
    child::answer(cell, drive::measure)
}

fn conclude(arguments: &Arguments, failed: &[String], verdicts: &[Verdict]) -> Result<(), Failure> {
    if let Some(first) = failed.first() {
        let count = failed.len();
        return Err(Failure::missed(format!("{count} cells could not be measured, the first: {first}")));
    }
    let missed = verdicts.iter().filter(|verdict| !verdict.holds).count();
    match (arguments.judge, verdicts.len(), missed) {
        (false, ..) | (true, 1.., 0) => Ok(()),
        (true, 0, _) => Err(Failure::missed("nothing that is judged was measured; leave out --need")),
        (true, all, missed) => Err(Failure::missed(format!("{missed} of {all} judged figures are missed"))),
    }
}

fn measure_all(plan: &Plan) -> Outcome {
    let time_ms = plan.groups.iter().flatten().next().and_then(|cell| cell.time_ms);
    let mut outcome = Outcome { rows: Vec::new(), skipped: Vec::new(), failed: Vec::new(), time_ms };
    let bar = progress(plan.cells());
    for group in &plan.groups {
        let mut runs: Vec<Vec<Option<Measured>>> = vec![vec![None; plan.runs]; group.len()];
        for run in 0..plan.runs {
            for index in Plan::order(group, run) {
                let cell = &group[index];
                bar.set_message(cell.to_string());
                match child::measure("ring-cell", cell, limit(cell)) {
                    Ok(measured) => runs[index][run] = Some(measured),
                    Err(why) if cell.shape == Shape::MsgRing && why.starts_with(systems::NO_URING) => {
                        let skipped = format!("{}: {why}", cell.shape.name());
                        outcome.skipped.retain(|other| *other != skipped);
                        outcome.skipped.push(skipped);
                    }
                    Err(why) => outcome.failed.push(format!("{cell}, run {run}: {why}")),
                }
                bar.inc(1);
            }
        }
        outcome.rows.extend(document::rows(group, &runs));
    }
    bar.finish_and_clear();
    outcome
}

fn limit(cell: &Cell) -> Duration {
    match cell.time_ms {
        Some(time) => LIMIT + Duration::from_millis(time),
        None => {
            let messages = cell.items.saturating_mul(u64::from(cell.producers));
            LIMIT + MESSAGE_LIMIT * u32::try_from(messages).unwrap_or(u32::MAX)
        }
    }
}

fn progress(cells: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {eta} {msg}");
    let bar = ProgressBar::new(cells as u64);
    style.map_or(bar.clone(), |style| bar.with_style(style))
}
