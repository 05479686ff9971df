//! The JSON document of `cmwq bench flush` and its table.

use std::fmt::Write;

use serde::Serialize;

use super::load::{Cell, Design, Measured};
use crate::bench::figures::Spread;
use crate::bench::machine::Machine;

/// Changes whenever a reader of older documents would go wrong.
const SCHEMA: &str = "cmwq-bench-flush/1";

/// The form of the document, for the help text.
pub(super) const DOCUMENT_FORM: &str = "\
walk   every flush paints one pwq for each CPU behind its pool's lock (sixteen colours)
cmwq   the queue's own flush
Cases: idle (one thread flushes, nothing is queued); queue+flush (each thread queues an item that a worker
runs, then flushes; the time is that of both). Both designs take turns in each process, over one
engine, whose machine is synthetic: the threads run on the CPUs there are. In queue+flush the walk counts its
items in addition to what the engine counts anyway.
Whoever waits, sleeps at once, in both designs; engines spin by default.
The exit status is 1 when a flush returned although
an item that its thread had queued before had not run.

The JSON document holds
  schema   \"cmwq-bench-flush/1\"
  machine  processor, kernel, CPUs, the round trip of a cache line between two of them, pods
  rows     design, case, cpus, nodes, threads; per_s (flushes, all threads) and ns {p50, p99}, each with
           median, min and max over the processes; ratio (per_s to that of walk, process by process)
           and broken (flushes that returned too early)
  failed   rows that could not be measured";

/// What is written, in this order.
#[derive(Serialize)]
pub(super) struct Document {
    pub(super) schema: &'static str,
    pub(super) machine: Machine,
    pub(super) rows: Vec<Row>,
    pub(super) failed: Vec<String>,
}

/// One design in one case.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    design: Design,
    case: &'static str,
    cpus: u32,
    nodes: u32,
    threads: u32,
    per_s: Spread,
    ns: Nanoseconds,
    ratio: Spread,
    pub(super) broken: u64,
}

#[derive(Debug, Serialize)]
struct Nanoseconds {
    p50: Spread,
    p99: Spread,
}

impl Row {
    /// `None` when nothing was measured.
    pub(super) fn new(cell: &Cell, at: usize, runs: &[[Measured; 2]]) -> Option<Row> {
        let spread = |of: &dyn Fn(&[Measured; 2]) -> f64| {
            let values: Vec<f64> = runs.iter().map(of).collect();
            Spread::of(&values)
        };
        Some(Row {
            design: Design::ALL[at],
            case: if cell.threads == 0 { "idle" } else { "queue+flush" },
            cpus: cell.cpus,
            nodes: cell.nodes,
            threads: cell.threads.max(1),
            per_s: spread(&|run| run[at].per_s)?,
            ns: Nanoseconds { p50: spread(&|run| run[at].p50_ns)?, p99: spread(&|run| run[at].p99_ns)? },
            ratio: spread(&|run| run[at].per_s / run[0].per_s.max(1e-9))?,
            broken: runs.iter().map(|run| run[at].broken).sum(),
        })
    }
}

impl Document {
    pub(super) fn new(machine: Machine, rows: Vec<Row>, failed: Vec<String>) -> Document {
        Document { schema: SCHEMA, machine, rows, failed }
    }

    /// For people.
    pub(super) fn table(&self) -> String {
        let mut text = self.machine.headline();
        _ = writeln!(
            text,
            "\n{:<12}{:>6}{:>6}{:>8}  {:<7}{:>12}{:>12}{:>12}  to walk (min..max)",
            "case", "cpus", "nodes", "threads", "design", "per s", "p50 ns", "p99 ns"
        );
        for row in &self.rows {
            let Spread { median, min, max } = row.ratio;
            _ = writeln!(
                text,
                "{:<12}{:>6}{:>6}{:>8}  {:<7}{:>12.0}{:>12.1}{:>12.1}  {median:.2} ({min:.2}..{max:.2})",
                row.case,
                row.cpus,
                row.nodes,
                row.threads,
                row.design.name(),
                row.per_s.median,
                row.ns.p50.median,
                row.ns.p99.median,
            );
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_taken_process_by_process_and_broken_flushes_add_up() {
        let run = |per_s, broken| Measured { per_s, p50_ns: 1.0, p99_ns: 2.0, broken };
        let runs = [[run(10.0, 0), run(40.0, 1)], [run(100.0, 0), run(200.0, 2)]];
        let cell = Cell { cpus: 8, nodes: 2, threads: 0, turn_ms: 1 };
        let row = Row::new(&cell, 1, &runs).unwrap();
        assert_eq!(row.ratio, Spread { median: 3.0, min: 2.0, max: 4.0 });
        assert_eq!((row.broken, row.case, row.threads), (3, "idle", 1));
        assert!(Row::new(&cell, 0, &[]).is_none());
    }
}
