//! Whatever an engine's policies: a core of the promises holds.

mod support;

use cmwq::{
    ClaimPolicy, CoverPolicy, Engine, EngineBuilder, Queue, Scope, Submit, WaitPolicy, WakeVia, Work,
};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Barrier};
use std::time::Duration;
use support::{Random, watchdog};

const COVERS: [CoverPolicy; 4] =
    [CoverPolicy::Eager, CoverPolicy::Watched, CoverPolicy::Backlog(1), CoverPolicy::Backlog(8)];
const WAITS: [WaitPolicy; 4] = [WaitPolicy::Park, WaitPolicy::Pause, WaitPolicy::Yield, WaitPolicy::Adaptive];

fn items_run_and_are_waited_for(queue: &Queue) {
    let runs = Arc::new(AtomicU32::new(0));
    let runs2 = Arc::clone(&runs);
    let work = Work::new(move |_| {
        runs2.fetch_add(1, Relaxed);
    });
    let mut queued = 0;
    for round in 0..20 {
        queued += u32::from(queue.queue(&work) == Submit::Queued);
        if round % 3 == 0 {
            work.flush().unwrap();
        }
        assert_eq!(queue.spawn(move || round).join().unwrap(), round);
    }
    queue.flush().unwrap();
    assert_eq!(runs.load(Relaxed), queued);
}

fn items_wait_for_one_another(queue: &Queue, announced: bool) {
    let all = Arc::new(Barrier::new(8));
    let item = || {
        let all = Arc::clone(&all);
        let wait = move || all.wait().is_leader();
        queue.spawn(move || if announced { cmwq::blocking(wait) } else { wait() })
    };
    let handles: Vec<_> = (0..8).map(|_| item()).collect();
    assert_eq!(handles.into_iter().filter_map(|handle| handle.join().ok()).filter(|leads| *leads).count(), 1);
}

fn the_limit_holds(queue: &Queue, limit: u32) {
    let inside = Arc::new(AtomicU32::new(0));
    let handles: Vec<_> = (0..60)
        .map(|at| {
            let inside = Arc::clone(&inside);
            queue.spawn(move || {
                assert!(inside.fetch_add(1, Relaxed) < limit);
                if at % 10 == 0 {
                    cmwq::blocking(|| std::thread::sleep(Duration::from_micros(100)));
                }
                inside.fetch_sub(1, Relaxed);
            })
        })
        .collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
}

fn sparse_items_are_not_lost(queue: &Queue) {
    std::thread::scope(|threads| {
        for seed in 0..3 {
            threads.spawn(move || {
                let mut random = Random::new(seed);
                for _ in 0..15 {
                    std::thread::sleep(Duration::from_micros(random.below(400)));
                    queue.spawn(|| ()).join().unwrap();
                }
            });
        }
    });
}

/// The core of the promises, on an engine built so.
fn check(builder: EngineBuilder) {
    let engine = builder.idle_timeout(Duration::from_micros(300)).build().unwrap();
    let unbound = engine.queue("unbound").scope(Scope::System).build().unwrap();
    let per_cpu = engine.queue("per-cpu").per_cpu().build().unwrap();
    let limited = engine.queue("limited").scope(Scope::System).max_active(2).build().unwrap();
    items_run_and_are_waited_for(&unbound);
    items_run_and_are_waited_for(&per_cpu);
    items_wait_for_one_another(&unbound, false);
    items_wait_for_one_another(&per_cpu, true);
    the_limit_holds(&limited, 2);
    sparse_items_are_not_lost(&unbound);
    sparse_items_are_not_lost(&per_cpu);
    per_cpu.drain().unwrap();
    unbound.destroy().unwrap();
}

fn every_combination(via: WakeVia, help: bool) {
    for cover in COVERS {
        for (_, claim) in ClaimPolicy::ALL {
            for wait in WAITS {
                check(
                    Engine::builder().cover(cover).claim(claim).wait(wait).wake_via(via).help_wakeups(help),
                );
            }
        }
    }
}

#[test]
fn the_promises_hold_with_futexes() {
    let _watchdog = watchdog("the_promises_hold_with_futexes");
    every_combination(WakeVia::Futex, false);
}

#[test]
fn the_promises_hold_with_eventfds() {
    let _watchdog = watchdog("the_promises_hold_with_eventfds");
    every_combination(WakeVia::EventFd, false);
}

#[test]
fn the_promises_hold_with_helped_wake_ups() {
    let _watchdog = watchdog("the_promises_hold_with_helped_wake_ups");
    every_combination(WakeVia::EventFd, true);
}
