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

use cmwq_sys::topology::CpuSet;
use indicatif::ProgressBar;

use super::distance::{self, Watch};
use super::machine::{self, Machine};
use super::{child, report};
use crate::output::{self, Failure};
use crate::source::Source;
use cell::{Cell, Measured, Mode, Shape};
use document::{Document, Outcome};
use plan::Plan;

/// A fresh process gets this much time beyond what its messages may take at worst.
const LIMIT: Duration = Duration::from_secs(20);
/// So often a run of a group is looked through for cells to be measured again, because the CPUs had moved meanwhile.
const AGAIN_MOST: usize = 3;
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
    let outcome = measure_all(&plan, &machine::cpus_here(&topology));
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

fn measure_all(plan: &Plan, cpus: &CpuSet) -> Outcome {
    let time_ms = plan.groups.iter().flatten().next().and_then(|cell| cell.time_ms);
    let outcome =
        Outcome { rows: Vec::new(), skipped: Vec::new(), failed: Vec::new(), not_counted: None, time_ms };
    let mut measuring = Measuring { watch: Watch::new(cpus), outcome, bar: report::progress(plan.cells()) };
    for group in &plan.groups {
        let mut runs: Vec<Vec<Option<Measured>>> = vec![vec![None; plan.runs]; group.len()];
        for run in 0..plan.runs {
            for index in Plan::order(group, run) {
                measuring.cell(&group[index], run, &mut runs[index][run]);
            }
            for _ in 0..AGAIN_MOST {
                // What ran with the CPUs as far apart as they are now may stay.
                let now = measuring.watch.now();
                let is_odd = |index: &usize| {
                    let trips = runs[*index][run].as_ref().and_then(|measured| measured.line_round_trip_ns);
                    group[*index].mode == Mode::Stream && !distance::is_one([trips, now])
                };
                let odd: Vec<usize> = Plan::order(group, run).filter(is_odd).collect();
                measuring.bar.inc_length(odd.len() as u64);
                odd.iter().for_each(|&index| measuring.cell(&group[index], run, &mut runs[index][run]));
            }
        }
        measuring.outcome.rows.extend(document::rows(group, &runs));
    }
    let Measuring { mut outcome, bar, .. } = measuring;
    for row in outcome.rows.iter_mut().filter(|row| row.mode == Mode::Alone) {
        match counted::Counts::of(row.shape) {
            Ok(counts) => row.counted = Some(counts),
            Err(why) => outcome.not_counted = Some(why),
        }
    }
    bar.finish_and_clear();
    outcome
}

struct Measuring<'a> {
    watch: Watch<'a>,
    outcome: Outcome,
    bar: ProgressBar,
}

impl Measuring<'_> {
    /// Measures a cell; what is there stays if that fails.
    fn cell(&mut self, cell: &Cell, run: usize, found: &mut Option<Measured>) {
        self.bar.set_message(cell.to_string());
        let measured = child::measure::<_, Measured>("ring-cell", cell, limit(cell));
        let line_round_trip_ns = self.watch.trips();
        match measured {
            Ok(measured) => *found = Some(Measured { line_round_trip_ns, ..measured }),
            Err(why) if cell.shape == Shape::MsgRing && why.starts_with(systems::NO_URING) => {
                let skipped = format!("{}: {why}", cell.shape.name());
                self.outcome.skipped.retain(|other| *other != skipped);
                self.outcome.skipped.push(skipped);
            }
            Err(why) => self.outcome.failed.push(format!("{cell}, run {run}: {why}")),
        }
        self.bar.inc(1);
    }
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
