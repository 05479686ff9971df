//! `cmwq bench timer`: what delayed items cost, by how many are armed, and how late they are.

mod args;
mod document;
mod load;

use std::time::Duration;

pub(crate) use args::Arguments;

use super::child;
use super::machine::Machine;
use super::report;
use crate::output::{self, Failure};
use document::Document;
use load::{Cell, Measured};

/// A fresh process gets this much time, and some more for each armed item.
const LIMIT: Duration = Duration::from_secs(60);
const LIMIT_ARMED: Duration = Duration::from_micros(50);

/// By number of armed items and run.
type Runs = Vec<Vec<Option<Measured>>>;

/// Measures every row, then shows them.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let source = crate::source::Source::default();
    let topology = source.read()?;
    let target = output::json_target(arguments.json.as_deref())?;
    let mut machine = Machine::look(&source, &topology);
    let armed = arguments.armed();
    let (runs, failed) = measure_all(arguments, &armed);
    machine.look_again(&topology);
    let rows = document::rows(&armed, &runs);
    let verdicts = if arguments.judge { document::judge(&rows) } else { Vec::new() };
    let document = Document::new(machine, arguments, rows, failed, &verdicts);
    report::show(target.as_ref(), &document, || document.table(), &verdicts)?;
    let nothing = "nothing to compare; give --armed more than one number";
    report::conclude("rows", &document.failed, arguments.judge, &verdicts, nothing)
}

/// In a fresh process: measures one row and prints what it finds.
pub(crate) fn answer(cell: &str) -> Result<(), Failure> {
    child::answer(cell, load::measure)
}

/// Rows take turns, so that all of them see the machine as it is at that time.
fn measure_all(arguments: &Arguments, armed: &[u32]) -> (Runs, Vec<String>) {
    let mut runs: Runs = vec![Vec::new(); armed.len()];
    let mut failed = Vec::new();
    for run in 0..arguments.runs {
        for (row, &armed) in armed.iter().enumerate() {
            let cell = Cell { armed, items: arguments.items };
            let limit = LIMIT + LIMIT_ARMED * armed + Duration::from_micros(20) * arguments.items;
            let measured = child::measure("timer-cell", &cell, limit);
            if let Err(why) = &measured {
                failed.push(format!("{armed} armed, run {run}: {why}"));
            }
            runs[row].push(measured.ok());
        }
    }
    (runs, failed)
}
