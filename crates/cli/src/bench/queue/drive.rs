//! The measured part: producers that are released together, and what is counted meanwhile.

use std::num::NonZero;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use cmwq::WaitPolicy;
use cmwq::bench::Completion;
use cmwq_sys::cycles::{self, Calibration};
use cmwq_sys::topology::{CpuId, CpuSet};
use cmwq_sys::{affinity, clock, usage};

use super::cell::{Cell, Figures, Measured, Mode, RoundTrip, Submit};
use crate::bench::figures;
use crate::output::Failure;

/// One producer's way to queue.
pub(super) trait Load: Send {
    /// Queues one item, or a batch of up to `left`, and waits for it.
    fn step(&mut self, left: u64, samples: &mut Samples) -> Step;
}

/// What a step did.
pub(super) struct Step {
    /// Items that have run.
    pub(super) items: u64,
    /// The cycle counter at the end, if it was read.
    pub(super) end: Option<u64>,
}

/// What surrounds the measured part.
pub(super) struct Around<'a> {
    /// Waits until everything queued has run.
    pub(super) flush: &'a dyn Fn(),
    /// Wake-ups issued so far.
    pub(super) wakes: &'a dyn Fn() -> u64,
    /// Worker threads now.
    pub(super) workers: &'a dyn Fn() -> u32,
}

/// All producers together keep no more samples.
const SAMPLES_MAX: u64 = 1 << 22;
/// Of this many items one is measured: reading the counter three times takes half as long as a short round trip,
/// and would
/// hide differences between the shapes.
const MEASURED_EVERY: u64 = 8;
/// Before the measured part each producer queues this many items, or for this long.
const WARM_UP_ITEMS: u64 = 1000;
const WARM_UP_TIME: Duration = Duration::from_millis(20);
const STACK_BYTES: usize = 256 << 10;

/// Intervals by the cycle counter, every so many of them.
pub(super) struct Samples {
    submit: Vec<u32>,
    round_trip: Vec<u32>,
    every: NonZero<u64>,
    skip: u64,
}

impl Samples {
    /// With memory that has been touched.
    fn new(count: usize, every: NonZero<u64>, mode: Mode) -> Samples {
        let touched = |count| {
            let mut samples = vec![1; count];
            samples.clear();
            samples
        };
        let trips = if mode == Mode::One { count } else { 0 };
        Samples { submit: touched(count), round_trip: touched(trips), every, skip: 0 }
    }

    /// Whether the next item is to be measured.
    #[inline]
    pub(super) fn wants(&mut self) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.skip = self.every.get() - 1;
        true
    }

    /// Keeps what a measured item took.
    #[inline]
    pub(super) fn push(&mut self, submit: u64, round_trip: Option<u64>) {
        self.submit.push(saturated(submit));
        if let Some(round_trip) = round_trip {
            self.round_trip.push(saturated(round_trip));
        }
    }

    /// One round: makes the completion anew, submits, waits; measured if it is this round's turn.
    #[inline]
    pub(super) fn one(&mut self, done: &Completion, submit: impl FnOnce(), policy: WaitPolicy) -> Step {
        let measured = self.wants();
        let stamp = || if measured { cycles::now() } else { 0 };
        done.reinit();
        let start = stamp();
        submit();
        let submitted = stamp();
        done.wait(policy);
        let end = stamp();
        if measured {
            self.push(submitted.wrapping_sub(start), Some(end.wrapping_sub(start)));
        }
        Step { items: 1, end: measured.then_some(end) }
    }

    fn clear(&mut self) {
        self.submit.clear();
        self.round_trip.clear();
        self.skip = 0;
    }
}

fn saturated(interval: u64) -> u32 {
    u32::try_from(interval).unwrap_or(u32::MAX)
}

/// Holds the producers back until all are there.
#[derive(Default)]
struct Gate {
    state: Mutex<GateState>,
    changed: Condvar,
}

#[derive(Default)]
struct GateState {
    ready: usize,
    /// What the cycle counter shows when they shall stop.
    open: Option<u64>,
    /// Somebody is missing; go home.
    is_abandoned: bool,
}

impl Gate {
    fn lock(&self) -> MutexGuard<'_, GateState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while(&self, condition: impl FnMut(&mut GateState) -> bool) -> MutexGuard<'_, GateState> {
        self.changed.wait_while(self.lock(), condition).unwrap_or_else(PoisonError::into_inner)
    }

    fn arrive(&self) -> Option<u64> {
        self.lock().ready += 1;
        self.changed.notify_all();
        self.wait_while(|state| state.open.is_none() && !state.is_abandoned).open
    }

    fn change(&self, change: impl FnOnce(&mut GateState)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }
}

/// What one producer brings back. The load is dropped only after the measured part.
struct Back<L> {
    _load: L,
    samples: Samples,
    items: u64,
    bound: bool,
}

