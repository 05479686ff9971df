//! `cmwq bench ring`: messages from many threads to one, by the completion ring and by what one would use instead.

mod args;
mod cell;
mod counted;
mod document;
mod drive;
mod judge;
mod plan;
mod rt;
mod systems;
mod table;

use std::time::Duration;

pub(crate) use args::Arguments;
pub(crate) use rt::answer as answer_rt;

use super::child;
use super::machine::Machine;
use super::report;
use crate::output::{self, Failure};
use crate::source::Source;
use cell::{Cell, Measured, Mode, Shape};
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
    let target = output::json_target(arguments.json.as_deref())?;
    let mut machine = Machine::look(&source, &topology);
    if arguments.rt {
        match rt::permitted() {
            Ok(()) => return rt::run(arguments, machine, target.as_ref()),
            Err(why) => eprintln!("skipped: the real-time part: {why}"),
        }
    }
    let plan = Plan::new(arguments);
    let outcome = measure_all(&plan);
    machine.look_again(&topology);
    let verdicts = if arguments.judge { judge::judge(&outcome.rows) } else { Vec::new() };
    let document = Document::new(machine, outcome, plan.runs, &verdicts);
    report::show(target.as_ref(), &document, || table::of(&document), &verdicts)?;
    let nothing = "nothing that is judged was measured; leave out --need";
    report::conclude("cells", &document.failed, arguments.judge, &verdicts, nothing)
}

/// In a fresh process: measures one cell and prints what it finds.
pub(crate) fn answer(cell: &str) -> Result<(), Failure> {
    child::answer(cell, drive::measure)
}

/// In a fresh process: posts and takes, whose instructions are counted.
pub(crate) fn answer_counted(cell: &str) -> Result<(), Failure> {
    counted::answer(&serde_json::from_str(cell).map_err(Failure::input)?)
}

fn measure_all(plan: &Plan) -> Outcome {
    let time_ms = plan.groups.iter().flatten().next().and_then(|cell| cell.time_ms);
    let mut outcome =
        Outcome { rows: Vec::new(), skipped: Vec::new(), failed: Vec::new(), not_counted: None, time_ms };
    let bar = report::progress(plan.cells());
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
    for row in outcome.rows.iter_mut().filter(|row| row.mode == Mode::Alone) {
        match counted::Counts::of(row.shape) {
            Ok(counts) => row.counted = Some(counts),
            Err(why) => outcome.not_counted = Some(why),
        }
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
