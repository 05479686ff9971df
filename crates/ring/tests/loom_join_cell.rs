//! The join word: a result changes hands once, a waker is called at most once and never lost.
#![cfg(cmwq_loom)]
#![allow(clippy::arc_with_non_send_sync, reason = "the model's threads are coroutines of one thread")]

use cmwq_ring::model::{Broken, ModelFutex, Mutant, all_are_caught, check, mutant};
use cmwq_ring::sync::{AtomicU32, Ordering};
use cmwq_ring::{Futex, JoinCell, Polled};
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;
use std::sync::atomic::AtomicU32 as Tally;

/// A result whose drops are counted, by the observer.
struct Answer(Arc<Tally>);

impl Drop for Answer {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A waker: wakes whoever sleeps on it.
#[derive(Clone)]
struct Waker(Arc<AtomicU32>);

impl Waker {
    fn new() -> Self {
        Waker(Arc::new(AtomicU32::new(0)))
    }

    fn wake(self) {
        assert_eq!(self.0.fetch_add(1, Ordering::AcqRel), 0, "a waker is called once at most");
        ModelFutex::wake_all(&self.0);
    }

    fn sleep(&self) {
        while self.0.load(Ordering::Acquire) == 0 {
            ModelFutex::wait(&self.0, 0, None);
        }
    }
}

/// A one-shot item, without its closure.
struct Task {
    join: JoinCell,
    /// Whose it is, the join word says.
    waker: UnsafeCell<Option<Waker>>,
    /// The worker's until DONE, then the handle's.
    result: UnsafeCell<Option<Answer>>,
    dropped: Arc<Tally>,
}

impl Task {
    fn new() -> Arc<Task> {
        Arc::new(Task {
            join: JoinCell::default(),
            waker: UnsafeCell::new(None),
            result: UnsafeCell::new(None),
            dropped: Arc::default(),
        })
    }

    /// The worker's side, on a thread of its own.
    fn start(self: &Arc<Task>) -> thread::JoinHandle<()> {
        let task = self.clone();
        thread::spawn(move || task.complete())
    }

    fn complete(&self) {
        let answer = Answer(self.dropped.clone());
        // SAFETY: the model checks it.
        self.result.with_mut(|place| unsafe { *place = Some(answer) });
        let owed = self.join.complete();
        if owed.waker {
            // SAFETY: the model checks it.
            let waker = self.waker.with_mut(|place| unsafe { (*place).take() });
            waker.expect("a published waker is in its place").wake();
        }
        if owed.wake && !mutant("join-sleeper-forgotten") {
            ModelFutex::wake_all(self.join.sleep_value().0);
        }
        if owed.detached {
            drop(self.take());
        }
    }

    fn take(&self) -> Option<Answer> {
        // SAFETY: the model checks it.
        self.result.with_mut(|place| unsafe { (*place).take() })
    }

    /// The handle's side: waits by sleeping.
    fn join(&self) {
        if !self.join.is_done() {
            while self.join.announce_waiter() == Polled::Pending {
                let (word, value) = self.join.sleep_value();
                if self.join.is_done() {
                    break;
                }
                ModelFutex::wait(word, value, None);
            }
        }
        drop(self.take().expect("a finished task has a result"));
    }

    /// The handle's side: asks, and leaves a waker. Whether the result is there.
    fn poll(&self, waker: &Waker) -> bool {
        if self.join.is_done() {
            return true;
        }
        if self.join.has_waker()
            && !mutant("join-waker-not-retracted")
            && self.join.retract_waker() == Polled::Ready
        {
            return true;
        }
        // SAFETY: the model checks it.
        drop(self.waker.with_mut(|place| unsafe { (*place).replace(waker.clone()) }));
        self.join.publish_waker() == Polled::Ready
    }

    /// The handle's side: lets go.
    fn detach(&self) {
        if self.join.detach() == Polled::Ready {
            drop(self.take().expect("a finished task has a result"));
        }
    }

