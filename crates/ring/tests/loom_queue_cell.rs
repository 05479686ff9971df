//! Flush phases: a flush that returned has seen every arrival confirmed before it closed, and sleeps no longer than
//! that.
#![cfg(cmwq_loom)]
#![allow(clippy::arc_with_non_send_sync, reason = "the model's threads are coroutines of one thread")]

use cmwq_core::queue::slot;
use cmwq_ring::model::{Broken, ModelFutex, Mutant, all_are_caught, check, mutant};
use cmwq_ring::{Arrivals, Departures, Futex, QueueCell};
use loom::cell::UnsafeCell;
use loom::thread;
use std::array;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const NOT_CONFIRMED: u32 = u32::MAX;

/// One item of the test. `phase` is the observer's: not an operation of the model.
struct Item {
    phase: AtomicU32,
    done: UnsafeCell<bool>,
}

struct Queue {
    word: QueueCell,
    arrivals: Arrivals,
    departures: Departures,
    items: [Item; 2],
    /// The observer's: a flush of the first phase has returned.
    flushed: AtomicBool,
}

impl Queue {
    fn new() -> Arc<Queue> {
        let item = |_| Item { phase: AtomicU32::new(NOT_CONFIRMED), done: UnsafeCell::new(false) };
        Arc::new(Queue {
            word: QueueCell::default(),
            arrivals: Arrivals::default(),
            departures: Departures::default(),
            items: array::from_fn(item),
            flushed: AtomicBool::new(false),
        })
    }

    /// Arrives for an item; answers its phase.
    fn arrive(&self, item: usize) -> u32 {
        let mut word = self.word.read();
        loop {
            self.arrivals.arrive(word.phase());
            let again = if mutant("queue-second-look-skipped") { word } else { self.word.read() };
            if again == word {
                break;
            }
            self.depart(word.phase());
            word = again;
        }
        let phase = word.phase();
        self.items[item].phase.store(phase, Ordering::Relaxed);
        assert!(phase > 0 || !self.flushed.load(Ordering::Relaxed), "a flush did not wait for an arrival");
        phase
    }

    fn depart(&self, phase: u32) {
        if self.departures.depart(slot(phase), 1) && !mutant("queue-flush-not-woken") {
            ModelFutex::wake_all(self.departures.futex(slot(phase)));
        }
    }

    /// Runs an item that arrived at this phase.
    fn run(&self, item: usize, phase: u32) {
        // SAFETY: the model checks it.
        self.items[item].done.with_mut(|done| unsafe { *done = true });
        self.depart(phase);
    }

    fn is_empty(&self, phase: u32) -> bool {
        if mutant("queue-arrivals-first") {
            let arrived = self.arrivals.look(phase);
            return self.departures.look(phase) == arrived;
        }
        let departed = self.departures.look(phase);
        departed == self.arrivals.look(phase)
    }

    /// Closes the first phase and waits until it is empty.
    fn flush(&self) {
        self.word.update(|word| word.close(0, 0));
        while !self.is_empty(0) {
            let arrived = self.arrivals.look(0);
            if let Some(value) = self.departures.announce_waiter(0, arrived) {
                ModelFutex::wait(self.departures.futex(slot(0)), value, None);
            }
        }
        self.flushed.store(true, Ordering::Relaxed);
        for item in &self.items {
            if item.phase.load(Ordering::Relaxed) == 0 {
                // SAFETY: the model checks it.
                assert!(item.done.with(|done| unsafe { *done }), "a flush did not wait for an item");
            }
        }
    }
}

fn spawn(queue: &Arc<Queue>, body: impl FnOnce(&Queue) + 'static) -> thread::JoinHandle<()> {
    let queue = queue.clone();
    thread::spawn(move || body(&queue))
}

fn join_all<const N: usize>(threads: [thread::JoinHandle<()>; N]) {
    for thread in threads {
        thread.join().unwrap();
    }
}

