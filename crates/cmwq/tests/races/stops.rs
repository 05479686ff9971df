//! Programs with real threads, which are stopped at random at the engine's named steps.

use crate::support::{Random, rounds, watchdog};
use cmwq::{Engine, Topology};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

/// Rounds of each program, unless they take longer than it may.
const ROUNDS: usize = 2_000;
const TIME_MAX: Duration = Duration::from_secs(5);

/// A program's engine, on a synthetic machine.
pub(crate) fn engine(machine: &str) -> Engine {
    Engine::builder().topology(Topology::synthetic(machine).unwrap()).on_step(|_| stop()).build().unwrap()
}

/// Runs a program many times.
pub(crate) fn race(name: &'static str, program: impl Fn()) {
    let _watchdog = watchdog(name);
    let (begin, mut nth) = (Instant::now(), 0);
    while nth < rounds(ROUNDS) && begin.elapsed() < TIME_MAX {
        program();
        nth += 1;
    }
    println!("{name}: {nth} rounds, {:.1} s", begin.elapsed().as_secs_f32());
}

fn below(bound: u64) -> u64 {
    static SEEDS: AtomicU64 = AtomicU64::new(1);
    thread_local! {
        static RANDOM: RefCell<Random> = RefCell::new(Random::new(SEEDS.fetch_add(1, Relaxed)));
    }
    RANDOM.with_borrow_mut(|random| random.below(bound))
}

/// Yes or no, at random.
pub(crate) fn toss() -> bool {
    below(2) == 1
}

/// Real threads come to it or not.
pub(crate) fn sometimes(_what: &str, _holds: bool) {}

/// The calling thread is at a step: mostly it goes on.
fn stop() {
    match below(64) {
        0 => thread::sleep(Duration::from_micros(50)),
        1..8 => thread::yield_now(),
        _ => {}
    }
}
