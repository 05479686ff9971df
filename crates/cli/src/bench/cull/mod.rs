//! `cmwq bench cull`: can a picked worker be culled and its item stranded, on real threads?

mod args;
mod delays;
mod design;
mod document;
mod drive;

use std::path::PathBuf;
use std::time::Duration;

pub(crate) use args::Arguments;
use cmwq_check::kick::Variant;

use super::child;
use super::machine::Machine;
use super::report;
use crate::output::{self, Failure};
use document::{Document, Row};
use drive::{Cell, Measured};

/// By row and run.
type Runs = Vec<Vec<Option<Measured>>>;

/// A fresh process gets this much time and what its stops may take.
fn limit(cell: &Cell) -> Duration {
    Duration::from_secs(20) + (cell.delay() * 8 + Duration::from_millis(2)) * cell.items
}

/// Drives every row, then shows them.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let source = crate::source::Source::default();
    let topology = source.read()?;
    let variants = design::chosen(&arguments.variant)?;
    let rows: Vec<(Variant, u32)> = variants
        .iter()
        .flat_map(|&variant| arguments.floors().into_iter().map(move |floor| (variant, floor)))
        .collect();
    if arguments.record.is_some() && rows.len() > 1 {
        return Err(Failure::input("--record keeps one row; name it by --variant and --floor"));
    }
    let target = output::json_target(arguments.json.as_deref())?;
    let mut machine = Machine::look(&source, &topology);
    let (runs, failed) = measure_all(arguments, &rows);
    machine.look_again(&topology);
    let rows: Vec<Row> = rows.iter().zip(&runs).filter_map(|(&row, runs)| Row::new(row, runs)).collect();
    let verdicts = if arguments.judge { document::judge(&rows) } else { Vec::new() };
    let document = Document::new(machine, arguments, rows, failed, &verdicts);
    report::show(target.as_ref(), &document, || document.table(), &verdicts)?;
    report::conclude("rows", &document.failed, arguments.judge, &verdicts, "nothing to judge")
}

/// In a fresh process: drives one row and prints what it finds.
pub(crate) fn answer(cell: &str) -> Result<(), Failure> {
    child::answer(cell, drive::measure)
}

fn measure_all(arguments: &Arguments, rows: &[(Variant, u32)]) -> (Runs, Vec<String>) {
    let mut runs: Runs = vec![Vec::new(); rows.len()];
    let mut failed = Vec::new();
    let bar = report::progress(rows.len() * arguments.runs as usize);
    for run in 0..arguments.runs {
        for (at, &(variant, floor)) in rows.iter().enumerate() {
            let cell = Cell {
                variant: variant.id().to_owned(),
                floor,
                timeout: arguments.timeout,
                items: arguments.items,
                seed: u64::from(run) << 32 | at as u64,
                record: arguments.record.clone().unwrap_or_else(|| kept_at(variant, floor, run)),
                always: arguments.record.is_some(),
            };
            let measured = child::measure("cull-cell", &cell, limit(&cell));
            if let Err(why) = &measured {
                failed.push(format!("{} with a floor of {floor}, run {run}: {why}", variant.id()));
            }
            runs[at].push(measured.ok());
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    (runs, failed)
}

fn kept_at(variant: Variant, floor: u32, run: u32) -> PathBuf {
    std::env::temp_dir().join(format!("cmwq-cull-{}-{floor}-{run}.recording", variant.id()))
}
