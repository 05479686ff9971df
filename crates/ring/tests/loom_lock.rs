//! The lock: one holder, who sees what the one before wrote, and no sleeper is forgotten.
#![cfg(cmwq_loom)]

use cmwq_ring::Lock;
use cmwq_ring::model::{Broken, ModelFutex, Mutant, all_are_caught, check, check_less};
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;

type Count = Lock<UnsafeCell<u32>, ModelFutex>;

fn add(count: &Count) {
    let held = count.lock();
    // SAFETY: the model checks it.
    held.with_mut(|count| unsafe { *count += 1 });
}

/// Each of these threads, and the one that checks, takes the lock so often.
fn holders(counts: &[u32], own: u32) {
    holders_of(Count::new(UnsafeCell::new(0)), counts, own);
}

fn holders_of(count: Count, counts: &[u32], own: u32) {
    let count = Arc::new(count);
    let spawned = counts.iter().map(|&times| {
        let count = count.clone();
        thread::spawn(move || (0..times).for_each(|_| add(&count)))
    });
    let spawned: Vec<_> = spawned.collect();
    (0..own).for_each(|_| add(&count));
    for holder in spawned {
        holder.join().unwrap();
    }
    // SAFETY: the model checks it.
    let total = count.lock().with(|count| unsafe { *count });
    assert_eq!(total, own + counts.iter().sum::<u32>());
}

#[test]
fn two_exclude_each_other() {
    check(|| holders(&[2], 2));
}

#[test]
fn three_exclude_each_other() {
    check(|| holders(&[1, 1], 1));
    check_less(1, || holders(&[2, 1], 1));
}

#[test]
fn two_exclude_each_other_with_lent_priority() {
    check(|| holders_of(Count::inheriting(UnsafeCell::new(0)), &[2], 2));
}

#[test]
fn three_exclude_each_other_with_lent_priority() {
    check(|| holders_of(Count::inheriting(UnsafeCell::new(0)), &[1, 1], 1));
}

const fn site(function: &'static str, operation: &'static str, effect: &'static str) -> Broken {
    Broken::Site { file: "lock.rs", function, operation, effect }
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        id: "lock-unlock-by-store",
        broken: site("drop", "swap", "store"),
        what: "the unlock does not look for sleepers",
        test: "two_exclude_each_other",
    },
    Mutant {
        id: "lock-unlock-relaxed",
        broken: site("drop", "swap", "relaxed"),
        what: "the unlock does not publish",
        test: "two_exclude_each_other",
    },
    Mutant {
        id: "lock-try-relaxed",
        broken: site("try_acquire", "compare_exchange", "relaxed"),
        what: "the fast path does not acquire",
        test: "two_exclude_each_other",
    },
    Mutant {
        id: "lock-slow-relaxed",
        broken: site("lock_slow", "swap", "relaxed"),
        what: "the slow path does not acquire",
        test: "three_exclude_each_other",
    },
    Mutant {
        id: "lock-try-blind",
        broken: site("try_acquire", "compare_exchange", "store"),
        what: "the lock is taken without a look",
        test: "two_exclude_each_other",
    },
    Mutant {
        id: "lock-lent-unlock-by-store",
        broken: site("unlock_inheriting", "compare_exchange", "store"),
        what: "the unlock of a lock that inherits does not look for those who wait",
        test: "two_exclude_each_other_with_lent_priority",
    },
    Mutant {
        id: "lock-lent-unlock-relaxed",
        broken: site("unlock_inheriting", "compare_exchange", "relaxed"),
        what: "the unlock of a lock that inherits does not publish",
        test: "two_exclude_each_other_with_lent_priority",
    },
    Mutant {
        id: "lock-lent-try-relaxed",
        broken: site("try_acquire", "compare_exchange", "relaxed"),
        what: "the fast path of a lock that inherits does not acquire",
        test: "two_exclude_each_other_with_lent_priority",
    },
];

#[test]
fn broken_variants_are_caught() {
    all_are_caught(env!("CARGO_MANIFEST_DIR"), MUTANTS);
}
