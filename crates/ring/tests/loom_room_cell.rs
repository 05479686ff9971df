//! Room: as many as the limit and no more, and whoever waits for a start is told of it.
#![cfg(cmwq_loom)]

use cmwq_ring::model::{Broken, ModelFutex, Mutant, all_are_caught, check};
use cmwq_ring::{Futex, RoomCell};
use loom::thread;
use std::sync::Arc;

/// Takes a place, waiting for one if need be, as a blocking submission does.
fn take(room: &RoomCell) {
    while !room.take() {
        if let Some(value) = room.announce_waiter() {
            ModelFutex::wait(room.futex(), value, None);
        }
    }
}

fn give(room: &RoomCell) {
    if room.give() {
        ModelFutex::wake_all(room.futex());
    }
}

#[test]
fn a_waiter_is_told_of_a_start() {
    check(|| {
        let room = Arc::new(RoomCell::new(1));
        assert!(room.take());
        let waiter = {
            let room = Arc::clone(&room);
            thread::spawn(move || take(&room))
        };
        give(&room);
        waiter.join().unwrap();
        assert_eq!(room.pending(), 1);
    });
}

#[test]
fn two_take_turns_at_one_place() {
    check(|| {
        let room = Arc::new(RoomCell::new(1));
        let other = {
            let room = Arc::clone(&room);
            thread::spawn(move || {
                take(&room);
                give(&room);
            })
        };
        take(&room);
        give(&room);
        other.join().unwrap();
        assert_eq!(room.pending(), 0);
    });
}

const fn site(function: &'static str, operation: &'static str, effect: &'static str) -> Broken {
    Broken::Site { file: "room_cell.rs", function, operation, effect }
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        id: "room-take-by-store",
        broken: site("take", "compare_exchange", "store"),
        what: "two take one place",
        test: "two_take_turns_at_one_place",
    },
    Mutant {
        id: "room-give-by-store",
        broken: site("give", "compare_exchange", "store"),
        what: "an announcement made meanwhile is overwritten",
        test: "a_waiter_is_told_of_a_start",
    },
];

#[test]
fn mutants_are_caught() {
    all_are_caught(env!("CARGO_MANIFEST_DIR"), MUTANTS);
}
