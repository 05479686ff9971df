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

use cmwq_sys::topology::CpuSet;
use indicatif::ProgressBar;

use super::distance::Watch;
use super::machine::{self, Machine};
use super::{child, report};
use crate::output::{self, Failure};
use cell::{Measured, Shape};
use document::Document;
use plan::Plan;

/// A fresh process gets this much time beyond what its items may take at worst.
const LIMIT: Duration = Duration::from_secs(20);
/// Of the cells that there are, this part may be measured again because the CPUs had moved meanwhile.
const AGAIN_PART: usize = 3;
/// At worst an item takes this long.
const ITEM_LIMIT: Duration = Duration::from_micros(50);

/// Measures every cell, then shows the rows.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let topology = arguments.source.read()?;
    let target = output::json_target(arguments.json.as_deref())?;
    let mut machine = Machine::look(&arguments.source, &topology);
    let plan = Plan::new(arguments, &topology);
    let (runs, failed) = measure_all(&plan, &machine::cpus_here(&topology));
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

fn measure_all(plan: &Plan, cpus: &CpuSet) -> (Runs, Vec<String>) {
    let bar = report::progress(plan.cells());
    let runs = vec![vec![None; plan.runs]; plan.rows.len()];
    let mut measuring = Measuring { plan, bar, runs, failed: Vec::new(), watch: Watch::new(cpus) };
    let mut again = plan.cells() / AGAIN_PART;
    for run in 0..plan.runs {
        for group in plan.order(run).chunk_by(|a, b| plan.rows[*a].group == plan.rows[*b].group) {
            measuring.group(group, run);
            while !measuring.is_side_by_side(group, run) && again >= group.len() {
                again -= group.len();
                measuring.bar.inc_length(group.len() as u64);
                measuring.group(group, run);
            }
        }
    }
    measuring.bar.finish_and_clear();
    (measuring.runs, measuring.failed)
}

struct Measuring<'a> {
    plan: &'a Plan,
    bar: ProgressBar,
    runs: Runs,
    failed: Vec<String>,
    watch: Watch<'a>,
}

impl Measuring<'_> {
    fn group(&mut self, group: &[usize], run: usize) {
        for &index in group {
            self.cell(index, run);
        }
    }

    fn cell(&mut self, index: usize, run: usize) {
        let mut cell = self.plan.rows[index].cell.clone();
        self.bar.set_message(cell.to_string());
        if cell.shape == Shape::Condvar {
            cell.workers = cell.workers.or(self.plan.engine_workers(index, run, &self.runs));
        }
        let found = child::measure::<_, Measured>("queue-cell", &cell, limit(&cell));
        let line_round_trip_ns = self.watch.trips();
        match found {
            Ok(measured) => {
                self.runs[index][run] = Some(Measured { line_round_trip_ns, ..measured });
            }
            Err(why) => self.failed.push(format!("{cell}, run {run}: {why}")),
        }
        self.bar.inc(1);
    }

    /// Whether the CPUs were as far apart in all of the group's cells.
    fn is_side_by_side(&self, group: &[usize], run: usize) -> bool {
        let measured = || group.iter().filter_map(|index| self.runs[*index][run].as_ref());
        measured().all(|one| measured().all(|other| one.is_beside(other)))
    }
}

fn limit(cell: &cell::Cell) -> Duration {
    match cell.time_ms {
        Some(time) => LIMIT + Duration::from_millis(time),
        None => {
            LIMIT + ITEM_LIMIT * u32::try_from(cell.items * u64::from(cell.producers)).unwrap_or(u32::MAX)
        }
    }
}
