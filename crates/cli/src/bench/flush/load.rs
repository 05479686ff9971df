//! One row in one process: the designs take turns over one engine and its workers.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cmwq::{Engine, Queue, Submit, Topology, WaitPolicy, Work};
use serde::{Deserialize, Serialize};

use super::walk::Walk;
use crate::bench::figures::percentiles;
use crate::output::Failure;

/// Turns of each design.
const TURNS: u32 = 10;
/// Idle flushes timed as one.
const IDLE_BATCH: u32 = 100;

/// What flushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Design {
    Walk,
    Cmwq,
}

impl Design {
    pub(super) const ALL: [Design; 2] = [Design::Walk, Design::Cmwq];

    pub(super) fn name(self) -> &'static str {
        match self {
            Design::Walk => "walk",
            Design::Cmwq => "cmwq",
        }
    }
}

/// What is measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Cell {
    pub(super) cpus: u32,
    pub(super) nodes: u32,
    /// Threads that queue an item and flush; none: one thread flushes and nothing is queued.
    pub(super) threads: u32,
    /// Time of each turn.
    pub(super) turn_ms: u64,
}

/// What one process finds of one design.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Measured {
    pub(super) per_s: f64,
    pub(super) p50_ns: f64,
    pub(super) p99_ns: f64,
    /// Flushes that returned while an item they owed had not run.
    pub(super) broken: u64,
}

/// Measures every design, in the order of [`Design::ALL`].
pub(super) fn measure(cell: &Cell) -> Result<[Measured; 2], Failure> {
    let machine = format!("node:{}/core:{}", cell.nodes, cell.cpus / cell.nodes);
    let topology = Topology::synthetic(&machine).map_err(Failure::input)?;
    // The walk's flushers sleep at once: so do all others, or the figures would tell of spinning.
    let engine =
        Engine::builder().topology(topology).wait(WaitPolicy::Park).build().map_err(Failure::input)?;
    let queue = engine.queue("flushed").per_cpu().build().map_err(Failure::input)?;
    let pools: Vec<usize> = (0..cell.cpus as usize).collect();
    let walk = Arc::new(Walk::new(&pools));
    let mut samples = [Vec::new(), Vec::new()];
    let mut found = [Measured::default(); 2];
    let mut spent = [Duration::ZERO; 2];
    for _ in 0..TURNS {
        for (at, design) in Design::ALL.into_iter().enumerate() {
            let begun = Instant::now();
            let until = begun + Duration::from_millis(cell.turn_ms);
            if cell.threads == 0 {
                idle(design, &queue, &walk, until, &mut samples[at])?;
            } else {
                found[at].broken += threads(cell, design, &queue, &walk, until, &mut samples[at])?;
            }
            spent[at] += begun.elapsed();
        }
    }
    let batch = if cell.threads == 0 { IDLE_BATCH } else { 1 };
    for ((found, samples), spent) in found.iter_mut().zip(&mut samples).zip(spent) {
        found.per_s = samples.len() as f64 * f64::from(batch) / spent.as_secs_f64();
        let [p50, p99] = percentiles(samples, [50, 99]);
        found.p50_ns = f64::from(p50) / f64::from(batch);
        found.p99_ns = f64::from(p99) / f64::from(batch);
    }
    Ok(found)
}

fn flush(design: Design, queue: &Queue, walk: &Walk) -> Result<(), Failure> {
    match design {
        Design::Walk => walk.flush(),
        Design::Cmwq => queue.flush().map_err(Failure::input)?,
    }
    Ok(())
}

fn nanoseconds(begun: Instant) -> u32 {
    u32::try_from(begun.elapsed().as_nanos()).unwrap_or(u32::MAX)
}

fn idle(
    design: Design,
    queue: &Queue,
    walk: &Walk,
    until: Instant,
    samples: &mut Vec<u32>,
) -> Result<(), Failure> {
    while Instant::now() < until {
        let begun = Instant::now();
        for _ in 0..IDLE_BATCH {
            flush(design, queue, walk)?;
        }
        samples.push(nanoseconds(begun));
    }
    Ok(())
}

/// Answers how many flushes returned too early.
fn threads(
    cell: &Cell,
    design: Design,
    queue: &Queue,
    walk: &Arc<Walk>,
    until: Instant,
    samples: &mut Vec<u32>,
) -> Result<u64, Failure> {
    let results: Vec<_> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..cell.threads)
            .map(|n| scope.spawn(move || rounds((n % cell.cpus) as usize, design, queue, walk, until)))
            .collect();
        running.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
    });
    let mut broken = 0;
    for result in results {
        let (found, early) = result.map_err(|_| Failure::missed("a thread panicked"))??;
        samples.extend(found);
        broken += early;
    }
    Ok(broken)
}

/// Queues an item, flushes, looks whether the item has run; again and again.
fn rounds(
    pwq: usize,
    design: Design,
    queue: &Queue,
    walk: &Arc<Walk>,
    until: Instant,
) -> Result<(Vec<u32>, u64), Failure> {
    let (ran, colour) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicUsize::new(0)));
    let (counted, painted, own) = (Arc::clone(&ran), Arc::clone(&colour), Arc::clone(walk));
    let work = Work::new(move |_| {
        // Ordering: relaxed: the flush that owes the item orders it before the look.
        counted.fetch_add(1, Ordering::Relaxed);
        if design == Design::Walk {
            // Ordering: relaxed: stored before the item was queued, which orders it.
            own.finish(pwq, painted.load(Ordering::Relaxed));
        }
    });
    let (mut samples, mut queued, mut broken) = (Vec::new(), 0, 0);
    while Instant::now() < until {
        let begun = Instant::now();
        if design == Design::Walk {
            // Ordering: relaxed: queueing the item orders it before the item's load.
            colour.store(walk.submit(pwq), Ordering::Relaxed);
        }
        match queue.queue(&work) {
            Submit::Queued => queued += 1,
            other => return Err(Failure::missed(format!("an idle item was not queued: {other:?}"))),
        }
        flush(design, queue, walk)?;
        // Ordering: relaxed: as above.
        if ran.load(Ordering::Relaxed) < queued {
            broken += 1;
            // The next round needs an idle item.
            work.flush().map_err(Failure::input)?;
        }
        samples.push(nanoseconds(begun));
    }
    // The function of the last item may not have returned yet.
    queue.flush().map_err(Failure::input)?;
    Ok((samples, broken))
}
