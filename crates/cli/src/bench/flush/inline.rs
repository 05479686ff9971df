//! Cases without workers.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::cell::{Case, Cell};
use super::subject::Subject;
use super::turns::Turn;
use crate::output::Failure;

/// Flushes, or submissions of one item, that are timed as one.
const BATCH: u32 = 100;
/// More than one core's own caches hold. What cores share holds it, and the flushed lines too.
const EVICTED_BYTES: usize = 4 << 20;

/// Items that a subject must have.
pub(super) fn items(cell: &Cell) -> usize {
    (cell.case.items(cell.cpus) * cell.threads).max(1) as usize
}

/// One turn of one design.
pub(super) fn turn(cell: &Cell, subject: &Subject, until: Instant) -> Result<Turn, Failure> {
    if !cell.case.has_threads() {
        return Ok(rounds(cell, subject, 0, until));
    }
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..cell.threads).map(|n| scope.spawn(move || rounds(cell, subject, n, until))).collect();
        threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
    });
    let mut whole = Turn::default();
    for result in results {
        whole.add(result.map_err(|_| Failure::missed("a thread panicked"))?);
    }
    Ok(whole)
}

fn rounds(cell: &Cell, subject: &Subject, thread: u32, until: Instant) -> Turn {
    let mut evicted = vec![0_u8; if cell.case == Case::QueueFlushCold { EVICTED_BYTES } else { 0 }];
    let mut turn = Turn::default();
    while Instant::now() < until {
        evicted.iter_mut().step_by(64).for_each(|byte| *byte = byte.wrapping_add(1));
        let runs = subject.runs(thread as usize);
        let begun = Instant::now();
        let count = round(cell, subject, thread, BATCH);
        turn.sample(begun.elapsed(), count);
        // The first item of the thread is owed by its last flush.
        let is_owed = !matches!(cell.case, Case::Idle | Case::Submission | Case::SubmissionBatch);
        turn.broken += u64::from(is_owed && subject.runs(thread as usize) == runs);
    }
    turn
}

/// Answers how many flushes, or submissions, it was: `batch` of those that are timed together.
pub(super) fn round(cell: &Cell, subject: &Subject, thread: u32, batch: u32) -> u32 {
    let (own, cpus) = (thread as usize, cell.cpus as usize);
    match cell.case {
        Case::Idle => (0..batch).for_each(|_| subject.flush()),
        Case::Submission => {
            for _ in 0..batch {
                subject.submit(0, 0);
                subject.run(0);
            }
        }
        Case::SubmissionBatch => {
            let items = cell.case.items(cell.cpus);
            (0..items as usize).for_each(|item| subject.submit(item, 0));
            subject.run(0);
            return items;
        }
        Case::DenseInside => {
            (0..cpus).for_each(|item| subject.submit(item, item));
            subject.flush_around(|| (0..cpus).for_each(|pwq| subject.run(pwq)));
            return 1;
        }
        Case::DenseBefore => {
            (0..cpus).for_each(|item| subject.submit(item, item));
            (0..cpus).for_each(|pwq| subject.run(pwq));
            subject.flush();
            return 1;
        }
        _ => {
            subject.submit(own, own % cpus);
            subject.run(own % cpus);
            subject.flush();
            return 1;
        }
    }
    batch
}

/// What an atomic load takes, by the same clock.
pub(super) fn load_ns() -> f64 {
    let word = AtomicU64::new(0);
    let time = || {
        let begun = Instant::now();
        for _ in 0..1_000 {
            // Ordering: acquire, as a flush's loads.
            black_box(black_box(&word).load(Ordering::Acquire));
        }
        begun.elapsed()
    };
    let least = (0..100).map(|_| time()).min().unwrap_or(Duration::ZERO);
    least.as_nanos() as f64 / 1_000.0
}
