//! The JSON document of `cmwq bench flush` and its table.

use std::fmt::Write;

use serde::Serialize;

use super::cell::{Case, Cell, Design, Measured};
use crate::bench::figures::Spread;
use crate::bench::judge::Verdict;
use crate::bench::machine::Machine;

/// Changes whenever a reader of older documents would go wrong.
const SCHEMA: &str = "cmwq-bench-flush/2";

/// The form of the document, for the help text.
pub(super) const DOCUMENT_FORM: &str = "\
walk    every flush paints one pwq for each CPU behind its pool's lock (sixteen colours): what the kernel had
active  a list for each node of those used since they were last found idle: what the kernel has now
cmwq    the queue's own flush
none    nothing is counted (submissions only)
Cases:
  idle                     one thread flushes, nothing is queued
  one-active               one thread queues an item, runs it, flushes
  queue+flush              each thread queues an item that a worker runs, and flushes
  queue+flush-inline       the same, but each thread runs the items of its CPU itself
  queue+flush-inline-cold  the same with one thread, after 4 MiB have been written: no core's own caches hold the lines
  dense-inside             an item on every CPU; all are run between the flush's cut and its wait
  dense-before             an item on every CPU; all have run before the flush
  dense-workers            an item on every CPU; workers run them
  submission               one item is queued and run, no flush: times and rates are of an item
  submission-batch         64 items are queued, then run together, no flush: of an item
  under-load               flushes while two other threads keep 32 items pending each; beside: a flush of as many items
                           when nobody else submits
All designs take turns in each process, over synthetic machines: the threads run on the CPUs there are. Inline items
are claimed, listed and run alike; the yardsticks list them behind the pool's lock, where they are counted, cmwq in its
inbox. Where workers run the items the yardsticks count them in addition to what the engine counts anyway. Whoever
waits sleeps at once, in all designs; engines spin by default.
RMW: atomic read-modify-writes of an item, or of a flush where nothing is queued; counted by running one round one
instruction at a time. The exit status is 1 when a flush returned although an item queued before had not run.

The JSON document holds
  schema   \"cmwq-bench-flush/2\"
  machine  processor, kernel, CPUs, the round trip of a cache line between two of them, pods
  rows     design, case, cpus, nodes, threads; per_s (flushes or items, all threads) and ns {p50, p99, max}, each
           with median, min and max over the processes; rmw_per_item (or null); beside_ns (idle: an atomic load;
           under-load: a flush when nobody submits; else null); to_walk and to_active (ratios of per_s, of the turns of
           all processes) with median, min, max and lower, the lower end of the mean's confidence interval, 95 %
           one-sided; and broken (flushes that returned too early)
  not_counted  why read-modify-writes were not counted, or null
  failed   rows that could not be measured
  judged   figures, bounds and whether they hold, with --judge";

/// What is written, in this order.
#[derive(Default, Serialize)]
pub(super) struct Document {
    schema: Schema,
    pub(super) machine: Option<Machine>,
    pub(super) rows: Vec<Row>,
    pub(super) not_counted: Option<String>,
    pub(super) failed: Vec<String>,
    pub(super) judged: Vec<Verdict>,
}

#[derive(Serialize)]
struct Schema(&'static str);

impl Default for Schema {
    fn default() -> Self {
        Schema(SCHEMA)
    }
}

/// One design in one case.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    pub(super) design: Design,
    pub(super) case: Case,
    pub(super) cpus: u32,
    pub(super) nodes: u32,
    pub(super) threads: u32,
    pub(super) per_s: Spread,
    pub(super) ns: Nanoseconds,
    pub(super) rmw_per_item: Option<f64>,
    pub(super) beside_ns: Option<Spread>,
    pub(super) to_walk: Option<Ratio>,
    pub(super) to_active: Option<Ratio>,
    pub(super) broken: u64,
}

#[derive(Clone, Debug, Serialize)]
pub(super) struct Nanoseconds {
    pub(super) p50: Spread,
    pub(super) p99: Spread,
    pub(super) max: Spread,
}

/// Of one design's rate to another's, turn by turn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Ratio {
    #[serde(flatten)]
    pub(super) spread: Spread,
    /// The lower end of the confidence interval of the (geometric) mean.
    pub(super) lower: f64,
}

impl Ratio {
    /// `None` of nothing.
    pub(super) fn of(ratios: &[f64]) -> Option<Ratio> {
        let spread = Spread::of(ratios)?;
        let count = ratios.len() as f64;
        let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.max(1e-9).ln()).collect();
        let mean = logs.iter().sum::<f64>() / count;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        // Student's for ten turns; with more of them it is less.
        const QUANTILE: f64 = 1.83;
        let lower = (mean - QUANTILE * (variance / count).sqrt()).exp();
        Some(Ratio { spread, lower })
    }
}

