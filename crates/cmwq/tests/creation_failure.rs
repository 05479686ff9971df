//! When no thread can be created, nothing is lost: what was queued runs as soon as one can be.
#![allow(clippy::let_underscore_future, reason = "to drop a handle is to detach its item")]

mod support;

use cmwq::bench::refuse_creation;
use cmwq::{Engine, EngineEvent, Scope, WakeVia};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use support::{gate, is_alone, pass, run_alone, skip, until, watchdog};

/// The switch is the process's.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

struct Refusing;

impl Refusing {
    fn begin() -> Self {
        refuse_creation(true);
        Refusing
    }
}

impl Drop for Refusing {
    fn drop(&mut self) {
        refuse_creation(false);
    }
}

fn engine(failures: &Arc<AtomicU32>, via: WakeVia) -> Engine {
    let failures = Arc::clone(failures);
    Engine::builder()
        .create_cooldown(Duration::from_millis(5))
        .wake_via(via)
        .on_event(move |event| {
            if let EngineEvent::WorkerCreationFailed { pool, error, .. } = event {
                assert!(!pool.is_empty() && !error.is_empty());
                failures.fetch_add(1, Relaxed);
            }
        })
        .build()
        .unwrap()
}

fn refused(engine: &Engine) -> u64 {
    engine.stats().pools.iter().map(|pool| pool.create_failures).sum()
}

#[test]
fn a_first_worker_that_cannot_be_made_is_tried_again() {
    let _watchdog = watchdog("a_first_worker_that_cannot_be_made_is_tried_again");
    let _alone = alone();
    for via in [WakeVia::Futex, WakeVia::EventFd] {
        let failures = Arc::default();
        let engine = engine(&failures, via);
        let queue = engine.queue("first").build().unwrap();
        let refusing = Refusing::begin();
        let handles: Vec<_> = (0..100).map(|at| queue.spawn(move || at)).collect();
        until("three attempts", || refused(&engine) >= 3);
        assert!(handles.iter().all(|handle| !handle.is_finished()));
        drop(refusing);
        let sum: i32 = handles.into_iter().map(|handle| handle.join().unwrap()).sum();
        assert_eq!(sum, 4950);
        assert_eq!(u64::from(failures.load(Relaxed)), refused(&engine));
    }
}

#[test]
fn later_workers_that_cannot_be_made_are_tried_again() {
    let _watchdog = watchdog("later_workers_that_cannot_be_made_are_tried_again");
    let _alone = alone();
    for scope in [None, Some(Scope::System)] {
        let failures = Arc::default();
        let engine = engine(&failures, WakeVia::Futex);
        let builder = engine.queue("later");
        let queue = match scope {
            Some(scope) => builder.scope(scope).build().unwrap(),
            None => builder.per_cpu().build().unwrap(),
        };
        let refusing = Refusing::begin();
        let (open, closed) = gate();
        // It blocks what there is of workers until others can be made.
        let items: Vec<_> = (0..20)
            .map(|_| {
                let queue = queue.clone();
                move || queue.spawn(|| ()).join()
            })
            .collect();
        let first = queue.spawn(move || cmwq::blocking(|| pass(&closed)));
        let handles: Vec<_> = items.into_iter().map(|item| queue.spawn(item)).collect();
        std::thread::sleep(Duration::from_millis(30));
        drop(refusing);
        handles.into_iter().for_each(|handle| handle.join().unwrap().unwrap());
        open.open();
        first.join().unwrap();
        assert!(failures.load(Relaxed) > 0);
    }
}

#[test]
fn creation_that_fails_now_and_then_loses_nothing() {
    let _watchdog = watchdog("creation_that_fails_now_and_then_loses_nothing");
    let _alone = alone();
    let failures = Arc::default();
    let engine = Engine::builder()
        .create_cooldown(Duration::from_micros(200))
        .idle_timeout(Duration::from_micros(500))
        .build()
        .unwrap();
    let _: &Arc<AtomicU32> = &failures;
    let queue = engine.queue("flaky").scope(Scope::System).build().unwrap();
    let ended = Arc::new(AtomicU32::new(0));
    for round in 0..300 {
        refuse_creation(round % 3 != 0);
        for at in 0..8 {
            let ended = Arc::clone(&ended);
            let _ = queue.spawn(move || {
                if at % 4 == 0 {
                    std::thread::sleep(Duration::from_micros(300));
                }
                ended.fetch_add(1, Relaxed);
            });
        }
        if round % 3 == 0 {
            queue.flush().unwrap();
        }
    }
    refuse_creation(false);
    queue.flush().unwrap();
    assert_eq!(ended.load(Relaxed), 2400);
}

