//! `cmwq bench flush`: what a flush costs, by how many CPUs there are.

mod args;
mod cell;
mod colours;
mod document;
mod inline;
mod judge;
mod load;
mod pwqs;
mod rmw;
mod subject;
mod turns;
mod workers;

use std::time::Duration;

pub(crate) use args::Arguments;

use super::child;
use super::machine::Machine;
use super::report;
use crate::output::{self, Failure};
use cell::{Cell, Measured};
use document::{Document, Row};

/// A fresh process gets this much time, and two hundred turns.
const LIMIT: Duration = Duration::from_secs(60);

/// Measures every row, then shows them.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let nodes = arguments.nodes;
    if let Some(cpus) = arguments.cpus.iter().find(|&cpus| cpus % nodes != 0) {
        return Err(Failure::input(format!("--cpus {cpus}: give a multiple of --nodes {nodes}")));
    }
    let source = crate::source::Source::default();
    let topology = source.read()?;
    let target = output::json_target(arguments.json.as_deref())?;
    let mut machine = Machine::look(&source, &topology);
    let mut document = measure_all(arguments);
    machine.look_again(&topology);
    document.machine = Some(machine);
    document.judged = if arguments.judge { judge::judge(&document.rows) } else { Vec::new() };
    report::show(target.as_ref(), &document, || document.table(), &document.judged)?;
    conclude(arguments, &document)
}

/// In a fresh process: measures one row and prints what it finds.
pub(crate) fn answer(cell: &str) -> Result<(), Failure> {
    child::answer(cell, turns::measure)
}

/// In a fresh process: one round of a row, whose read-modify-writes are counted.
pub(crate) fn answer_counted(cell: &str) -> Result<(), Failure> {
    rmw::answer(&serde_json::from_str(cell).map_err(Failure::input)?)
}

/// Rows take turns, so that all of them see the machine as it is at that time.
fn measure_all(arguments: &Arguments) -> Document {
    let cells = arguments.cells();
    let mut runs: Vec<Vec<Vec<Measured>>> = vec![Vec::new(); cells.len()];
    let mut document = Document::default();
    let limit = LIMIT + Duration::from_millis(200 * arguments.turn_ms);
    let bar = report::progress(cells.len() * arguments.runs as usize);
    for run in 0..arguments.runs {
        for (cell, runs) in cells.iter().zip(&mut runs) {
            bar.set_message(format!("{}, {} CPUs", cell.case.name(), cell.cpus));
            match child::measure("flush-cell", cell, limit) {
                Ok(measured) => runs.push(measured),
                Err(why) => {
                    let Cell { case, cpus, threads, .. } = cell;
                    let row = format!("{}, {cpus} CPUs, {threads} threads", case.name());
                    document.failed.push(format!("{row}, run {run}: {why}"));
                }
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    for (cell, runs) in cells.iter().zip(&runs) {
        let rows = cell.case.designs().iter().enumerate().filter_map(|(at, &design)| {
            let rmw = match rmw::an_item(cell, design) {
                Some(Err(why)) => {
                    document.not_counted = Some(why);
                    None
                }
                counted => counted.and_then(Result::ok),
            };
            Row::new(cell, at, runs, rmw)
        });
        document.rows.extend(rows);
    }
    document
}

fn conclude(arguments: &Arguments, document: &Document) -> Result<(), Failure> {
    match document.rows.iter().map(|row| row.broken).sum::<u64>() {
        0 => {}
        broken => {
            let what = format!("{broken} flushes returned before an item they owed had run");
            return Err(Failure::missed(what));
        }
    }
    let nothing =
        "nothing that is judged was measured; --cpus needs 192, and --cases idle, queue+flush or dense ones";
    report::conclude("rows", &document.failed, arguments.judge, &document.judged, nothing)
}
