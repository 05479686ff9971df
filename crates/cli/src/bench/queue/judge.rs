//! What the figures should be.

use super::cell::{Mode, Policy, Shape};
use super::document::{Ratios, Row};
use super::plan::{FEW_WORKERS, FEW_WORKERS_PRODUCERS};
use crate::bench::figures::Spread;
use crate::bench::judge::{Bound, Verdict};

/// Ratios are judged with this many producers.
const PRODUCERS: u32 = 8;
/// Of the baseline to a plain mutex-and-condvar queue.
const BASELINE_LEAST: f64 = 0.9;
/// Of the inbox to the baseline where each CPU has a pool of its own.
const UNSHARED_LEAST: f64 = 0.98;
/// Items a second with few workers.
const FEW_WORKERS_LEAST: f64 = 3e6;

/// Of the inbox to the baseline where CPUs share a pool: throughput at least, p95 of submissions at most.
const fn shared_bounds(policy: Policy) -> (f64, f64) {
    match policy {
        Policy::Spin => (1.4, 0.58),
        Policy::Park => (0.95, 0.8),
    }
}

/// Judges the rows that there are, scopes with the same pods once.
pub(super) fn judge(rows: &[Row]) -> Vec<Verdict> {
    let rows: Vec<&Row> =
        rows.iter().filter(|row| row.same_pods_as.is_none() && row.mode == Mode::One).collect();
    let baselines = rows.iter().filter_map(|row| baseline(row, &rows));
    let ratios = rows.iter().filter(|row| row.shape == Shape::Inbox && row.producers == PRODUCERS);
    let ratios = ratios.flat_map(|row| to_under_lock(row));
    let absolute = rows.iter().filter(|row| is_absolute(row)).map(|row| absolute(row, &rows));
    baselines.chain(ratios).chain(absolute).collect()
}

/// The under-lock shape over the plain queue in the same runs, where one pool serves all CPUs.
fn baseline(plain: &Row, rows: &[&Row]) -> Option<Verdict> {
    let is_opposite = |row: &&&Row| {
        row.shape == Shape::UnderLock
            && row.pods == 1
            && (&row.scope, row.policy, row.producers) == (&plain.scope, plain.policy, plain.producers)
    };
    let under_lock = rows.iter().filter(|_| plain.shape == Shape::Condvar).find(is_opposite)?;
    let ratio = Ratios::of(&under_lock.runs, &plain.runs)?.items_per_s;
    let figure = format!("under-lock / condvar items/s, {}", place(plain));
    Some(Verdict::new(figure, ratio, Bound::AtLeast(BASELINE_LEAST)))
}

fn to_under_lock(row: &Row) -> Vec<Verdict> {
    let Some(Ratios { items_per_s, submit_p95 }) = row.to_under_lock.clone() else { return Vec::new() };
    let throughput = |least| {
        let figure = format!("inbox / under-lock items/s, {}", place(row));
        Verdict::new(figure, items_per_s, Bound::AtLeast(least))
    };
    if row.is_unshared {
        return vec![throughput(UNSHARED_LEAST)];
    }
    let (least, most) = shared_bounds(row.policy);
    let figure = format!("inbox / under-lock p95 of submit, {}", place(row));
    vec![throughput(least), Verdict::new(figure, submit_p95, Bound::AtMost(most))]
}

/// Beyond this machine is what a bare word does not reach that is handed to a spinning thread and back.
fn absolute(row: &Row, rows: &[&Row]) -> Verdict {
    let is_bare = |other: &&&Row| {
        let of = |row: &Row| (row.policy, row.producers, row.workers_max);
        other.shape == Shape::HandOver && of(other) == of(row)
    };
    let bare = rows.iter().find(is_bare).map(|bare| bare.figures.items_per_s);
    let beyond = bare.filter(|bare| *bare < FEW_WORKERS_LEAST);
    let beyond = beyond.map(|bare| format!("a bare word handed over and back makes {bare:.0}"));
    let figure = format!("items/s with {FEW_WORKERS} workers, {}", place(row));
    Verdict::new(figure, items_per_s(row), Bound::AtLeast(FEW_WORKERS_LEAST)).beyond(beyond)
}

fn is_absolute(row: &Row) -> bool {
    row.shape == Shape::Inbox
        && row.policy == Policy::Spin
        && row.pods == 1
        && row.workers_max == Some(FEW_WORKERS)
        && FEW_WORKERS_PRODUCERS.contains(&row.producers)
}

fn items_per_s(row: &Row) -> Spread {
    let of = |figures: &super::cell::Figures| figures.items_per_s;
    Spread { median: of(&row.figures), min: of(&row.min), max: of(&row.max) }
}

fn place(row: &Row) -> String {
    let noun = if row.producers == 1 { "producer" } else { "producers" };
    format!("{}, {}, {} {noun}", row.scope, row.policy.name(), row.producers)
}

#[cfg(test)]
mod tests;
