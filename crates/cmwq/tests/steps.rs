//! Threads come to the named steps, and stop there for as long as they are told.

mod support;

use cmwq::bench::{Sleeper, Step, Stops, Who};
use cmwq::{CoverPolicy, Engine, Scope};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::{HANG, held, until, watchdog};

/// A life: workers are made, sleep, wake, run, and are culled. Every step names itself on the way.
#[test]
fn a_small_life_comes_to_every_step() {
    let _watchdog = watchdog("a_small_life_comes_to_every_step");
    let seen = Arc::new(Mutex::new(BTreeSet::new()));
    let engine = {
        let seen = Arc::clone(&seen);
        Engine::builder()
            .idle_timeout(Duration::from_millis(1))
            .idle_floor(0)
            .cover(CoverPolicy::Eager)
            .on_step(move |at| {
                seen.lock().unwrap().insert((format!("{:?}", at.step), matches!(at.who, Who::Worker(_))));
            })
            .build()
            .unwrap()
    };
    let queue = engine.queue("life").scope(Scope::System).build().unwrap();
    let work = cmwq::Work::new(|_| ());
    let _ = queue.queue_delayed(&work, Duration::from_millis(1));
    until("it has run", || !work.is_pending());
    for _ in 0..20 {
        let gates: Vec<_> = (0..3).map(|_| held(&queue)).collect();
        drop(gates);
        queue.flush().unwrap();
        until("one worker is left", || engine.stats().pools[0].workers <= 1);
    }
    let seen = seen.lock().unwrap();
    let others = [
        "Arming",
        "Pushed",
        "Locked",
        "Unlocking",
        "Decided",
        "Claimed",
        "Making",
        "Made",
        "Looking",
        "Culling",
    ];
    let workers = ["Locked", "Taken", "Unlocking", "Starting", "Ran", "Parking", "Woken", "Born", "Left"];
    let of =
        |steps: &[&str], worker| -> Vec<_> { steps.iter().map(|&step| (step.to_owned(), worker)).collect() };
    for step in [of(&others, false), of(&workers, true)].concat() {
        assert!(seen.contains(&step), "{step:?} is not among {seen:?}");
    }
}

/// The waker that has claimed the wake-up is stopped: the item waits for it, and runs when it goes on.
#[test]
fn a_stopped_waker_holds_the_item_back_until_it_goes_on() {
    let _watchdog = watchdog("a_stopped_waker_holds_the_item_back_until_it_goes_on");
    let stops = Stops::default();
    let engine = Engine::builder().on_step(stops.hook()).build().unwrap();
    let queue = engine.queue("stopped").scope(Scope::System).build().unwrap();
    queue.spawn(|| ()).join().unwrap();
    let sleeps = || engine.stats().pools[0].active == 0;
    until("workers sleep", sleeps);
    let stop = stops.stop_next(|at| {
        at.step == Step::Claimed && matches!(at.whom, Some(Sleeper::Worker(_))) && at.who == Who::Other
    });
    std::thread::scope(|scope| {
        let submitter = scope.spawn(|| queue.spawn(|| ()));
        assert!(stop.wait(HANG));
        std::thread::sleep(Duration::from_millis(20));
        assert!(sleeps() && !submitter.is_finished());
        stop.let_go();
        submitter.join().unwrap().join().unwrap();
    });
}

#[test]
fn a_hook_that_panics_stops_nothing() {
    let _watchdog = watchdog("a_hook_that_panics_stops_nothing");
    let engine = Engine::builder().on_step(|_| std::panic::resume_unwind(Box::new(()))).build().unwrap();
    let queue = engine.queue("panics").build().unwrap();
    assert_eq!(queue.spawn(|| 7).join().unwrap(), 7);
}
