//! `cmwq bench queue`: the kernel's benchmark of its workqueue, on this project's queues.

mod args;
mod cell;
mod condvar;
mod document;
mod drive;
mod hand_over;
mod judge;
mod loads;
mod plan;
mod table;

use std::time::Duration;

pub(crate) use args::Arguments;

use super::child;
use super::machine::Machine;
use super::report;
use crate::output::{self, Failure};
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
    let target = output::json_target(arguments.json.as_deref())?;
    let mut machine = Machine::look(&arguments.source, &topology);
    let plan = Plan::new(arguments, &topology);
    let (runs, failed) = measure_all(&plan);
    machine.look_again(&topology);
    let rows = document::rows(&plan, &runs);
    let verdicts = if arguments.judge { judge::judge(&rows) } else { Vec::new() };
    let document = Document::new(machine, &plan, rows, failed, &verdicts);
    report::show(target.as_ref(), &document, || table::of(&document, &plan), &verdicts)?;
    let nothing = "nothing that is judged was measured; leave out --scopes";
    report::conclude("cells", &document.failed, arguments.judge, &verdicts, nothing)
}

/// In a fresh process: measures one cell and prints what it finds.
pub(crate) fn answer(cell: &str) -> Result<(), Failure> {
    child::answer(cell, loads::measure)
}

/// By row and run, and what went wrong.
type Runs = Vec<Vec<Option<Measured>>>;

fn measure_all(plan: &Plan) -> (Runs, Vec<String>) {
    let mut runs: Runs = vec![vec![None; plan.runs]; plan.rows.len()];
    let mut failed = Vec::new();
    let bar = report::progress(plan.cells());
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