#[test]
fn an_engine_ends_although_it_never_had_a_worker() {
    let _watchdog = watchdog("an_engine_ends_although_it_never_had_a_worker");
    let _alone = alone();
    let refusing = Refusing::begin();
    let engine = engine(&Arc::default(), WakeVia::Futex);
    let queue = engine.queue("none").build().unwrap();
    let ran = Arc::new(AtomicU32::new(0));
    let ran2 = Arc::clone(&ran);
    let _ = queue.spawn(move || ran2.fetch_add(1, Relaxed));
    until("an attempt", || refused(&engine) > 0);
    let error = queue.destroy_within(Duration::from_millis(20)).unwrap_err();
    assert!(error.running.is_empty(), "it is queued, and does not run");
    let ender = std::thread::spawn(move || drop((error, engine)));
    std::thread::sleep(Duration::from_millis(20));
    assert!(!ender.is_finished(), "the drop waits for the item");
    drop(refusing);
    ender.join().unwrap();
    assert_eq!(ran.load(Relaxed), 1);
}

/// The same by the system's own limit, in a process of its own.
#[test]
fn a_limit_of_the_system_is_survived() {
    let _watchdog = watchdog("a_limit_of_the_system_is_survived");
    if !is_alone() {
        let output = run_alone("a_limit_of_the_system_is_survived");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if let Some(reason) = text.lines().find_map(|line| line.strip_prefix("skipped: ")) {
            skip(reason);
        }
        assert!(output.status.success(), "{output:?}");
        return;
    }
    let engine = engine(&Arc::default(), WakeVia::Futex);
    let queue = engine.queue("limit").build().unwrap();
    // A user without processes of its own, so that this process's threads are all that counts.
    // SAFETY: changes the user of this process, which exists for this test alone.
    let changed = unsafe { libc::setresuid(54_321, 54_321, 54_321) } == 0;
    let limit = libc::rlimit { rlim_cur: 1, rlim_max: 1 };
    // SAFETY: the limit is valid for the call.
    let limited = unsafe { libc::setrlimit(libc::RLIMIT_NPROC, &limit) } == 0;
    if !changed || !limited || std::thread::Builder::new().spawn(|| ()).is_ok() {
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"skipped: creation_failure: RLIMIT_NPROC does not bind here\n",
        );
        return;
    }
    let handle = queue.spawn(|| 1);
    until("attempts", || refused(&engine) >= 2);
    // Once lowered, the limit cannot be raised without privileges: the item is left pending.
    assert!(!handle.is_finished());
    std::process::exit(0);
}

#[test]
fn a_real_time_queue_whose_threads_cannot_be_made_is_not_built() {
    let _watchdog = watchdog("a_real_time_queue_whose_threads_cannot_be_made_is_not_built");
    let _alone = alone();
    let failures = Arc::default();
    let engine = engine(&failures, WakeVia::Futex);
    let builder = || engine.queue("rt").scope(Scope::System).real_time(cmwq::SchedPolicy::Fifo(1));
    let refusing = Refusing::begin();
    let refused = builder().build().unwrap_err();
    assert_eq!(refused.kind(), cmwq::BuildErrorKind::Thread);
    assert!(refused.to_string().contains("\"rt\""), "{refused}");
    // Its own cool-down holds for the next one.
    let early = builder().build().unwrap_err();
    assert_eq!(early.kind(), cmwq::BuildErrorKind::Thread);
    drop(refusing);
    let mut built = None;
    until("it can be built", || {
        built = builder().build().ok();
        built.is_some()
    });
    assert_eq!(built.unwrap().spawn(|| 6 * 7).join().unwrap(), 42);
}
