//! The list of used pwqs: a closer that finds a pwq not listed owes it nothing, also when the slot is used again.
#![cfg(cmwq_loom)]
#![allow(clippy::arc_with_non_send_sync, reason = "the model's threads are coroutines of one thread")]

use cmwq_core::limits::PHASE_SLOTS;
use cmwq_core::queue::QueueWord;
use cmwq_ring::model::{Broken, Mutant, all_are_caught, check, mutant};
use cmwq_ring::{Arrivals, Listing, QueueCell};
use loom::thread;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const NONE: u32 = u32::MAX;

struct Queue {
    word: QueueCell,
    leaf: Arrivals,
    listing: Listing,
    /// The observer's: the phase at which each submitter is confirmed. Not operations of the model.
    confirmed: [AtomicU32; 2],
}

impl Queue {
    /// `pwqs` decides whether the list has one level or two; the first phase is `phase`.
    fn new(pwqs: usize, phase: u32) -> Arc<Queue> {
        let queue = Queue {
            word: QueueCell::default(),
            leaf: Arrivals::default(),
            listing: Listing::new(pwqs),
            confirmed: [NONE, NONE].map(AtomicU32::new),
        };
        for phase in 0..phase {
            queue.advance(phase);
        }
        Arc::new(queue)
    }

    fn advance(&self, phase: u32) {
        assert!(self.word.update(|word| word.close(phase, phase)));
    }

    /// One arrival of submitter `who` at pwq `pwq`, which ends unconfirmed if the phase moves on.
    fn arrive(&self, who: usize, pwq: usize) {
        let word = self.word.read();
        if mutant("list-tag-first") {
            if !self.leaf.is_listed(word) {
                self.leaf.set_listed(word);
                self.listing.list(pwq, word.phase(), &self.word);
            }
        } else if !mutant("list-after-look") {
            self.list(word, pwq);
        }
        let again = self.word.read();
        if again == word {
            self.confirmed[who].store(word.phase(), Ordering::Relaxed);
            if mutant("list-after-look") {
                self.list(word, pwq);
            }
        }
    }

    fn list(&self, word: QueueWord, pwq: usize) {
        if !self.leaf.is_listed(word) && self.listing.list(pwq, word.phase(), &self.word) {
            self.leaf.set_listed(word);
        }
    }

    /// Closes a phase; answers what it finds listed.
    fn close(&self, phase: u32) -> Vec<usize> {
        let mut found = Vec::new();
        if mutant("list-look-before-close") {
            self.collect(phase, &mut found);
            self.advance(phase);
        } else {
            self.advance(phase);
            self.collect(phase, &mut found);
        }
        found
    }

    fn collect(&self, phase: u32, found: &mut Vec<usize>) {
        let _ = self.listing.visit(phase, |pwq| {
            found.push(pwq);
            true
        });
    }
}

fn two_submitters_and_a_closer(pwqs: usize, phase: u32, used: [usize; 2]) {
    check(move || {
        let queue = Queue::new(pwqs, phase);
        let submitters = [0, 1].map(|who| {
            let queue = queue.clone();
            thread::spawn(move || queue.arrive(who, used[who]))
        });
        let found = queue.close(phase);
        for submitter in submitters {
            submitter.join().unwrap();
        }
        for (confirmed, pwq) in queue.confirmed.iter().zip(used) {
            let at = confirmed.load(Ordering::Relaxed);
            assert!(at != phase || found.contains(&pwq), "a confirmed arrival is not on the closer's list");
        }
    });
}

/// They share a leaf: the second may rely on what the first has listed.
#[test]
fn submitters_of_one_leaf_are_on_the_list() {
    two_submitters_and_a_closer(1, 0, [0, 0]);
}

#[test]
fn a_list_of_two_levels_is_read_from_above() {
    two_submitters_and_a_closer(40, 0, [33, 33]);
}

/// The submitter was stopped in a phase whose slot serves a later one when it goes on.
#[test]
fn a_late_lister_spoils_no_later_phase() {
    check(|| {
        let queue = Queue::new(1, 0);
        let late = queue.clone();
        let late = thread::spawn(move || late.arrive(0, 0));
        let next = PHASE_SLOTS as u32;
        for phase in 0..next {
            queue.advance(phase);
        }
        queue.arrive(1, 0);
        let found = queue.close(next);
        late.join().unwrap();
        assert_eq!(queue.confirmed[1].load(Ordering::Relaxed), next);
        assert_eq!(found, [0], "a late lister took away what a later phase has listed");
    });
}

const fn site(function: &'static str, operation: &'static str, effect: &'static str) -> Broken {
    Broken::Site { file: "listing.rs", function, operation, effect }
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        id: "list-look-by-load",
        broken: site("look", "fetch_or", "look"),
        what: "the closer looks at the list by a plain load",
        test: "submitters_of_one_leaf_are_on_the_list",
    },
    Mutant {
        id: "list-look-without-release",
        broken: site("look", "fetch_or", "acquire"),
        what: "a listing after the closer's look does not see the closed phase",
        test: "submitters_of_one_leaf_are_on_the_list",
    },
    Mutant {
        id: "list-without-acquire",
        broken: site("enter", "compare_exchange", "release"),
        what: "the same, from the other side",
        test: "submitters_of_one_leaf_are_on_the_list",
    },
    Mutant {
        id: "list-late-lister-overwrites",
        broken: site("enter", "compare_exchange", "store"),
        what: "a lister writes over what another has listed",
        test: "a_late_lister_spoils_no_later_phase",
    },
    Mutant {
        id: "list-tag-first",
        broken: Broken::Steps,
        what: "the leaf says listed before the list does",
        test: "submitters_of_one_leaf_are_on_the_list",
    },
    Mutant {
        id: "list-after-look",
        broken: Broken::Steps,
        what: "a pwq is listed after the arrival was confirmed",
        test: "submitters_of_one_leaf_are_on_the_list",
    },
    Mutant {
        id: "list-look-before-close",
        broken: Broken::Steps,
        what: "the list is read before the phase is closed",
        test: "submitters_of_one_leaf_are_on_the_list",
    },
];

#[test]
fn broken_variants_are_caught() {
    all_are_caught(env!("CARGO_MANIFEST_DIR"), MUTANTS);
}
