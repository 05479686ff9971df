//! The batch word: each claimed item is started or recalled, once.
#![cfg(cmwq_loom)]
#![allow(clippy::arc_with_non_send_sync, reason = "the model's threads are coroutines of one thread")]

use cmwq_ring::model::{Broken, ModelFutex, Mutant, all_are_caught, check, mutant};
use cmwq_ring::{BatchCell, Lock};
use loom::cell::UnsafeCell;
use loom::thread;
use std::array;
use std::sync::Arc;

const PLACES: usize = 3;

/// A worker's claim.
struct Claim {
    lock: Lock<(), ModelFutex>,
    batch: BatchCell,
    /// What lies in each place; written under the lock.
    items: [UnsafeCell<usize>; PLACES],
    /// What the run of each place left behind.
    done: [UnsafeCell<bool>; PLACES],
}

impl Claim {
    fn new() -> Arc<Claim> {
        Arc::new(Claim {
            lock: Lock::new(()),
            batch: BatchCell::default(),
            items: array::from_fn(|_| UnsafeCell::new(0)),
            done: array::from_fn(|_| UnsafeCell::new(false)),
        })
    }

    fn item(&self, place: usize) -> usize {
        // SAFETY: the model checks it.
        self.items[place].with(|item| unsafe { *item })
    }

    /// Claims `count` items, the first of which is `first`.
    fn fill(&self, first: usize, count: usize) {
        let guard = (!mutant("batch-filled-without-lock")).then(|| self.lock.lock());
        for place in 0..count {
            // SAFETY: the model checks it.
            self.items[place].with_mut(|item| unsafe { *item = first + place });
        }
        self.batch.fill(count);
        drop(guard);
    }

    /// Runs what is left, and answers what it was.
    fn run(&self) -> Vec<usize> {
        let mut ran = Vec::new();
        while let Some(place) = self.batch.take() {
            ran.push(self.item(place));
            // SAFETY: the model checks it.
            self.done[place].with_mut(|done| unsafe { *done = true });
        }
        ran
    }

    /// Takes back what has not been started, and looks at what has ended.
    fn recall(&self) -> Vec<usize> {
        let guard = self.lock.lock();
        let back = self.batch.recall().map(|place| self.item(place)).collect();
        let ended = self.batch.started().saturating_sub(1);
        for done in &self.done[..ended] {
            // SAFETY: the model checks it.
            assert!(done.with(|done| unsafe { *done }), "an item before the last started one has ended");
        }
        drop(guard);
        back
    }
}

fn each_once(mut items: Vec<usize>, count: usize) {
    items.sort_unstable();
    assert_eq!(items, Vec::from_iter(0..count), "each item is started or recalled, once");
}

#[test]
fn each_item_is_started_or_recalled_once() {
    check(|| {
        let claim = Claim::new();
        claim.fill(0, PLACES);
        let recaller = thread::spawn({
            let claim = claim.clone();
            move || claim.recall()
        });
        let mut items = claim.run();
        items.extend(recaller.join().unwrap());
        each_once(items, PLACES);
    });
}

#[test]
fn two_recall_from_one() {
    check(|| {
        let claim = Claim::new();
        claim.fill(0, 2);
        let recallers = [0, 1].map(|_| {
            let claim = claim.clone();
            thread::spawn(move || claim.recall())
        });
        let mut items = claim.run();
        for recaller in recallers {
            items.extend(recaller.join().unwrap());
        }
        each_once(items, 2);
    });
}

#[test]
fn a_recall_meets_a_refill_whole() {
    check(|| {
        let claim = Claim::new();
        claim.fill(0, 1);
        let recaller = thread::spawn({
            let claim = claim.clone();
            move || {
                let guard = claim.lock.lock();
                let back: Vec<usize> = claim.batch.recall().map(|place| claim.item(place)).collect();
                drop(guard);
                back
            }
        });
        let mut items = claim.run();
        claim.fill(1, 2);
        items.extend(claim.run());
        items.extend(recaller.join().unwrap());
        each_once(items, 3);
    });
}

const fn site(function: &'static str, operation: &'static str, effect: &'static str) -> Broken {
    Broken::Site { file: "batch_cell.rs", function, operation, effect }
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        id: "batch-recall-blind",
        broken: site("recall", "compare_exchange", "store"),
        what: "a recall is stored over a take",
        test: "each_item_is_started_or_recalled_once",
    },
    Mutant {
        id: "batch-take-blind",
        broken: site("take", "compare_exchange", "store"),
        what: "a take is stored over a recall",
        test: "each_item_is_started_or_recalled_once",
    },
    Mutant {
        id: "batch-take-without-release",
        broken: site("take", "compare_exchange", "acquire"),
        what: "a start does not publish that the item before has ended",
        test: "each_item_is_started_or_recalled_once",
    },
    Mutant {
        id: "batch-filled-without-lock",
        broken: Broken::Steps,
        what: "the places are filled while a recall may read them",
        test: "a_recall_meets_a_refill_whole",
    },
];

#[test]
fn broken_variants_are_caught() {
    all_are_caught(env!("CARGO_MANIFEST_DIR"), MUTANTS);
}
