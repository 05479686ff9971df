//! `cmwq bench queue`: the kernel's benchmark of its workqueue, on this project's queues.

mod args;
mod cell;
mod condvar;
mod document;
mod drive;
mod judge;
mod loads;
mod plan;
mod table;

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

pub(crate) use args::Arguments;

use super::child;
use super::judge::Verdict;
use super::machine::Machine;
use crate::output::{self, Failure, JsonTarget};
use cell::{Measured, Shape};
use document::Document;
use plan::Plan;

/// A fresh process gets this much time beyond what its items may take at worst.
const LIMIT: Duration = Duration::from_secs(20);
/// At worst an item takes this long.
const ITEM_LIMIT: Duration = Duration::from_micros(50);

/// Measures every cell, then shows the rows.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let topology = arguments.source.read()?;
    let target = arguments.json.as_deref().map(JsonTarget::from);
    target.as_ref().map_or(Ok(()), output::check_json)?;
    let mut machine = Machine::look(&arguments.source, &topology);
    let plan = Plan::new(arguments, &topology);
    let (runs, failed) = measure_all(&plan);
    machine.look_again(&topology);
    let rows = document::rows(&plan, &runs);
    let verdicts = if arguments.judge { judge::judge(&rows) } else { Vec::new() };
    let document = Document::new(machine, &plan, rows, failed, &verdicts);
    if let Some(target) = &target {
        output::write_json(target, &document)?;
    }
    if target == Some(JsonTarget::Stdout) {
        verdicts.iter().for_each(|verdict| eprintln!("{verdict}"));
    } else {
        let mut text = table::of(&document, &plan);
        text.push_str(if verdicts.is_empty() { "" } else { "\n" });
        text.extend(verdicts.iter().map(|verdict| format!("{verdict}\n")));
        output::print(&text)?;
    }
    conclude(arguments, &document.failed, &verdicts)
}

/// In a fresh process: measures one cell and prints what it finds.
pub(crate) fn answer(cell: &str) -> Result<(), Failure> {
    child::answer(cell, loads::measure)
}

fn conclude(arguments: &Arguments, failed: &[String], verdicts: &[Verdict]) -> Result<(), Failure> {
    if let Some(first) = failed.first() {
        return Err(Failure::missed(format!(
            "{} cells could not be measured, the first: {first}",
            failed.len()
        )));
    }
    let missed = verdicts.iter().filter(|verdict| !verdict.holds).count();
    match (arguments.judge, verdicts.len(), missed) {
        (false, ..) => Ok(()),
        (true, 0, _) => Err(Failure::missed("nothing that is judged was measured; leave out --scopes")),
        (true, _, 0) => Ok(()),
        (true, all, missed) => Err(Failure::missed(format!("{missed} of {all} judged figures are missed"))),
    }
}

/// By row and run, and what went wrong.
type Runs = Vec<Vec<Option<Measured>>>;

fn measure_all(plan: &Plan) -> (Runs, Vec<String>) {
    let mut runs: Runs = vec![vec![None; plan.runs]; plan.rows.len()];
    let mut failed = Vec::new();
    let bar = progress(plan.cells());
    for run in 0..plan.runs {
        for index in plan.order(run) {
            let mut cell = plan.rows[index].cell.clone();
            bar.set_message(cell.to_string());
            if cell.shape == Shape::Condvar {
                cell.workers = cell.workers.or(plan.engine_workers(index, run, &runs));
            }
            match child::measure("queue-cell", &cell, limit(&cell)) {
                Ok(measured) => runs[index][run] = Some(measured),
                Err(why) => failed.push(format!("{cell}, run {run}: {why}")),
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    (runs, failed)
}

fn limit(cell: &cell::Cell) -> Duration {
    match cell.time_ms {
        Some(time) => LIMIT + Duration::from_millis(time),
        None => {
            LIMIT + ITEM_LIMIT * u32::try_from(cell.items * u64::from(cell.producers)).unwrap_or(u32::MAX)
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
