//! Workers that are not needed leave, down to a floor of two; no submission is lost to one that leaves.
#![allow(clippy::let_underscore_future, reason = "to drop a handle is to detach its item")]

mod support;

use cmwq::{ClaimPolicy, Engine, EngineEvent, Queue, Scope};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};
use support::{Random, threads_named, until, watchdog, watchdog_for};

fn culling(name: &str) -> (Engine, Queue, Arc<AtomicU32>) {
    let culled = Arc::new(AtomicU32::new(0));
    let culled2 = Arc::clone(&culled);
    let engine = Engine::builder()
        .name(name)
        .idle_timeout(Duration::from_millis(1))
        .on_event(move |event| {
            if let EngineEvent::WorkersCulled { count, .. } = event {
                culled2.fetch_add(*count, Relaxed);
            }
        })
        .build()
        .unwrap();
    let queue = engine.queue(name).scope(Scope::System).build().unwrap();
    (engine, queue, culled)
}

/// Sixty-four items that are all inside at once.
fn burst(queue: &Queue) {
    let all = Arc::new(Barrier::new(64));
    let item = || {
        let all = Arc::clone(&all);
        queue.spawn(move || {
            cmwq::blocking(|| all.wait());
        })
    };
    let handles: Vec<_> = (0..64).map(|_| item()).collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
}

#[test]
fn after_a_burst_threads_shrink_to_the_floor() {
    let _watchdog = watchdog("after_a_burst_threads_shrink_to_the_floor");
    let (engine, queue, culled) = culling("cull");
    for _ in 0..5 {
        burst(&queue);
        assert!(engine.stats().pools[0].created >= 64);
        until("the floor", || engine.stats().pools[0].workers == 2);
        // Two workers and the manager; the threads end a moment after their workers.
        until("the threads' ends", || threads_named("cull/").len() == 3);
        let pool = &engine.stats().pools[0];
        assert_eq!(pool.created - pool.exited, 2);
        assert_eq!(u64::from(culled.load(Relaxed)), pool.exited);
    }
}

/// Eight threads, each of which submits after a random gap about as long as the time-out. Answers the longest wait.
fn sparse(queue: &Queue, items: u64) -> Duration {
    let (longest, ended) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    std::thread::scope(|threads| {
        for seed in 0..8 {
            let (longest, ended) = (&longest, &ended);
            threads.spawn(move || {
                let mut random = Random::new(seed);
                for _ in 0..items / 8 {
                    std::thread::sleep(Duration::from_micros(500 + random.below(1000)));
                    let (longest, ended, submitted) =
                        (Arc::clone(longest), Arc::clone(ended), Instant::now());
                    let _ = queue.spawn(move || {
                        longest.fetch_max(submitted.elapsed().as_micros() as u64, Relaxed);
                        ended.fetch_add(1, Relaxed);
                    });
                }
            });
        }
    });
    queue.flush().unwrap();
    assert_eq!(ended.load(Relaxed), items / 8 * 8, "an item is lost");
    Duration::from_micros(longest.load(Relaxed))
}

#[test]
fn no_submission_is_lost_to_a_worker_that_leaves() {
    let _watchdog = watchdog("no_submission_is_lost_to_a_worker_that_leaves");
    let (_engine, queue, _) = culling("sparse");
    burst(&queue);
    println!("longest wait of 10^4: {:?}", sparse(&queue, 10_000));
}

#[test]
#[ignore = "takes minutes"]
fn no_submission_of_a_million_is_lost_to_a_worker_that_leaves() {
    let _watchdog = watchdog_for("no_submission_of_a_million_is_lost", Duration::from_secs(1800));
    let (_engine, queue, _) = culling("million");
    println!("longest wait of 10^6: {:?}", sparse(&queue, 1_000_000));
}

#[test]
fn no_way_to_claim_a_worker_loses_a_submission() {
    let _watchdog = watchdog("no_way_to_claim_a_worker_loses_a_submission");
    for (name, claim) in ClaimPolicy::ALL {
        let engine = Engine::builder().claim(claim).idle_timeout(Duration::from_micros(200)).build().unwrap();
        let queue = engine.queue(name).scope(Scope::System).build().unwrap();
        burst(&queue);
        sparse(&queue, 2000);
    }
}
