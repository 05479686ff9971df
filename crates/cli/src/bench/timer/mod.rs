//! `cmwq bench timer`: what delayed items cost, by how many are armed, and how late they are.

mod args;
mod document;
mod load;

use std::time::Duration;

pub(crate) use args::Arguments;

use super::child;
use super::judge::Verdict;
use super::machine::Machine;
use crate::output::{self, Failure, JsonTarget};
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
    let target = arguments.json.as_deref().map(JsonTarget::from);
    target.as_ref().map_or(Ok(()), output::check_json)?;
    let mut machine = Machine::look(&source, &topology);
    let armed = arguments.armed();
    let (runs, failed) = measure_all(arguments, &armed);
    machine.look_again(&topology);
    let rows = document::rows(&armed, &runs);
    let verdicts = if arguments.judge { document::judge(&rows) } else { Vec::new() };
    let document = Document::new(machine, arguments, rows, failed, &verdicts);
    if let Some(target) = &target {
        output::write_json(target, &document)?;
    }
    if target == Some(JsonTarget::Stdout) {
        verdicts.iter().for_each(|verdict| eprintln!("{verdict}"));
    } else {
        let mut text = document.table();
        text.push_str(if verdicts.is_empty() { "" } else { "\n" });
        text.extend(verdicts.iter().map(|verdict| format!("{verdict}\n")));
        output::print(&text)?;
    }
    conclude(arguments, &document.failed, &verdicts)
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

fn conclude(arguments: &Arguments, failed: &[String], verdicts: &[Verdict]) -> Result<(), Failure> {
    if let Some(first) = failed.first() {
        return Err(Failure::missed(format!(
            "{} rows could not be measured, the first: {first}",
            failed.len()
        )));
    }
    let missed = verdicts.iter().filter(|verdict| !verdict.holds).count();
    match (arguments.judge, verdicts.len(), missed) {
        (false, ..) | (true, 1.., 0) => Ok(()),
        (true, 0, _) => Err(Failure::missed("nothing to compare; give --armed more than one number")),
        (true, all, missed) => Err(Failure::missed(format!("{missed} of {all} judged figures are missed"))),
    }
}
