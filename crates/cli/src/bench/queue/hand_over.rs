//! What no queue can be faster than here: one word that carries an item's number to one thread and nothing else.
//!
//! The same producers, completions, waits and clock readings as in every other row, but no queue: no order, no limit,
//! no item word, nobody who sleeps. What a shape takes beyond this row is its own; the rest is the machine's.

use std::hint;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use cmwq::WaitPolicy;
use cmwq::bench::{Completion, completion_wakes};
use cmwq_sys::topology::CpuSet;

use super::cell::{Cell, Measured};
use super::drive::{Around, Load, Samples, Step, drive};
use crate::output::Failure;

/// Looks in vain, then lets others have the CPU.
const LOOKS: u32 = 256;
/// No item.
const EMPTY: usize = usize::MAX;

/// The word, alone on its cache lines.
#[repr(align(128))]
struct Slot(AtomicUsize);

struct Bare {
    slot: Slot,
    is_closed: AtomicBool,
    done: Vec<Completion>,
}

impl Bare {
    fn put(&self, item: usize) {
        // Another producer's item stays only until the worker looks, or as long as the worker has no CPU.
        while self.slot.0.compare_exchange(EMPTY, item, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            thread::yield_now();
        }
    }

    /// The worker's life.
    fn work(&self) {
        let mut looks = 0;
        while !self.is_closed.load(Ordering::Relaxed) {
            let item = self.slot.0.load(Ordering::Acquire);
            if let Some(done) = self.done.get(item) {
                self.slot.0.store(EMPTY, Ordering::Release);
                done.complete();
                looks = 0;
            } else if looks < LOOKS {
                looks += 1;
                hint::spin_loop();
            } else {
                looks = 0;
                thread::yield_now();
            }
        }
    }
}

/// Sends the worker home, also when the measurement panics.
struct Closing<'a>(&'a Bare);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.is_closed.store(true, Ordering::Relaxed);
    }
}

/// Measures one cell in this process.
pub(super) fn measure(cell: &Cell, cpus: &CpuSet) -> Result<Measured, Failure> {
    let done = (0..cell.producers).map(|_| Completion::default()).collect();
    let bare = Bare { slot: Slot(AtomicUsize::new(EMPTY)), is_closed: AtomicBool::new(false), done };
    thread::scope(|scope| {
        let _closing = Closing(&bare);
        let spawned = thread::Builder::new().name("worker0".into()).spawn_scoped(scope, || bare.work());
        spawned.map_err(|error| Failure::input(format!("a worker cannot be created: {error}")))?;
        // Every producer has waited for its last item.
        let around = Around { flush: &|| (), wakes: &completion_wakes, workers: &|| 1 };
        let policy = cell.policy.wait();
        let loads = (0..bare.done.len()).map(|item| One { bare: &bare, item, policy }).collect();
        drive(cell, cpus, loads, &around)
    })
}

/// One item in flight.
struct One<'a> {
    bare: &'a Bare,
    item: usize,
    policy: WaitPolicy,
}

impl Load for One<'_> {
    #[inline]
    fn step(&mut self, _left: u64, samples: &mut Samples) -> Step {
        let done = &self.bare.done[self.item];
        samples.one(done, || self.bare.put(self.item), self.policy)
    }
}
