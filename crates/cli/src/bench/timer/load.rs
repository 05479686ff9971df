//! One row in one process.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use cmwq::{Engine, Queue, Submit, Work};
use serde::{Deserialize, Serialize};

use crate::bench::figures::percentiles;
use crate::output::Failure;

/// Items whose calls are timed.
const PROBES: usize = 1_000;
/// Turns in which lateness is measured, of the items and of a bare thread; how many in each, and over which time.
const TURNS: usize = 5;
const LATE: usize = 200;
const LATE_OVER: Duration = Duration::from_millis(60);
/// All of them are at least so long ahead.
const LATE_AFTER: Duration = Duration::from_millis(1);
/// An hour, and up to half a day more.
const FAR: Duration = Duration::from_secs(3_600);
const FAR_SPREAD_S: u64 = 40_000;

/// What is measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Cell {
    pub(super) armed: u32,
    /// Calls of each kind.
    pub(super) items: u32,
}

/// What one process finds. Nanoseconds a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Measured {
    /// Arming one of a thousand items that are used again and again.
    pub(super) arm_ns: f64,
    /// Changing the time of one of them.
    pub(super) modify_ns: f64,
    /// Cancelling one of them.
    pub(super) cancel_ns: f64,
    /// Changing the time of any armed item, which is mostly in no cache.
    pub(super) modify_any_ns: f64,
    pub(super) late_p50_us: f64,
    pub(super) late_p99_us: f64,
    pub(super) late_max_us: f64,
    /// Of a thread that sleeps until each of as many times, and does nothing else.
    pub(super) bare_late_p99_us: f64,
}

/// Measures it.
pub(super) fn measure(cell: &Cell) -> Result<Measured, Failure> {
    let engine = Engine::new().map_err(Failure::input)?;
    let queue = engine.queue("timers").build().map_err(Failure::input)?;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let others: Vec<Work> = (0..cell.armed).map(|_| Work::new(|_| ())).collect();
    for work in &others {
        arm(&queue, work, random.far())?;
    }
    let probes: Vec<Work> = (0..PROBES).map(|_| Work::new(|_| ())).collect();
    let [arm_ns, modify_ns, cancel_ns] = calls(cell, &queue, &probes, &mut random)?;
    let begun = Instant::now();
    for _ in 0..cell.items {
        let any = &others[random.below(others.len() as u64) as usize];
        modify(&queue, any, random.far())?;
    }
    let modify_any_ns = begun.elapsed().as_nanos() as f64 / f64::from(cell.items);
    let (mut late, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        lateness(&queue, &mut random, &mut late)?;
        bare_lateness(&mut random, &mut bare);
    }
    let [p50, p99, max] = percentiles(&mut late, [50, 99, 100]);
    let [bare_p99] = percentiles(&mut bare, [99]);
    let us = |ns: u32| f64::from(ns) / 1e3;
    let found = Measured {
        arm_ns,
        modify_ns,
        cancel_ns,
        modify_any_ns,
        late_p50_us: us(p50),
        late_p99_us: us(p99),
        late_max_us: us(max),
        bare_late_p99_us: us(bare_p99),
    };
    for work in &others {
        if !work.cancel() {
            return Err(Failure::missed("an item ran long before its time"));
        }
    }
    Ok(found)
}

fn arm(queue: &Queue, work: &Work, delay: Duration) -> Result<(), Failure> {
    match queue.queue_delayed(work, delay) {
        Submit::Queued => Ok(()),
        other => Err(Failure::missed(format!("an idle item was not armed: {other:?}"))),
    }
}

fn modify(queue: &Queue, work: &Work, delay: Duration) -> Result<(), Failure> {
    match queue.mod_delayed(work, delay) {
        Ok(true) => Ok(()),
        other => Err(Failure::missed(format!("an armed item was not found: {other:?}"))),
    }
}

/// Rounds of arming all probes, changing all, cancelling all; each kind is timed by itself.
fn calls(cell: &Cell, queue: &Queue, probes: &[Work], random: &mut Random) -> Result<[f64; 3], Failure> {
    let rounds = (cell.items as usize).div_ceil(PROBES);
    let mut times = [Duration::ZERO; 3];
    for _ in 0..rounds {
        let begun = Instant::now();
        for work in probes {
            arm(queue, work, random.far())?;
        }
        let armed = Instant::now();
        for work in probes {
            modify(queue, work, random.far())?;
        }
        let modified = Instant::now();
        if !probes.iter().all(Work::cancel) {
            return Err(Failure::missed("an armed item was not cancelled"));
        }
        times[0] += armed - begun;
        times[1] += modified - armed;
        times[2] += modified.elapsed();
    }
    Ok(times.map(|time| time.as_nanos() as f64 / (rounds * PROBES) as f64))
}

/// How late a thread is up that sleeps until one time after another: what the system itself gives.
fn bare_lateness(random: &mut Random, samples: &mut Vec<u32>) {
    let origin = Instant::now() + LATE_AFTER;
    let mut due: Vec<u64> = (0..LATE).map(|_| random.below(LATE_OVER.as_nanos() as u64)).collect();
    due.sort_unstable();
    for at in due.into_iter().map(|at| origin + Duration::from_nanos(at)) {
        std::thread::sleep(at.saturating_duration_since(Instant::now()));
        samples.push(u32::try_from(at.elapsed().as_nanos()).unwrap_or(u32::MAX));
    }
}

/// From the time an item was to be queued to the begin of its function.
fn lateness(queue: &Queue, random: &mut Random, samples: &mut Vec<u32>) -> Result<(), Failure> {
    let origin = Instant::now();
    let late: Arc<Vec<AtomicU64>> = Arc::new((0..LATE).map(|_| AtomicU64::new(u64::MAX)).collect());
    let due: Arc<Vec<OnceLock<Instant>>> = Arc::new((0..LATE).map(|_| OnceLock::new()).collect());
    let works: Vec<Work> = (0..LATE)
        .map(|n| {
            let (late, due) = (Arc::clone(&late), Arc::clone(&due));
            Work::new(move |_| {
                let at = due[n].get().expect("set before the item is armed");
                let by = Instant::now().checked_duration_since(*at);
                // Ordering: relaxed: read after a flush of the item.
                late[n].store(by.map_or(u64::MAX - 1, |by| by.as_nanos() as u64), Ordering::Relaxed);
            })
        })
        .collect();
    for (n, work) in works.iter().enumerate() {
        let delay = LATE_AFTER + Duration::from_nanos(random.below(LATE_OVER.as_nanos() as u64));
        due[n].get_or_init(|| Instant::now() + delay);
        arm(queue, work, delay)?;
    }
    let left = (origin + LATE_OVER * 2).saturating_duration_since(Instant::now());
    std::thread::sleep(left);
    for work in &works {
        // A flush would queue what is still delayed: then it is shown as early.
        work.flush().map_err(|error| Failure::missed(format!("an item failed: {error}")))?;
    }
    for late in late.iter() {
        // Ordering: relaxed: as above.
        match late.load(Ordering::Relaxed) {
            u64::MAX => return Err(Failure::missed("an item did not run")),
            early if early == u64::MAX - 1 => return Err(Failure::missed("an item ran before its time")),
            ns => samples.push(u32::try_from(ns).unwrap_or(u32::MAX)),
        }
    }
    Ok(())
}

/// Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }

    /// A time long after the measurement, with all its bits at random.
    fn far(&mut self) -> Duration {
        FAR + Duration::from_nanos(self.below(FAR_SPREAD_S * 1_000_000_000))
    }
}
