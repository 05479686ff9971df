//! What the figures for 192 CPUs should be.

use super::cell::{Case, Design};
use super::document::{Ratio, Row};
use crate::bench::figures::Spread;
use crate::bench::judge::{Bound, Verdict};

/// The machine that is judged, and those an idle flush is compared with.
const CPUS: u32 = 192;
const OTHER_CPUS: [u32; 2] = [8, 1024];
/// An idle flush may take this much more than an atomic load, in nanoseconds.
const IDLE_OVER_LOAD_NS: f64 = 3.0;
/// Idle flushes to those of a walk that is no slower than so many nanoseconds a pwq.
const IDLE_TO_WALK: f64 = 105.0;
const WALK_PWQ_NS: f64 = 15.0;
/// How much more an idle flush may take than with fewer or more CPUs.
const IDLE_FLAT: f64 = 1.2;
const INLINE_TO_WALK: f64 = 3.7;
const WORKERS_TO_WALK: f64 = 1.3;
/// Where everything is active nothing may be lost: of the mean, and of the lower end of its confidence interval.
const DENSE_TO_WALK: f64 = 1.0;
const DENSE_TO_WALK_LOWER: f64 = 0.95;
const DENSE_TO_ACTIVE: f64 = 1.0;
/// Threads of the judged rows of `queue+flush` and its kind.
const THREADS: u32 = 16;
/// A flush while others submit may take this much longer than the draining of as much.
const LOAD_OVER_DRAIN_NS: f64 = 10e6;
/// Read-modify-writes that counting may add to an item of a batch.
const BATCH_RMW: f64 = 1.1;

/// Judges the rows that there are.
pub(super) fn judge(rows: &[Row]) -> Vec<Verdict> {
    let find = |case, cpus, design| {
        rows.iter().find(|row| {
            let threads = if row.case.has_threads() { THREADS } else { row.threads };
            (row.case, row.cpus, row.design, row.threads) == (case, cpus, design, threads)
        })
    };
    let cmwq = |case| find(case, CPUS, Design::Cmwq);
    let mut verdicts = Vec::new();
    if let (Some(idle), Some(walk)) = (cmwq(Case::Idle), find(Case::Idle, CPUS, Design::Walk)) {
        verdicts.extend(idle_verdicts(idle, walk));
        let others = OTHER_CPUS.into_iter().filter_map(|cpus| find(Case::Idle, cpus, Design::Cmwq));
        verdicts.extend(others.map(|other| flat(idle, other)));
    }
    if let Some(row) = cmwq(Case::QueueFlushInline) {
        verdicts.extend(to_walk(row, INLINE_TO_WALK));
    }
    if let Some(row) = cmwq(Case::QueueFlush) {
        verdicts.extend(to_walk(row, WORKERS_TO_WALK));
        verdicts.extend(to_active(row, DENSE_TO_ACTIVE));
    }
    for row in [Case::DenseInside, Case::DenseBefore, Case::DenseWorkers].into_iter().filter_map(cmwq) {
        verdicts.extend(to_walk(row, DENSE_TO_WALK));
        verdicts.extend(lower_to_walk(row));
        verdicts.extend(to_active(row, DENSE_TO_ACTIVE));
    }
    let batch = |design| find(Case::SubmissionBatch, CPUS, design)?.rmw_per_item;
    if let (Some(counted), Some(none)) = (batch(Design::Cmwq), batch(Design::None)) {
        let figure = "submission-batch, RMW an item that the counting adds".to_owned();
        verdicts.push(Verdict::new(figure, exactly(counted - none), Bound::AtMost(BATCH_RMW)));
    }
    verdicts.extend(cmwq(Case::UnderLoad).and_then(under_load));
    verdicts
}

fn exactly(value: f64) -> Spread {
    Spread { median: value, min: value, max: value }
}

fn scaled(spread: Spread, by: impl Fn(f64) -> f64) -> Spread {
    Spread { median: by(spread.median), min: by(spread.min), max: by(spread.max) }
}

fn idle_verdicts(idle: &Row, walk: &Row) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    if let Some(load) = idle.beside_ns {
        let over = scaled(idle.ns.p50, |ns| ns - load.median);
        let figure = "idle, ns more than an atomic load".to_owned();
        verdicts.push(Verdict::new(figure, over, Bound::AtMost(IDLE_OVER_LOAD_NS)));
    }
    let pwq = scaled(walk.ns.p50, |ns| ns / f64::from(CPUS));
    verdicts.push(Verdict::new("idle walk, ns a pwq".to_owned(), pwq, Bound::AtMost(WALK_PWQ_NS)));
    verdicts.extend(to_walk(idle, IDLE_TO_WALK));
    verdicts
}

