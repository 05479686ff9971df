//! `cmwq bench flush`: what a flush costs, by how many CPUs there are.

mod args;
mod document;
mod load;
mod walk;

use std::time::Duration;

pub(crate) use args::Arguments;

use super::child;
use super::machine::Machine;
use super::report;
use crate::output::{self, Failure};
use document::{Document, Row};
use load::{Cell, Design, Measured};

/// A fresh process gets this much time, and fifty turns.
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
    let (rows, failed) = measure_all(arguments);
    machine.look_again(&topology);
    let document = Document::new(machine, rows, failed);
    report::show(target.as_ref(), &document, || document.table(), &[])?;
    conclude(&document)
}

/// In a fresh process: measures one row and prints what it finds.
pub(crate) fn answer(cell: &str) -> Result<(), Failure> {
    child::answer(cell, load::measure)
}

/// Rows take turns, so that all of them see the machine as it is at that time.
fn measure_all(arguments: &Arguments) -> (Vec<Row>, Vec<String>) {
    let loads = || std::iter::once(0).chain(arguments.threads.iter().copied());
    let cells: Vec<Cell> = loads()
        .flat_map(|threads| arguments.cpus.iter().map(move |&cpus| (threads, cpus)))
        .map(|(threads, cpus)| Cell { cpus, nodes: arguments.nodes, threads, turn_ms: arguments.turn_ms })
        .collect();
    let mut runs: Vec<Vec<[Measured; 2]>> = vec![Vec::new(); cells.len()];
    let mut failed = Vec::new();
    let limit = LIMIT + Duration::from_millis(50 * arguments.turn_ms);
    for run in 0..arguments.runs {
        for (cell, runs) in cells.iter().zip(&mut runs) {
            match child::measure("flush-cell", cell, limit) {
                Ok(measured) => runs.push(measured),
                Err(why) => {
                    failed.push(format!("{} CPUs, {} threads, run {run}: {why}", cell.cpus, cell.threads))
                }
            }
        }
    }
    let designs = 0..Design::ALL.len();
    let rows = cells.iter().zip(&runs);
    let rows = rows.flat_map(|(cell, runs)| designs.clone().filter_map(|at| Row::new(cell, at, runs)));
    (rows.collect(), failed)
}

fn conclude(document: &Document) -> Result<(), Failure> {
    report::conclude("rows", &document.failed, false, &[], "")?;
    match document.rows.iter().map(|row| row.broken).sum::<u64>() {
        0 => Ok(()),
        broken => Err(Failure::missed(format!("{broken} flushes returned before an item they owed had run"))),
    }
}
