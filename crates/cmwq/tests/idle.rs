//! An idle engine does nothing at all once its surplus workers have left.
#![allow(clippy::let_underscore_future, reason = "to drop a handle is to detach its item")]

mod support;

use cmwq::{Engine, WakeVia};
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;
use support::{until, watchdog};

/// Voluntary context switches of the engine's threads, by thread.
fn switches(prefix: &str) -> BTreeMap<String, u64> {
    let mut switches = BTreeMap::new();
    for task in fs::read_dir("/proc/self/task").unwrap() {
        let path = task.unwrap().path();
        let Ok(status) = fs::read_to_string(path.join("status")) else { continue };
        let field =
            |key: &str| status.lines().find_map(|line| line.strip_prefix(key)).unwrap().trim().to_owned();
        if field("Name:").starts_with(prefix) {
            let id = path.file_name().unwrap().to_string_lossy().into_owned();
            switches.insert(id, field("voluntary_ctxt_switches:").parse().unwrap());
        }
    }
    switches
}

fn stays_idle(via: WakeVia, time: Duration) {
    let name = if via == WakeVia::EventFd { "idlefd" } else { "idlefx" };
    let engine =
        Engine::builder().name(name).wake_via(via).idle_timeout(Duration::from_millis(1)).build().unwrap();
    let queues =
        [engine.queue("unbound").build().unwrap(), engine.queue("per-cpu").per_cpu().build().unwrap()];
    for queue in &queues {
        let sleep = || cmwq::blocking(|| std::thread::sleep(Duration::from_millis(2)));
        let handles: Vec<_> = (0..32).map(|_| queue.spawn(sleep)).collect();
        handles.into_iter().for_each(|handle| handle.join().unwrap());
    }
    let at_floor = || engine.stats().pools.iter().all(|pool| pool.workers <= 2 && pool.active == 0);
    until("the floor", at_floor);
    // The ends of threads and the manager's last look.
    std::thread::sleep(Duration::from_millis(100));
    let counts = || {
        let stats = engine.stats();
        let parks: u64 = stats.pools.iter().map(|pool| pool.parks).sum();
        (stats.manager_wakes, parks, switches(&format!("{name}/")))
    };
    let before = counts();
    std::thread::sleep(time);
    assert_eq!(counts(), before, "{via:?}: somebody woke");
    assert_eq!(queues[0].spawn(|| 4).join().unwrap(), 4);
}

#[test]
fn an_idle_engine_makes_no_wake_ups() {
    let _watchdog = watchdog("an_idle_engine_makes_no_wake_ups");
    stays_idle(WakeVia::Futex, Duration::from_secs(2));
    stays_idle(WakeVia::EventFd, Duration::from_secs(2));
}

#[test]
#[ignore = "takes 20 seconds"]
fn an_idle_engine_makes_no_wake_ups_for_long() {
    let _watchdog = watchdog("an_idle_engine_makes_no_wake_ups_for_long");
    stays_idle(WakeVia::Futex, Duration::from_secs(10));
    stays_idle(WakeVia::EventFd, Duration::from_secs(10));
}

/// Nor does an engine whose items are long: nobody watches them for ever.
#[test]
fn long_items_keep_nobody_awake() {
    let _watchdog = watchdog("long_items_keep_nobody_awake");
    let engine = Engine::builder().name("long").build().unwrap();
    let queue = engine.queue("long").build().unwrap();
    let (open, closed) = support::gate();
    let _ = queue.spawn(|| ());
    let _ = queue.spawn(move || support::pass(&closed));
    let _ = queue.spawn(|| ());
    std::thread::sleep(Duration::from_millis(300));
    let before = switches("long/");
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(switches("long/"), before);
    open.open();
    queue.flush().unwrap();
}
