//! One row in one process: rounds of a few items with gaps about as long as the time-out.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cmwq::{CoverPolicy, Engine, PoolStats, Queue, Scope};
use cmwq_check::kick::Variant;
use serde::{Deserialize, Serialize};

use super::delays::Delays;
use super::design;
use crate::output::Failure;

/// Threads that submit in a round, one item each.
const SUBMITTERS: u32 = 3;
/// Bytes of a recording, so that a find is a matter of some thousand steps.
const RECORDED: usize = 4 << 20;
/// Nobody is stopped any more and an item still waits: after so long nothing will come.
const NOTHING_COMES: Duration = Duration::from_millis(60);
const LOOK: Duration = Duration::from_micros(200);

/// What is driven.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Cell {
    pub(super) variant: String,
    pub(super) floor: u32,
    pub(super) timeout: Duration,
    pub(super) items: u32,
    pub(super) seed: u64,
    /// Where the recording goes, and whether it does when nothing is found.
    pub(super) record: PathBuf,
    pub(super) always: bool,
}

impl Cell {
    /// How long a stopped thread is: the time-out passes meanwhile, whenever the worker was picked.
    pub(super) fn delay(&self) -> Duration {
        self.timeout * 2 + Duration::from_millis(1)
    }
}

/// What one process finds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Measured {
    pub(super) items: u32,
    /// Items for which nobody came, until something else was submitted.
    pub(super) stranded: u32,
    /// Items that waited, their submission having returned, while all that would wake a worker was stopped, and a
    /// worker slept.
    pub(super) held: u32,
    /// From the return of the submission to the begin.
    pub(super) held_ms_longest: f64,
    pub(super) wait_ms_longest: f64,
    pub(super) culled: u64,
    /// Where the recording is, and what it is of: `stranded`, `held` or `nothing`.
    pub(super) recording: Option<(PathBuf, String)>,
}

/// Drives it.
pub(super) fn measure(cell: &Cell) -> Result<Measured, Failure> {
    let variant = Variant::parse(&cell.variant).ok_or_else(|| Failure::input("an unknown variant"))?;
    let design = design::of(variant).map_err(Failure::input)?;
    let after_lock = design.holds_back;
    let delays = Arc::new(Delays::new(cell.delay(), after_lock, cell.seed));
    let hook = Arc::clone(&delays);
    let engine = Engine::builder()
        .shape(design.shape)
        .claim(design.claim)
        .help_wakeups(design.own)
        .cover(CoverPolicy::Eager)
        .idle_timeout(cell.timeout)
        .idle_floor(cell.floor)
        .record(RECORDED)
        .on_step(move |at| hook.at(at))
        .build()
        .map_err(Failure::input)?;
    let queue = engine.queue("cull").scope(Scope::System).build().map_err(Failure::input)?;
    let mut driver = Driver { cell, engine, queue, delays, found: Measured::default() };
    while driver.found.items < cell.items {
        driver.round()?;
    }
    driver.found.culled = driver.pool().exited;
    if cell.always && driver.found.recording.is_none() {
        driver.keep("nothing")?;
    }
    Ok(driver.found)
}

struct Driver<'a> {
    cell: &'a Cell,
    engine: Engine,
    queue: Queue,
    delays: Arc<Delays>,
    found: Measured,
}

/// An item on its way.
#[derive(Default)]
struct Item {
    returned: Mutex<Option<Instant>>,
    begun: Mutex<Option<Instant>>,
    held: AtomicBool,
}

fn read(time: &Mutex<Option<Instant>>) -> Option<Instant> {
    *time.lock().unwrap_or_else(PoisonError::into_inner)
}

fn write(time: &Mutex<Option<Instant>>) {
    *time.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
}

