//! One row in one process: the designs take turns.

use std::time::{Duration, Instant};

use super::cell::{Case, Cell, Measured};
use super::subject::{self, Subject};
use super::workers::Worked;
use super::{inline, load};
use crate::bench::figures::percentiles;
use crate::output::Failure;

/// Turns of each design, and of one whose flushes take long beside what is to be told of them: shorter ones.
const TURNS: u32 = 10;
const DENSE_TURNS: u32 = 50;

/// What is found in one turn.
#[derive(Default)]
pub(super) struct Turn {
    /// Nanoseconds of each flush or submission.
    samples: Vec<f32>,
    count: u64,
    pub(super) broken: u64,
}

impl Turn {
    /// `count` of them have taken this time together.
    pub(super) fn sample(&mut self, time: Duration, count: u32) {
        self.samples.push(time.as_nanos() as f32 / count.max(1) as f32);
        self.count += u64::from(count);
    }

    /// Another thread's.
    pub(super) fn add(&mut self, other: Turn) {
        self.samples.extend(other.samples);
        self.count += other.count;
        self.broken += other.broken;
    }

    /// Of all threads, while they do nothing but what is sampled.
    fn per_s(&self, threads: u32) -> f64 {
        let ns: f64 = self.samples.iter().map(|&ns| f64::from(ns)).sum();
        let mean = ns / (self.samples.len() as f64).max(1.0);
        f64::from(threads) * 1e9 / mean.max(1e-9)
    }
}

/// Measures every design of the case, in its order.
pub(super) fn measure(cell: &Cell) -> Result<Vec<Measured>, Failure> {
    let designs = cell.case.designs();
    if cell.case == Case::UnderLoad {
        return Ok(vec![load::measure(cell)?]);
    }
    if cell.case.has_workers() {
        let queue = subject::queue(cell)?;
        let worked: Vec<Worked> = designs.iter().map(|&design| Worked::new(design, cell, &queue)).collect();
        return take_turns(cell, &worked, |worked, until| worked.turn(cell, until));
    }
    let subjects = designs.iter().map(|&design| Subject::new(design, cell, inline::items(cell)));
    let subjects = subjects.collect::<Result<Vec<_>, _>>()?;
    let mut found = take_turns(cell, &subjects, |subject, until| inline::turn(cell, subject, until))?;
    if cell.case == Case::Idle {
        let load_ns = inline::load_ns();
        found.iter_mut().for_each(|measured| measured.beside_ns = Some(load_ns));
    }
    Ok(found)
}

fn take_turns<T>(
    cell: &Cell,
    subjects: &[T],
    turn: impl Fn(&T, Instant) -> Result<Turn, Failure>,
) -> Result<Vec<Measured>, Failure> {
    let mut whole: Vec<Turn> = subjects.iter().map(|_| Turn::default()).collect();
    let mut found = vec![Measured::default(); subjects.len()];
    let turns = if cell.case == Case::DenseWorkers { DENSE_TURNS } else { TURNS };
    let turn_time = Duration::from_millis(cell.turn_ms) * TURNS / turns;
    for _ in 0..turns {
        for ((subject, found), whole) in subjects.iter().zip(&mut found).zip(&mut whole) {
            let until = Instant::now() + turn_time;
            let turn = turn(subject, until)?;
            found.per_s.push(turn.per_s(cell.threads));
            whole.add(turn);
        }
    }
    for (found, whole) in found.iter_mut().zip(&mut whole) {
        summarize(found, whole);
    }
    Ok(found)
}

pub(super) fn summarize(found: &mut Measured, whole: &Turn) {
    // Not negative, so that the bits are in the same order; a rate may need fractions of a nanosecond.
    let mut samples: Vec<u32> = whole.samples.iter().map(|ns| ns.to_bits()).collect();
    let [p50, p99, max] =
        percentiles(&mut samples, [50, 99, 100]).map(|bits| f64::from(f32::from_bits(bits)));
    (found.p50_ns, found.p99_ns, found.max_ns) = (p50, p99, max);
    found.broken = whole.broken;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_of_all_threads_and_times_of_each_flush() {
        let mut whole = Turn::default();
        whole.sample(Duration::from_nanos(1_000), 10);
        let mut other = Turn::default();
        other.sample(Duration::from_nanos(3_000), 10);
        other.broken = 2;
        whole.add(other);
        assert!((whole.per_s(2) - 1e7).abs() < 1.0);
        let mut found = Measured::default();
        summarize(&mut found, &whole);
        assert_eq!((found.p50_ns, found.max_ns, found.broken, whole.count), (300.0, 300.0, 2, 20));
    }
}