fn submit(queue: &Queue, item: usize) {
    let phase = queue.arrive(item);
    queue.run(item, phase);
}

#[test]
fn a_flush_waits_for_two_submitters() {
    check(|| {
        let queue = Queue::new();
        let submitters = [0, 1].map(|item| spawn(&queue, move |queue| submit(queue, item)));
        queue.flush();
        join_all(submitters);
    });
}

/// One item is in flight when another thread arrives, finds the phase closed, and departs.
#[test]
fn an_arrival_that_does_not_stay_ends_no_flush() {
    check(|| {
        let queue = Queue::new();
        let phase = queue.arrive(0);
        let threads = [
            spawn(&queue, |queue| submit(queue, 1)),
            spawn(&queue, Queue::flush),
            spawn(&queue, move |queue| queue.run(0, phase)),
        ];
        join_all(threads);
    });
}

#[test]
fn two_flushes_are_both_woken() {
    check(|| {
        let queue = Queue::new();
        let phases = [0, 1].map(|item| queue.arrive(item));
        let threads = [
            spawn(&queue, Queue::flush),
            spawn(&queue, move |queue| {
                for (item, phase) in phases.into_iter().enumerate() {
                    queue.run(item, phase);
                }
            }),
        ];
        queue.flush();
        join_all(threads);
    });
}

/// One flush closes the phase and goes no further; the other finds it closed and looks for itself.
#[test]
fn a_flush_that_finds_its_phase_closed_waits_too() {
    check(|| {
        let queue = Queue::new();
        let threads = [
            spawn(&queue, |queue| submit(queue, 0)),
            spawn(&queue, |queue| {
                queue.word.update(|word| word.close(0, 0));
            }),
        ];
        queue.flush();
        join_all(threads);
    });
}

#[test]
fn two_workers_wake_a_flush() {
    check(|| {
        let queue = Queue::new();
        let phases = [0, 1].map(|item| queue.arrive(item));
        let workers = [0, 1].map(|item| spawn(&queue, move |queue| queue.run(item, phases[item])));
        queue.flush();
        join_all(workers);
    });
}

const fn site(function: &'static str, operation: &'static str, effect: &'static str) -> Broken {
    Broken::Site { file: "queue_cell.rs", function, operation, effect }
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        id: "queue-look-by-load",
        broken: site("look", "fetch_add", "look"),
        what: "the closer looks at the arrivals by a plain load",
        test: "a_flush_waits_for_two_submitters",
    },
    Mutant {
        id: "queue-look-without-release",
        broken: site("look", "fetch_add", "acquire"),
        what: "an arrival after the closer's look does not see the closed phase",
        test: "a_flush_waits_for_two_submitters",
    },
    Mutant {
        id: "queue-arrive-without-acquire",
        broken: site("arrive", "fetch_add", "release"),
        what: "the same, from the other side",
        test: "a_flush_waits_for_two_submitters",
    },
    Mutant {
        id: "queue-second-look-skipped",
        broken: Broken::Steps,
        what: "an arrival is not confirmed by a second look at the word",
        test: "a_flush_waits_for_two_submitters",
    },
    Mutant {
        id: "queue-arrivals-first",
        broken: Broken::Steps,
        what: "a flush reads the departures after the arrivals",
        test: "an_arrival_that_does_not_stay_ends_no_flush",
    },
    Mutant {
        id: "queue-depart-without-release",
        broken: site("depart", "fetch_add", "acquire"),
        what: "a departure does not publish the item's work",
        test: "a_flush_waits_for_two_submitters",
    },
    Mutant {
        id: "queue-flush-not-woken",
        broken: Broken::Steps,
        what: "the last departure does not wake",
        test: "two_workers_wake_a_flush",
    },
];

#[test]
fn broken_variants_are_caught() {
    all_are_caught(env!("CARGO_MANIFEST_DIR"), MUTANTS);
}