    fn drops(&self) -> u32 {
        self.dropped.load(Ordering::Relaxed)
    }
}

#[test]
fn a_sleeper_gets_the_result() {
    check(|| {
        let task = Task::new();
        let worker = task.start();
        task.join();
        worker.join().unwrap();
        assert_eq!(task.drops(), 1);
    });
}

#[test]
fn the_last_waker_is_called() {
    check(|| {
        let task = Task::new();
        let worker = task.start();
        let wakers = [Waker::new(), Waker::new()];
        if !wakers.iter().any(|waker| task.poll(waker)) {
            wakers[1].sleep();
            assert!(task.poll(&Waker::new()), "a waker is called when the result is there");
        }
        drop(task.take().expect("a finished task has a result"));
        worker.join().unwrap();
        assert_eq!(task.drops(), 1);
    });
}

/// The handle moves to another thread between two polls.
#[test]
fn a_handle_may_move() {
    check(|| {
        let task = Task::new();
        let worker = task.start();
        if !task.poll(&Waker::new()) {
            let mover = task.clone();
            thread::spawn(move || mover.join()).join().unwrap();
        } else {
            drop(task.take());
        }
        worker.join().unwrap();
        assert_eq!(task.drops(), 1);
    });
}

#[test]
fn a_detached_result_is_dropped_once() {
    check(|| {
        let task = Task::new();
        let worker = task.start();
        task.detach();
        worker.join().unwrap();
        assert_eq!(task.drops(), 1, "dropped by one side");
    });
}

#[test]
fn a_handle_that_left_a_waker_may_be_dropped() {
    check(|| {
        let task = Task::new();
        let worker = task.start();
        task.poll(&Waker::new());
        task.detach();
        worker.join().unwrap();
        assert_eq!(task.drops(), 1, "dropped by one side");
    });
}

const fn site(function: &'static str, operation: &'static str, effect: &'static str) -> Broken {
    Broken::Site { file: "join_cell.rs", function, operation, effect }
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        id: "join-complete-without-release",
        broken: site("complete", "compare_exchange", "acquire"),
        what: "DONE does not publish the result",
        test: "a_sleeper_gets_the_result",
    },
    Mutant {
        id: "join-complete-without-acquire",
        broken: site("complete", "compare_exchange", "release"),
        what: "a worker that finds a waker may find the one before",
        test: "the_last_waker_is_called",
    },
    Mutant {
        id: "join-complete-blind",
        broken: site("complete", "compare_exchange", "store"),
        what: "DONE is stored over an announcement",
        test: "a_sleeper_gets_the_result",
    },
    Mutant {
        id: "join-announce-blind",
        broken: site("announce_waiter", "compare_exchange", "store"),
        what: "an announcement is stored over DONE",
        test: "a_sleeper_gets_the_result",
    },
    Mutant {
        id: "join-is-done-relaxed",
        broken: site("is_done", "load", "relaxed"),
        what: "DONE is seen without the result",
        test: "a_sleeper_gets_the_result",
    },
    Mutant {
        id: "join-publish-without-release",
        broken: site("publish_waker", "compare_exchange", "acquire"),
        what: "the waker is not published",
        test: "the_last_waker_is_called",
    },
    Mutant {
        id: "join-publish-blind",
        broken: site("publish_waker", "compare_exchange", "store"),
        what: "a waker is stored over DONE",
        test: "the_last_waker_is_called",
    },
    Mutant {
        id: "join-retract-blind",
        broken: site("retract_waker", "compare_exchange", "store"),
        what: "the waker is taken back although the worker has it",
        test: "the_last_waker_is_called",
    },
    Mutant {
        id: "join-detach-blind",
        broken: site("detach", "compare_exchange", "store"),
        what: "letting go is stored over DONE",
        test: "a_detached_result_is_dropped_once",
    },
    Mutant {
        id: "join-waker-not-retracted",
        broken: Broken::Steps,
        what: "a published waker is replaced without being taken back",
        test: "the_last_waker_is_called",
    },
    Mutant {
        id: "join-sleeper-forgotten",
        broken: Broken::Steps,
        what: "the worker does not wake a sleeper",
        test: "a_sleeper_gets_the_result",
    },
];

#[test]
fn broken_variants_are_caught() {
    all_are_caught(env!("CARGO_MANIFEST_DIR"), MUTANTS);
}
