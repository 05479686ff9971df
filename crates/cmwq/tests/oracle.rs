//! Random calls of one to four threads, each beside a model of its own; see the oracle.

mod support;
#[path = "support/oracle.rs"]
mod the_oracle;

use cmwq::Engine;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use support::{Random, watchdog_for};
use the_oracle::Oracle;

/// Calls in one sequence, after which queues and works are made anew.
const SEQUENCE: u64 = 2_000;

fn sequence(engine: &Engine, seed: u64, calls: u64) {
    let mut random = Random::new(seed);
    let mut oracle = Oracle::new(engine, seed % 2 == 1);
    for _ in 0..calls {
        oracle.step((random.next() >> 20) as u32);
    }
    oracle.finish();
}

fn calls(total: u64, time: Duration) {
    let (done, begun) = (AtomicU64::new(0), Instant::now());
    let mut seed = std::env::var("CMWQ_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(1u64);
    while done.load(Ordering::Relaxed) < total || begun.elapsed() < time {
        let engine = Engine::new().unwrap();
        let threads = 1 + seed % 4;
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (engine, done) = (&engine, &done);
                scope.spawn(move || {
                    sequence(engine, seed << 8 | thread, SEQUENCE);
                    done.fetch_add(SEQUENCE, Ordering::Relaxed);
                });
            }
        });
        seed += 1;
    }
    println!("{} calls, seeds up to {seed}, {:?}", done.load(Ordering::Relaxed), begun.elapsed());
}

/// `CMWQ_CALLS` calls, or else a million.
#[test]
fn calls_answer_as_the_model_says() {
    let _watchdog = watchdog_for("calls_answer_as_the_model_says", Duration::from_secs(600));
    let total = std::env::var("CMWQ_CALLS").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    calls(total, Duration::ZERO);
}

/// For `CMWQ_SECONDS`, or else a minute.
#[test]
#[ignore = "takes a minute, or as long as it is told"]
fn calls_answer_as_the_model_says_for_long() {
    let seconds = std::env::var("CMWQ_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let time = Duration::from_secs(seconds);
    let _watchdog = watchdog_for("calls_answer_as_the_model_says_for_long", time + Duration::from_secs(600));
    calls(0, time);
}
