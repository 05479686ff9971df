//! The JSON document of `cmwq bench ring`, which the table is drawn from, too.

use serde::Serialize;

use super::cell::{Cell, Figures, Measured, Mode, Shape};
use super::counted::Counts;
use crate::bench::figures::{Spread, least, lower_bound, median, most};
use crate::bench::judge::Verdict;
use crate::bench::machine::Machine;

/// Changes whenever a reader of older documents would go wrong.
const SCHEMA: &str = "cmwq-bench-ring/1";

/// The form of the document, for the help text.
pub(super) const DOCUMENT_FORM: &str = "\
Each row is measured in several fresh processes; the shapes at one number of producers and one need
take turns, and are measured again, a few times at most, when a virtual machine's CPUs had moved
meanwhile. A figure is the median of the runs, beside the least and the most. Producers are bound
round-robin to the CPUs, the receiver to the last one. All shapes have room for 16384 messages; a
producer that finds none yields. In the mode `alone` one thread posts 64 messages, takes them, and
again: what a post costs that nobody disturbs and nobody waits for. Beside it stand its atomic
read-modify-writes (RMW) and system calls, those of a message at the receiver, and those of a post
that wakes a sleeping receiver: counted instruction by instruction, in the process's own code.

The JSON document holds
  schema   \"cmwq-bench-ring/1\"
  machine  processor, kernel, CPUs, the round trip of a cache line between two of them
  rows     shape (ring, mutex, mutex-swap, crossbeam, msg-ring), mode (stream, alone), producers,
           need (posts are lazy if it is more than 1), messages_per_s, post_ns (mean if alone, else
           the median of samples), post_p99_ns, wakes_per_message and calls_per_post (system calls
           that posters make; null where they cannot be counted), cpu_s_per_million; counted
           (alone: rmw and calls of post, take and wake, or null); min and max with the same
           figures; messages_per_take (what the receiver finds at once); ring_over (the ring's
           messages_per_s over this row's, of runs side by side at the same distance of the CPUs,
           with what the median is not below, lower, and how many were compared; or null); and
           runs, each with the round trips of a cache line right before and after it
           (line_round_trip_ns)
  skipped  shapes that are not to be had here, and why
  failed   cells that could not be measured
  not_counted  why there are no counts, or null
  judged   figures, bounds and whether they hold, with --judge; what bounds those that do not (because)

With --rt the document is \"cmwq-bench-ring-rt/1\": machine, runs, skipped, failed and judged as above, and
  rows     rule, window_us (by how much low posters' step between taking on a wake-up and issuing it
           is stretched; not to be had of msg-ring), messages, late_100us, late_1ms, attributed (of
           the late ones: their posts issued no wake-up, and one low poster's post spans the delay),
           p999_us (median of the runs), max_us, lost
credit is the positive control: with the stretched window it must show more than 100 attributed.";

/// What is written, in this order.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    pub(super) schema: &'static str,
    pub(super) machine: Machine,
    pub(super) runs: usize,
    /// How long each cell runs at most, or null.
    pub(super) time_ms: Option<u64>,
    pub(super) rows: Vec<Row>,
    pub(super) skipped: Vec<String>,
    pub(super) failed: Vec<String>,
    pub(super) not_counted: Option<String>,
    pub(super) judged: &'a [Verdict],
}

impl<'a> Document<'a> {
    pub(super) const SCHEMA: &'static str = SCHEMA;

    pub(super) fn new(
        machine: Machine,
        outcome: Outcome,
        runs: usize,
        judged: &'a [Verdict],
    ) -> Document<'a> {
        let Outcome { rows, skipped, failed, not_counted, time_ms } = outcome;
        Document { schema: Self::SCHEMA, machine, runs, time_ms, rows, skipped, failed, not_counted, judged }
    }
}

/// What all runs came to.
pub(super) struct Outcome {
    pub(super) rows: Vec<Row>,
    pub(super) skipped: Vec<String>,
    pub(super) failed: Vec<String>,
    pub(super) not_counted: Option<String>,
    pub(super) time_ms: Option<u64>,
}

/// One row.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    pub(super) shape: Shape,
    pub(super) mode: Mode,
    pub(super) producers: u32,
    pub(super) need: u32,
    /// Medians.
    #[serde(flatten)]
    pub(super) figures: Figures,
    /// Of those alone.
    pub(super) counted: Option<Counts>,
    pub(super) min: Figures,
    pub(super) max: Figures,
    pub(super) ring_over: Option<Ratio>,
    /// In order; `null` where a run failed.
    pub(super) runs: Vec<Option<Measured>>,
}

/// The ring's throughput over another's, of runs with the CPUs equally far apart.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Ratio {
    #[serde(flatten)]
    pub(super) spread: Spread,
    /// What the median is not below.
    pub(super) lower: f64,
    /// How many runs could be compared.
    pub(super) compared: usize,
}

impl Ratio {
    fn of(ratios: &[f64]) -> Option<Ratio> {
        let spread = Spread::of(ratios)?;
        Some(Ratio { spread, lower: lower_bound(ratios), compared: ratios.len() })
    }
}

/// The rows of a group, of the runs of each of its cells.
pub(super) fn rows(cells: &[Cell], runs: &[Vec<Option<Measured>>]) -> Vec<Row> {
    let ring = cells.iter().position(|cell| cell.shape == Shape::Ring).map(|index| &runs[index]);
    cells.iter().zip(runs).filter_map(|(cell, runs)| Row::new(cell, runs, ring?)).collect()
}

impl Row {
    pub(super) fn new(cell: &Cell, runs: &[Option<Measured>], ring: &[Option<Measured>]) -> Option<Row> {
        let all: Vec<&Figures> = runs.iter().flatten().map(|measured| &measured.figures).collect();
        if all.is_empty() {
            return None;
        }
        let pairs = ring.iter().zip(runs).filter_map(|(ring, own)| Some((ring.as_ref()?, own.as_ref()?)));
        let beside = pairs.filter(|(ring, own)| ring.is_beside(own));
        let rate = |measured: &Measured| measured.figures.messages_per_s;
        let ratios: Vec<f64> = beside.map(|(ring, own)| rate(ring) / rate(own).max(1e-9)).collect();
        let is_compared = cell.shape != Shape::Ring && cell.mode == Mode::Stream;
        Some(Row {
            shape: cell.shape,
            mode: cell.mode,
            producers: cell.producers,
            need: cell.need,
            figures: Figures::fold(&all, median),
            counted: None,
            min: Figures::fold(&all, least),
            max: Figures::fold(&all, most),
            ring_over: Ratio::of(&ratios).filter(|_| is_compared),
            runs: runs.to_vec(),
        })
    }
}