impl Row {
    /// Of the case's design `at`; `None` when nothing was measured.
    pub(super) fn new(cell: &Cell, at: usize, runs: &[Vec<Measured>], rmw: Option<f64>) -> Option<Row> {
        let designs = cell.case.designs();
        let mine: Vec<&Measured> = runs.iter().map(|run| &run[at]).collect();
        let spread = |of: &dyn Fn(&Measured) -> f64| {
            let values: Vec<f64> = mine.iter().map(|measured| of(measured)).collect();
            Spread::of(&values)
        };
        let to = |other: Design| {
            let other = designs.iter().position(|&design| design == other)?;
            let turns = runs.iter().flat_map(|run| run[at].per_s.iter().zip(&run[other].per_s));
            let ratios: Vec<f64> = turns.map(|(mine, other)| mine / other.max(1e-9)).collect();
            Ratio::of(&ratios)
        };
        Some(Row {
            design: designs[at],
            case: cell.case,
            cpus: cell.cpus,
            nodes: cell.nodes,
            threads: cell.threads,
            per_s: spread(&|measured| crate::bench::figures::median(&measured.per_s))?,
            ns: Nanoseconds {
                p50: spread(&|measured| measured.p50_ns)?,
                p99: spread(&|measured| measured.p99_ns)?,
                max: spread(&|measured| measured.max_ns)?,
            },
            rmw_per_item: rmw,
            beside_ns: spread(&|measured| measured.beside_ns.unwrap_or(f64::NAN))
                .filter(|spread| spread.median.is_finite()),
            to_walk: to(Design::Walk),
            to_active: to(Design::Active),
            broken: mine.iter().map(|measured| measured.broken).sum(),
        })
    }
}

impl Document {
    /// For people.
    pub(super) fn table(&self) -> String {
        let mut text = self.machine.as_ref().map_or_else(String::new, Machine::headline);
        _ = writeln!(
            text,
            "\n{:<24}{:>5}{:>6}{:>4}  {:<7}{:>11}{:>12}{:>12}{:>8}  to walk (min..max, lower)",
            "case", "cpus", "nodes", "thr", "design", "per s", "p50 ns", "p99 ns", "RMW"
        );
        for row in &self.rows {
            _ = write!(
                text,
                "{:<24}{:>5}{:>6}{:>4}  {:<7}{:>11.0}{:>12.1}{:>12.1}{:>8}",
                row.case.name(),
                row.cpus,
                row.nodes,
                row.threads,
                row.design.name(),
                row.per_s.median,
                row.ns.p50.median,
                row.ns.p99.median,
                row.rmw_per_item.map_or_else(|| "-".to_owned(), |rmw| format!("{rmw:.2}")),
            );
            if let Some(Ratio { spread: Spread { median, min, max }, lower }) = row.to_walk {
                _ = write!(text, "  {median:.2} ({min:.2}..{max:.2}, {lower:.2})");
            }
            if let Some(beside) = row.beside_ns {
                _ = write!(text, "  beside {:.2} ns", beside.median);
            }
            text.push('\n');
        }
        if let Some(why) = &self.not_counted {
            _ = writeln!(text, "read-modify-writes were not counted: {why}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_turn_by_turn_and_broken_flushes_add_up() {
        let run = |per_s: [f64; 2], broken| Measured { per_s: per_s.to_vec(), broken, ..Measured::default() };
        let process = |a, b, c| vec![run(a, 0), run(b, 0), run(c, 1)];
        let runs = [
            process([10.0, 20.0], [10.0, 10.0], [40.0, 40.0]),
            process([100.0, 100.0], [10.0, 10.0], [200.0, 200.0]),
        ];
        let cell = Cell { case: Case::OneActive, cpus: 8, nodes: 2, threads: 1, turn_ms: 1 };
        let row = Row::new(&cell, 2, &runs, None).unwrap();
        let to_walk = row.to_walk.unwrap();
        assert_eq!(to_walk.spread, Spread { median: 2.0, min: 2.0, max: 4.0 });
        assert!(to_walk.lower < 2.4 && to_walk.lower > 1.0, "{to_walk:?}");
        assert_eq!(row.to_active.unwrap().spread.max, 20.0);
        assert_eq!((row.broken, row.beside_ns), (2, None));
        assert!(Row::new(&cell, 0, &[], None).is_none());
    }

    #[test]
    fn equal_ratios_leave_no_doubt() {
        let ratio = Ratio::of(&[1.5; 10]).unwrap();
        assert!((ratio.lower - 1.5).abs() < 1e-9);
        assert!(Ratio::of(&[]).is_none());
    }
}