impl Driver<'_> {
    fn pool(&self) -> PoolStats {
        let mut stats = self.engine.stats();
        stats.pools.pop().expect("the queue has a pool")
    }

    /// Every submitter queues an item at its time; then all of them are waited for.
    fn round(&mut self) -> Result<(), Failure> {
        let items: Vec<Arc<Item>> = (0..SUBMITTERS).map(|_| Arc::default()).collect();
        self.found.items += SUBMITTERS;
        self.pause(2 * self.cell.timeout);
        let stranded = std::thread::scope(|threads| {
            for item in &items {
                let gap = self.gap(self.cell.timeout);
                let queue = self.queue.clone();
                threads.spawn(move || {
                    std::thread::sleep(gap);
                    submit(&queue, item);
                });
            }
            self.wait(&items)
        })?;
        if stranded {
            self.keep("stranded")?;
            // Whoever submits next finds nobody and calls for a worker.
            submit(&self.queue, &Arc::default());
            self.wait(&items)?;
        }
        for item in &items {
            let waited = match (read(&item.returned), read(&item.begun)) {
                (Some(returned), Some(begun)) => {
                    begun.saturating_duration_since(returned).as_secs_f64() * 1e3
                }
                _ => 0.0,
            };
            self.found.wait_ms_longest = self.found.wait_ms_longest.max(waited);
            // Ordering: relaxed: written by this thread.
            if item.held.load(Ordering::Relaxed) {
                self.found.held += 1;
                self.found.held_ms_longest = self.found.held_ms_longest.max(waited);
            }
        }
        Ok(())
    }

    fn gap(&self, most: Duration) -> Duration {
        most.mul_f64((self.delays.random() % 1000) as f64 / 1000.0)
    }

    fn pause(&self, most: Duration) {
        std::thread::sleep(self.gap(most));
    }

    /// Looks on until every item has begun. `true`: for some of them nobody comes.
    fn wait(&mut self, items: &[Arc<Item>]) -> Result<bool, Failure> {
        let mut quiet_since = Instant::now();
        loop {
            let waiting: Vec<&Arc<Item>> = items.iter().filter(|item| read(&item.begun).is_none()).collect();
            if waiting.is_empty() {
                return Ok(false);
            }
            let submitting = items.iter().any(|item| read(&item.returned).is_none());
            if submitting || self.delays.anybody() {
                quiet_since = Instant::now();
            }
            if quiet_since.elapsed() > NOTHING_COMES && self.pool().active == 0 {
                self.found.stranded += waiting.len() as u32;
                return Ok(true);
            }
            self.note_held(&waiting)?;
            std::thread::sleep(LOOK);
        }
    }

    /// An item that has waited for half of a stop, while only wakers are stopped and a worker sleeps.
    fn note_held(&mut self, waiting: &[&Arc<Item>]) -> Result<(), Failure> {
        let waits =
            |item: &Arc<Item>| read(&item.returned).is_some_and(|at| at.elapsed() * 2 > self.cell.delay());
        // Ordering: relaxed: written by this thread.
        let mut new =
            waiting.iter().filter(|item| !item.held.load(Ordering::Relaxed) && waits(item)).peekable();
        if new.peek().is_none() || !self.delays.only_wakers() {
            return Ok(());
        }
        let pool = self.pool();
        if pool.workers <= pool.active {
            return Ok(());
        }
        // Ordering: relaxed, as above.
        new.for_each(|item| item.held.store(true, Ordering::Relaxed));
        if self.found.recording.is_none() { self.keep("held") } else { Ok(()) }
    }

    /// Keeps the recording so far; one of a stranded item takes the place of another.
    fn keep(&mut self, what: &str) -> Result<(), Failure> {
        if self.found.recording.as_ref().is_some_and(|(_, kept)| kept == "stranded") {
            return Ok(());
        }
        let file = self.engine.recording().expect("the engine records");
        write_file(&self.cell.record, &file)?;
        self.found.recording = Some((self.cell.record.clone(), what.to_owned()));
        Ok(())
    }
}

fn submit(queue: &Queue, item: &Arc<Item>) {
    let here = Arc::clone(item);
    drop(queue.spawn(move || write(&here.begun)));
    write(&item.returned);
}

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    std::fs::write(path, bytes).map_err(|error| {
        Failure::input(format!(
            "--record {}: {error}; name a file in a directory that can be written",
            path.display()
        ))
    })
}