fn flat(idle: &Row, other: &Row) -> Verdict {
    let figure = format!("idle, ns with {CPUS} CPUs / with {}", other.cpus);
    Verdict::new(figure, scaled(idle.ns.p50, |ns| ns / other.ns.p50.median), Bound::AtMost(IDLE_FLAT))
}

fn to_walk(row: &Row, least: f64) -> Option<Verdict> {
    let Ratio { spread, .. } = row.to_walk?;
    Some(Verdict::new(format!("{}, cmwq / walk", row.case.name()), spread, Bound::AtLeast(least)))
}

fn lower_to_walk(row: &Row) -> Option<Verdict> {
    let figure = format!("{}, cmwq / walk, lower confidence bound", row.case.name());
    Some(Verdict::new(figure, exactly(row.to_walk?.lower), Bound::AtLeast(DENSE_TO_WALK_LOWER)))
}

fn to_active(row: &Row, least: f64) -> Option<Verdict> {
    let Ratio { spread, .. } = row.to_active?;
    Some(Verdict::new(format!("{}, cmwq / active", row.case.name()), spread, Bound::AtLeast(least)))
}

fn under_load(row: &Row) -> Option<Verdict> {
    let drain = row.beside_ns?;
    let over = scaled(row.ns.p99, |ns| ns - drain.median);
    let figure = "under-load, p99 ns of a flush more than a drain".to_owned();
    Some(Verdict::new(figure, over, Bound::AtMost(LOAD_OVER_DRAIN_NS)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::flush::cell::{Cell, Measured};

    fn rows(case: Case, cpus: u32, rates: &[f64]) -> Vec<Row> {
        let threads = if case.has_threads() { THREADS } else { 1 };
        let cell = Cell { case, cpus, nodes: 2, threads, turn_ms: 1 };
        let measured = |&rate: &f64| Measured {
            per_s: vec![rate; 3],
            p50_ns: 1e9 / rate,
            p99_ns: 1e9 / rate,
            beside_ns: Some(0.5),
            ..Measured::default()
        };
        let runs = [rates.iter().map(measured).collect::<Vec<_>>()];
        (0..rates.len()).filter_map(|at| Row::new(&cell, at, &runs, Some(at as f64))).collect()
    }

    fn holds(rows: &[Row]) -> Vec<bool> {
        judge(rows).iter().map(|verdict| verdict.holds).collect()
    }

    #[test]
    fn an_idle_flush_is_judged_against_a_load_a_walk_and_other_machines() {
        // A walk of 10 ns a pwq.
        let walk = 1e9 / 1920.0;
        let mut idle = rows(Case::Idle, 192, &[walk, walk, 1e9 / 2.0]);
        assert_eq!(holds(&idle), [true; 3]);
        idle.extend(rows(Case::Idle, 8, &[walk, walk, 1e9 / 1.5]));
        assert_eq!(holds(&idle), [true, true, true, false], "2 ns to 1.5");
        assert_eq!(holds(&rows(Case::Idle, 192, &[1e9 / 4000.0, 1.0, 1e9 / 4.0])), [false, false, true]);
        assert!(judge(&rows(Case::Idle, 64, &[walk, walk, walk])).is_empty());
    }

    #[test]
    fn dense_flushes_may_lose_nothing() {
        assert_eq!(holds(&rows(Case::DenseInside, 192, &[1.0, 1.1, 1.2])), [true; 3]);
        assert_eq!(holds(&rows(Case::DenseBefore, 192, &[1.0, 0.9, 0.96])), [false, true, true]);
        assert_eq!(holds(&rows(Case::DenseWorkers, 192, &[1.0, 0.95, 0.94])), [false; 3]);
    }

    #[test]
    fn rows_of_other_numbers_of_threads_are_not_judged() {
        assert_eq!(holds(&rows(Case::QueueFlush, 192, &[1.0, 1.5, 1.4])), [true, false]);
        assert_eq!(holds(&rows(Case::QueueFlushInline, 192, &[1.0, 1.5, 3.6])), [false]);
        let mut few = rows(Case::QueueFlush, 192, &[1.0, 1.5, 1.4]);
        few.iter_mut().for_each(|row| row.threads = 1);
        assert!(judge(&few).is_empty());
    }

    #[test]
    fn a_batch_may_take_one_more_and_a_flush_under_load_ten_milliseconds() {
        assert_eq!(holds(&rows(Case::SubmissionBatch, 192, &[1.0, 1.0, 1.0, 1.0])), [true], "-1 more");
        assert_eq!(holds(&rows(Case::UnderLoad, 192, &[1e9 / 9e6])), [true]);
        assert_eq!(holds(&rows(Case::UnderLoad, 192, &[1e9 / 11e6])), [false]);
    }
}
