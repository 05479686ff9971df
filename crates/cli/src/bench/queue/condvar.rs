//! The baseline's baseline: a queue of functions under a mutex, a condition variable, and worker threads.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use cmwq::WaitPolicy;
use cmwq::bench::{Completion, completion_wakes};
use cmwq_sys::topology::CpuSet;

use super::cell::{Cell, Measured};
use super::drive::{Around, Load, Samples, Step, drive};
use crate::output::Failure;

/// Worker threads unless the cell says how many.
const WORKERS: u32 = 2;

/// A function and what it is called with.
struct Job<'a> {
    function: fn(&Completion),
    argument: &'a Completion,
}

#[derive(Default)]
struct Plain<'a> {
    state: Mutex<State<'a>>,
    changed: Condvar,
}

#[derive(Default)]
struct State<'a> {
    jobs: VecDeque<Job<'a>>,
    is_closed: bool,
    /// Times a worker came back from a wait.
    wakes: u64,
}

impl<'a> Plain<'a> {
    fn lock(&self) -> MutexGuard<'_, State<'a>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, job: Job<'a>) {
        self.lock().jobs.push_back(job);
        self.changed.notify_one();
    }

    /// A worker's life.
    fn work(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                (job.function)(job.argument);
                state = self.lock();
            } else if state.is_closed {
                return;
            } else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.wakes += 1;
            }
        }
    }
}

/// Sends the workers home, also when the measurement panics.
struct Closing<'p, 'a>(&'p Plain<'a>);

impl Drop for Closing<'_, '_> {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.changed.notify_all();
    }
}

/// Measures one cell in this process. Everybody parks.
pub(super) fn measure(cell: &Cell, cpus: &CpuSet) -> Result<Measured, Failure> {
    let done: Vec<Completion> = (0..cell.producers).map(|_| Completion::default()).collect();
    let plain = Plain::default();
    let workers = cell.workers.unwrap_or(WORKERS).max(1);
    std::thread::scope(|scope| {
        let _closing = Closing(&plain);
        for index in 0..workers {
            let worker = std::thread::Builder::new().name(format!("worker{index}"));
            let spawned = worker.spawn_scoped(scope, || plain.work());
            spawned.map_err(|error| Failure::input(format!("a worker cannot be created: {error}")))?;
        }
        let around = Around {
            // Every producer has waited for its last job.
            flush: &|| (),
            wakes: &|| plain.lock().wakes + completion_wakes(),
            workers: &|| workers,
        };
        let loads = done.iter().map(|done| One { plain: &plain, done }).collect();
        drive(cell, cpus, loads, &around)
    })
}

/// One job in flight.
struct One<'p, 'a> {
    plain: &'p Plain<'a>,
    done: &'a Completion,
}

impl Load for One<'_, '_> {
    #[inline]
    fn step(&mut self, _left: u64, samples: &mut Samples) -> Step {
        let job = Job { function: Completion::complete, argument: self.done };
        samples.one(self.done, || self.plain.push(job), WaitPolicy::Park)
    }
}
