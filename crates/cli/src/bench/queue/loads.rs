//! What a fresh process does: builds the engine that its cell asks for, and drives it.

use cmwq::bench::{self, Batch, Producer, completion_wakes};
use cmwq::{ClaimPolicy, Engine, Queue, Scope, WaitPolicy};
use cmwq_sys::cycles;
use cmwq_sys::topology::Topology;

use super::cell::{Cell, Measured, Mode, Shape};
use super::condvar;
use super::drive::{Around, Load, Samples, Step, drive};
use super::hand_over;
use crate::bench::machine;
use crate::output::Failure;

/// Items of a batch.
const BATCH_MAX: u64 = 4096;

/// Measures one cell in this process.
pub(super) fn measure(cell: &Cell) -> Result<Measured, Failure> {
    let topology = cell.source.read()?;
    let cpus = machine::cpus_here(&topology);
    if cell.producers == 0 || cell.items == 0 {
        return Err(Failure::input("a cell has producers and items"));
    }
    let Some(shape) = cell.shape.of_engine() else {
        return match cell.shape {
            Shape::HandOver => hand_over::measure(cell, &cpus),
            _ => condvar::measure(cell, &cpus),
        };
    };
    let queue = queue(cell, topology, shape)?;
    let around = Around {
        flush: &|| queue.flush().expect("this thread is no worker"),
        wakes: &|| pools(&queue, |pool| pool.wakes) + completion_wakes(),
        workers: &|| pools(&queue, |pool| u64::from(pool.workers)) as u32,
    };
    match cell.mode {
        Mode::One => drive(cell, &cpus, each(cell, || One::new(&queue, cell)), &around),
        Mode::Batch => drive(cell, &cpus, each(cell, || Batches::new(&queue, cell)), &around),
    }
}

fn queue(cell: &Cell, topology: Topology, shape: bench::Shape) -> Result<Queue, Failure> {
    let scope: Scope = cell.scope.parse().map_err(Failure::input)?;
    let claim = ClaimPolicy::ALL.iter().find(|(name, _)| *name == cell.claim);
    let claim = claim.ok_or_else(|| Failure::input(format!("no claim policy: {}", cell.claim)))?.1;
    let mut builder = Engine::builder()
        .name("bench")
        .topology(topology)
        .shape(shape)
        .claim(claim)
        .cover(cell.cover.0)
        .wait(cell.policy.wait());
    if let Some(workers) = cell.workers {
        builder = builder.workers_max(workers);
    }
    let engine = builder.build().map_err(Failure::input)?;
    engine.queue("bench").scope(scope).build().map_err(Failure::input)
}

fn pools(queue: &Queue, of: fn(&cmwq::PoolStats) -> u64) -> u64 {
    queue.engine().stats().pools.iter().map(of).sum()
}

fn each<L>(cell: &Cell, load: impl FnMut() -> L) -> Vec<L> {
    std::iter::repeat_with(load).take(cell.producers as usize).collect()
}

/// One item in flight.
struct One {
    producer: Producer,
    policy: WaitPolicy,
}

impl One {
    fn new(queue: &Queue, cell: &Cell) -> One {
        One { producer: Producer::new(queue), policy: cell.policy.wait() }
    }
}

impl Load for One {
    #[inline]
    fn step(&mut self, _left: u64, samples: &mut Samples) -> Step {
        if !samples.wants() {
            self.producer.round_unmeasured(self.policy);
            return Step { items: 1, end: None };
        }
        let round = self.producer.round(self.policy);
        samples.push(round.submit, Some(round.round_trip));
        Step { items: 1, end: Some(round.end) }
    }
}

/// Many items, then a flush.
struct Batches(Batch);

impl Batches {
    fn new(queue: &Queue, cell: &Cell) -> Batches {
        Batches(Batch::new(queue, cell.items.min(BATCH_MAX) as usize))
    }
}

impl Load for Batches {
    #[inline]
    fn step(&mut self, left: u64, samples: &mut Samples) -> Step {
        let count = left.min(BATCH_MAX) as usize;
        let items = self.0.round(count, |submit| {
            if samples.wants() {
                samples.push(submit, None);
            }
        });
        Step { items: items as u64, end: Some(cycles::now()) }
    }
}