/// Runs one producer for each load, bound round-robin, and measures them from release to flush.
pub(super) fn drive<L: Load>(
    cell: &Cell,
    cpus: &CpuSet,
    loads: Vec<L>,
    around: &Around<'_>,
) -> Result<Measured, Failure> {
    let calibration = Calibration::measure(Duration::from_millis(20));
    let gate = Gate::default();
    let count = loads.len();
    let every = sampled_every(cell);
    std::thread::scope(|scope| {
        let mut threads = Vec::with_capacity(count);
        for (index, load) in loads.into_iter().enumerate() {
            let (gate, calibration) = (&gate, &calibration);
            let cpu = cpus.iter().nth(index % cpus.len().max(1));
            let body = move || produce(cell, cpu, load, gate, calibration, every);
            let builder = Builder::new().name(format!("producer{index}")).stack_size(STACK_BYTES);
            match builder.spawn_scoped(scope, body) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    gate.change(|state| state.is_abandoned = true);
                    return Err(Failure::input(format!(
                        "producer {index} of {count} cannot be created: {error}"
                    )));
                }
            }
        }
        drop(gate.wait_while(|state| state.ready < count));
        let mut before = Counts::now(around);
        before.time = clock::now();
        let time = cell.time_ms.map(Duration::from_millis);
        let stop = time.map_or(u64::MAX, |time| cycles::now().saturating_add(calibration.units(time)));
        gate.change(|state| state.open = Some(stop));
        let back: Vec<_> =
            threads.into_iter().map(|thread| thread.join().expect("a producer's result")).collect();
        (around.flush)();
        let end = clock::now();
        let used = Counts { time: end, ..Counts::now(around) }.since(&before);
        Ok(summary(back, &used, &calibration, every, (around.workers)()))
    })
}

fn sampled_every(cell: &Cell) -> NonZero<u64> {
    let most = cell.items.saturating_mul(u64::from(cell.producers));
    NonZero::new(most.div_ceil(SAMPLES_MAX).max(MEASURED_EVERY)).unwrap_or(NonZero::<u64>::MIN)
}

fn produce<L: Load>(
    cell: &Cell,
    cpu: Option<CpuId>,
    mut load: L,
    gate: &Gate,
    calibration: &Calibration,
    every: NonZero<u64>,
) -> Back<L> {
    let cpu: CpuSet = cpu.into_iter().collect();
    let bound = affinity::set_current(&cpu).is_ok();
    let capacity = cell.items.div_ceil(every.get()).max(WARM_UP_ITEMS.min(cell.items)) as usize;
    let mut samples = Samples::new(capacity, every, cell.mode);
    let until = cycles::now().saturating_add(calibration.units(WARM_UP_TIME));
    repeat(&mut load, cell.items.min(WARM_UP_ITEMS), until, &mut samples);
    samples.clear();
    let items = gate.arrive().map_or(0, |until| repeat(&mut load, cell.items, until, &mut samples));
    Back { _load: load, samples, items, bound }
}

/// At least one step; at most this many items.
#[inline(never)]
fn repeat<L: Load>(load: &mut L, items: u64, until: u64, samples: &mut Samples) -> u64 {
    let mut done = 0;
    loop {
        let step = load.step(items - done, samples);
        done += step.items;
        if done >= items || step.end.is_some_and(|end| end >= until) {
            return done;
        }
    }
}

struct Counts {
    time: Duration,
    cpu: Duration,
    switches: u64,
    wakes: u64,
}

impl Counts {
    fn now(around: &Around<'_>) -> Counts {
        let (cpu, switches) = (clock::process_cpu_time(), usage::context_switches());
        Counts { time: clock::now(), cpu, switches, wakes: (around.wakes)() }
    }

    fn since(&self, before: &Counts) -> Counts {
        Counts {
            time: self.time - before.time,
            cpu: self.cpu - before.cpu,
            switches: self.switches - before.switches,
            wakes: self.wakes - before.wakes,
        }
    }
}

fn summary<L>(
    back: Vec<Back<L>>,
    used: &Counts,
    calibration: &Calibration,
    every: NonZero<u64>,
    workers: u32,
) -> Measured {
    let items: u64 = back.iter().map(|back| back.items).sum();
    let bound = back.iter().all(|back| back.bound);
    let merged =
        |of: fn(&Samples) -> &Vec<u32>| back.iter().flat_map(|back| of(&back.samples)).copied().collect();
    let mut submit: Vec<u32> = merged(|samples| &samples.submit);
    let mut round_trip: Vec<u32> = merged(|samples| &samples.round_trip);
    let ns = |interval: u32| calibration.ns(u64::from(interval));
    let [p50, p90, p95, p99] = figures::percentiles(&mut submit, [50, 90, 95, 99]).map(ns);
    let trips = figures::percentiles(&mut round_trip, [50, 99]).map(ns);
    let (seconds, count) = (used.time.as_secs_f64(), items.max(1) as f64);
    Measured {
        figures: Figures {
            items_per_s: items as f64 / seconds.max(1e-9),
            submit_ns: Submit { p50, p90, p95, p99 },
            round_trip_ns: (!round_trip.is_empty()).then_some(RoundTrip { p50: trips[0], p99: trips[1] }),
            cpu_s_per_million: used.cpu.as_secs_f64() * 1e6 / count,
            wakes_per_item: used.wakes as f64 / count,
            switches_per_item: used.switches as f64 / count,
        },
        items,
        seconds,
        workers,
        bound,
        sampled_every: every.get(),
        empty_pair_ns: calibration.empty_pair as f64 / calibration.per_ns,
        line_round_trip_ns: None,
    }
}
