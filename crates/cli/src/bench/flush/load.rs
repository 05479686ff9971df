//! How long a flush takes while others submit without pause.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cmwq::{Queue, Submit, Work};

use super::cell::{Cell, Measured};
use super::subject;
use super::turns::{Turn, summarize};
use crate::bench::figures::median;
use crate::output::Failure;

/// Items of each submitter, queued again as soon as they have run.
const ITEMS: usize = 32;
/// What one takes, so that there is always something to drain.
const ITEM_TIME: Duration = Duration::from_micros(2);
const FLUSHES: usize = 200;
/// Turns' worth of time at most.
const TURNS: u32 = 30;

struct Load {
    works: Vec<Work>,
    runs: Arc<Vec<AtomicU64>>,
}

impl Load {
    fn new() -> Load {
        let runs: Arc<Vec<AtomicU64>> = Arc::new((0..ITEMS).map(|_| AtomicU64::new(0)).collect());
        let work = |n: usize| {
            let runs = Arc::clone(&runs);
            Work::new(move |_| {
                let until = Instant::now() + ITEM_TIME;
                while Instant::now() < until {
                    std::hint::spin_loop();
                }
                // Ordering: release pairs with the look after a flush.
                runs[n].fetch_add(1, Ordering::Release);
            })
        };
        Load { works: (0..ITEMS).map(work).collect(), runs }
    }

    /// Queues all that are not pending; answers how many those were.
    fn submit(&self, queue: &Queue, cpu: u32) -> usize {
        let is_queued = |work: &&Work| queue.queue_on(cpu, work) == Submit::Queued;
        self.works.iter().filter(is_queued).count()
    }

    fn runs(&self) -> Vec<u64> {
        // Ordering: acquire pairs with the item's release.
        self.runs.iter().map(|runs| runs.load(Ordering::Acquire)).collect()
    }
}

/// `per_s` holds the flushes a second, `beside_ns` how long a flush of as much takes when nobody submits.
pub(super) fn measure(cell: &Cell) -> Result<Measured, Failure> {
    let queue = subject::queue(cell)?;
    let loads: Vec<Load> = (0..cell.threads).map(|_| Load::new()).collect();
    let own = Load::new();
    let cpu = |n: usize| n as u32 * cell.cpus / cell.threads;
    let limit = Duration::from_millis(cell.turn_ms) * TURNS;
    let drains = drain(&queue, &loads, &own, cpu, Instant::now() + limit)?;
    let stop = AtomicBool::new(false);
    let (mut turn, begun) = (Turn::default(), Instant::now());
    let flushed = std::thread::scope(|scope| {
        for (n, load) in loads.iter().enumerate() {
            let (queue, stop) = (&queue, &stop);
            scope.spawn(move || {
                // Ordering: relaxed: a flag, ordering nothing.
                while !stop.load(Ordering::Relaxed) {
                    load.submit(queue, cpu(n));
                }
            });
        }
        let flushed = flushes(&queue, &own, &mut turn, begun + limit);
        // Ordering: relaxed: as above.
        stop.store(true, Ordering::Relaxed);
        flushed
    });
    let count = flushed?;
    let mut found = Measured {
        per_s: vec![f64::from(count) / begun.elapsed().as_secs_f64()],
        beside_ns: Some(median(&drains)),
        ..Measured::default()
    };
    summarize(&mut found, &turn);
    queue.flush().map_err(Failure::input)?;
    Ok(found)
}

/// Everything is queued, then flushed.
fn drain(
    queue: &Queue,
    loads: &[Load],
    own: &Load,
    cpu: impl Fn(usize) -> u32,
    until: Instant,
) -> Result<Vec<f64>, Failure> {
    let mut drains = Vec::new();
    while drains.len() < FLUSHES / 4 && (drains.is_empty() || Instant::now() < until) {
        for (n, load) in loads.iter().enumerate() {
            load.submit(queue, cpu(n));
        }
        own.submit(queue, 0);
        let begun = Instant::now();
        queue.flush().map_err(Failure::input)?;
        drains.push(begun.elapsed().as_nanos() as f64);
    }
    Ok(drains)
}

/// Each flush owes the flusher's own items, which it has just queued, and what the others have queued before.
fn flushes(queue: &Queue, own: &Load, turn: &mut Turn, until: Instant) -> Result<u32, Failure> {
    let mut count = 0;
    while (count as usize) < FLUSHES && (count == 0 || Instant::now() < until) {
        let (before, queued) = (own.runs(), own.submit(queue, 0) as u64);
        let begun = Instant::now();
        queue.flush().map_err(Failure::input)?;
        turn.sample(begun.elapsed(), 1);
        let after = own.runs();
        let ran: u64 = after.iter().zip(&before).map(|(after, before)| after - before).sum();
        turn.broken += u64::from(ran < queued);
        count += 1;
        // Where there are fewer CPUs than threads that spin, they have to get going again.
        std::thread::sleep(Duration::from_micros(200));
    }
    Ok(count)
}
