//! The JSON document of `cmwq bench queue`, which the table is drawn from, too.

use serde::Serialize;

use super::Runs;
use super::cell::{Cell, Figures, Measured, Mode, Policy, Shape};
use super::plan::{Plan, RowPlan};
use crate::bench::figures::{Spread, least, median, most};
use crate::bench::judge::Verdict;
use crate::bench::machine::Machine;

/// Changes whenever a reader of older documents would go wrong.
const SCHEMA: &str = "cmwq-bench-queue/1";

/// The form of the document, for the help text.
pub(super) const DOCUMENT_FORM: &str = "\
Each row is measured in several fresh processes; rows of one group take turns. A figure is the median
of them, beside the least and the most. Producers are bound round-robin to the CPUs. In a round a
producer makes its item anew, queues it (submit) and waits until its function has signalled
(round trip); the signal comes before the function returns. CPU time, wake-ups and context switches
are those of the whole process, divided by items.

The JSON document holds
  schema   \"cmwq-bench-queue/1\"
  machine  processor, kernel, CPUs, the round trip of a cache line between two of them, and the
           pods of each scope
  rows     scope, same_pods_as (the scope whose figures these are, or null), shape (under-lock,
           deferred, inbox; condvar; hand-over: one word that one thread looks at), mode (one,
           batch), policy (spin: the engine's own waits; park: every thread sleeps at once),
           cover, claim, producers, workers_max (or null), items_per_s, submit_ns and
           round_trip_ns (percentiles; the latter null for a batch), cpu_s_per_million,
           wakes_per_item, switches_per_item; min and max with the same figures;
           to_under_lock (ratios of runs side by side, at the same distance of the CPUs:
           items_per_s, submit_p95); and runs, each with the round trips of a cache line right before
           and after it (line_round_trip_ns)
  failed   cells that could not be measured
  judged   figures, bounds and whether they hold, with --judge";

/// What is written, in this order.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    schema: &'static str,
    pub(super) machine: Machine,
    runs: usize,
    /// How long each cell runs at most, or null.
    pub(super) time_ms: Option<u64>,
    pub(super) rows: Vec<Row>,
    pub(super) failed: Vec<String>,
    judged: &'a [Verdict],
}

/// One row.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    pub(super) scope: String,
    pub(super) same_pods_as: Option<String>,
    #[serde(skip)]
    pub(super) pods: usize,
    #[serde(skip)]
    pub(super) is_unshared: bool,
    /// Whether its group holds the shape that the others are compared with.
    #[serde(skip)]
    pub(super) is_compared: bool,
    pub(super) shape: Shape,
    pub(super) mode: Mode,
    pub(super) policy: Policy,
    pub(super) cover: Option<String>,
    pub(super) claim: Option<String>,
    pub(super) producers: u32,
    pub(super) workers_max: Option<u32>,
    /// Medians.
    #[serde(flatten)]
    pub(super) figures: Figures,
    pub(super) min: Figures,
    pub(super) max: Figures,
    pub(super) to_under_lock: Option<Ratios>,
    /// In order; `null` where a run failed.
    pub(super) runs: Vec<Option<Measured>>,
}

/// This row's runs over another's, side by side.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Ratios {
    pub(super) items_per_s: Spread,
    pub(super) submit_p95: Spread,
}

impl<'a> Document<'a> {
    pub(super) fn new(
        machine: Machine,
        plan: &Plan,
        rows: Vec<Row>,
        failed: Vec<String>,
        judged: &'a [Verdict],
    ) -> Document<'a> {
        let time_ms = plan.rows.first().and_then(|row| row.cell.time_ms);
        Document { schema: SCHEMA, machine, runs: plan.runs, time_ms, rows, failed, judged }
    }
}

/// Every row that was measured, then, after those of its group, a copy for each scope with the same pods.
pub(super) fn rows(plan: &Plan, runs: &Runs) -> Vec<Row> {
    let mut rows = Vec::new();
    let groups = plan.rows.chunk_by(|a, b| a.group == b.group);
    let mut first = 0;
    for group in groups {
        let runs = &runs[first..first + group.len()];
        first += group.len();
        let baseline = group.iter().position(|row| row.cell.shape == Shape::UnderLock);
        let baseline = baseline.map(|index| runs[index].as_slice());
        let measured: Vec<Row> =
            group.iter().zip(runs).filter_map(|(row, runs)| Row::new(row, runs, baseline)).collect();
        let scope = &group[0].cell.scope;
        let same =
            plan.scopes.iter().filter(|plan| plan.same_pods_as.is_some_and(|same| same.name() == scope));
        let copies: Vec<Row> = same
            .flat_map(|plan| {
                measured.iter().filter(|row| row.is_of_a_scope()).map(|row| row.copy(plan.scope.name()))
            })
            .collect();
        rows.extend(measured);
        rows.extend(copies);
    }
    rows
}

impl Row {
    fn new(row: &RowPlan, runs: &[Option<Measured>], baseline: Option<&[Option<Measured>]>) -> Option<Row> {
        let all: Vec<&Figures> = runs.iter().flatten().map(|measured| &measured.figures).collect();
        if all.is_empty() {
            return None;
        }
        let Cell { scope, shape, mode, policy, cover, claim, producers, workers, .. } = &row.cell;
        let is_engine = shape.is_of_engine();
        Some(Row {
            scope: scope.clone(),
            same_pods_as: None,
            pods: row.pods,
            is_unshared: row.is_unshared,
            is_compared: baseline.is_some(),
            shape: *shape,
            mode: *mode,
            policy: *policy,
            cover: is_engine.then(|| cover.to_string()),
            claim: is_engine.then(|| claim.clone()),
            producers: *producers,
            workers_max: *workers,
            figures: Figures::fold(&all, median),
            min: Figures::fold(&all, least),
            max: Figures::fold(&all, most),
            to_under_lock: baseline.and_then(|baseline| Ratios::of(runs, baseline)),
            runs: runs.to_vec(),
        })
    }

    /// What is not the engine has no scope, and the absolute figure needs only one.
    fn is_of_a_scope(&self) -> bool {
        self.shape.is_of_engine() && self.is_compared
    }

    /// A row of made-up runs.
    #[cfg(test)]
    pub(super) fn of_runs(scope: &str, producers: u32, figures: Figures, runs: Vec<Option<Measured>>) -> Row {
        Row {
            scope: scope.to_owned(),
            same_pods_as: None,
            pods: 1,
            is_unshared: false,
            is_compared: false,
            shape: Shape::Inbox,
            mode: Mode::One,
            policy: Policy::Spin,
            cover: None,
            claim: None,
            producers,
            workers_max: None,
            min: figures.clone(),
            max: figures.clone(),
            figures,
            to_under_lock: None,
            runs,
        }
    }

    fn copy(&self, scope: &str) -> Row {
        Row { scope: scope.to_owned(), same_pods_as: Some(self.scope.clone()), ..self.clone() }
    }
}

impl Ratios {
    /// `None` where no run has both, with the CPUs as far apart.
    pub(super) fn of(runs: &[Option<Measured>], baseline: &[Option<Measured>]) -> Option<Ratios> {
        let ratio = |of: fn(&Figures) -> f64| {
            let pairs = runs.iter().zip(baseline).filter_map(|(a, b)| Some((a.as_ref()?, b.as_ref()?)));
            let beside = pairs.filter(|(a, b)| a.is_beside(b));
            let ratios: Vec<f64> = beside.map(|(a, b)| of(&a.figures) / of(&b.figures).max(1e-9)).collect();
            Spread::of(&ratios)
        };
        Some(Ratios {
            items_per_s: ratio(|figures| figures.items_per_s)?,
            submit_p95: ratio(|figures| figures.submit_ns.p95)?,
        })
    }
}
