//! The ways to broken promises that `cmwq check kick` finds, on the runtime's own threads, each stopped where the way
//! says: one schedule each. And the same schedules where the search finds nothing.

mod support;

use cmwq::bench::{Shape, Step, Stop, Stops, Who};
use cmwq::{ClaimPolicy, CoverPolicy, Engine, JoinHandle, Queue, Scope};
use cmwq_core::pool::record::{self, Failed, Replay};
use std::time::Duration;
use support::{HANG, until, watchdog};

/// As in the argument.
const TIMEOUT: Duration = Duration::from_millis(2);
/// How long nothing is seen to happen.
const QUIET: Duration = Duration::from_millis(30);

/// A design, as the runtime can be set up for it.
#[derive(Clone, Copy, Debug)]
struct Design {
    id: &'static str,
    shape: Shape,
    claim: ClaimPolicy,
    /// Whether each picker issues a wake-up of its own.
    own: bool,
}

const fn design(id: &'static str, shape: Shape, claim: ClaimPolicy, own: bool) -> Design {
    Design { id, shape, claim, own }
}

const UNDER_LOCK: Design = design("wake-under-lock", Shape::UnderLock, ClaimPolicy::Stay, true);
const OWN: Design = design("deferred-own", Shape::Deferred, ClaimPolicy::Stay, true);
const DEDUP: Design = design("deferred-dedup", Shape::Deferred, ClaimPolicy::Stay, false);
const KICKED: Design = design("kicked-dedup", Shape::Deferred, ClaimPolicy::Kicked, false);
const LEAVE: Design = design("leave-at-pick", Shape::Deferred, ClaimPolicy::Leave, true);
const FLAG: Design = design("flag", Shape::Deferred, ClaimPolicy::Flag, true);
const STAMP: Design = design("stamp", Shape::Deferred, ClaimPolicy::Stamp, true);
const COALESCE: Design = design("cmwq-coalesce", Shape::Inbox, ClaimPolicy::Kicked, false);

/// Two workers that sleep, and a culler that stands at its step.
struct World {
    /// Dropped first: the end of the engine needs the manager thread.
    culler: Option<Stop>,
    engine: Engine,
    queue: Queue,
    stops: Stops,
}

fn world(design: Design, floor: u32) -> World {
    // A third one may be made before the second is known; that is another setup.
    std::iter::repeat_with(|| boot(design, floor))
        .take(100)
        .flatten()
        .next()
        .expect("two workers in one of many")
}

fn boot(design: Design, floor: u32) -> Option<World> {
    let stops = Stops::default();
    let culler = (floor < 2).then(|| stops.stop_next(|at| at.step == Step::Culling));
    let engine = Engine::builder()
        .name(design.id)
        .shape(design.shape)
        .claim(design.claim)
        .help_wakeups(design.own)
        .cover(CoverPolicy::Eager)
        .idle_timeout(TIMEOUT)
        .idle_floor(floor)
        .record(1 << 20)
        .on_step(stops.hook())
        .build()
        .unwrap();
    let queue = engine.queue("kick").scope(Scope::System).build().unwrap();
    let world = World { culler, engine, queue, stops };
    until("workers sleep", || {
        let pool = &world.engine.stats().pools[0];
        // The first one may work alone while the thread that made it has still to say so.
        if pool.workers < 2 {
            world.queue.spawn(|| ()).join().unwrap();
        }
        pool.workers >= 2 && pool.active == 0 && pool.queued == 0
    });
    if let Some(culler) = &world.culler {
        assert!(culler.wait(HANG), "culling is due");
    }
    world.sleep(2).then_some(world)
}

impl World {
    /// Whether there are so many workers and nobody is up.
    fn sleep(&self, workers: u32) -> bool {
        let pool = &self.engine.stats().pools[0];
        pool.workers == workers && pool.active == 0
    }

    /// The time-out passes; then the culler goes on until so many are left.
    fn cull(&mut self, left: u32) {
        let Some(culler) = self.culler.take() else { return };
        std::thread::sleep(2 * TIMEOUT);
        culler.let_go();
        until("they have been told to end", || self.engine.stats().pools[0].workers == left);
    }

    /// What a fresh core says to the recording of this run.
    fn broken(&self) -> Option<&'static str> {
        let recordings = record::read(&self.engine.recording().expect("it records")).expect("a recording");
        match Replay::new(&recordings[0]).expect("a snapshot").find_map(Result::err) {
            Some((_, Failed::Invariant(broken))) => Some(broken.label),
            Some((_, failed)) => panic!("{failed}"),
            None => None,
        }
    }
}

/// A submission picks a worker and stops before it wakes it (or, waking under the lock, the woken worker stops before
/// it has the lock). The culler comes. Then everybody goes on. Answers whether the item is stranded.
fn is_stranded(design: Design, floor: u32) -> bool {
    let mut world = world(design, floor);
    let under_lock = design.shape == Shape::UnderLock;
    let stop = world.stops.stop_next(move |at| match under_lock {
        true => at.step == Step::Woken,
        false => at.who == Who::Other && matches!(at.step, Step::Decided | Step::Pushed),
    });
    let queue = world.queue.clone();
    let submitter = std::thread::spawn(move || queue.spawn(|| ()));
    assert!(stop.wait(HANG));
    let (spared, left) = match design.claim {
        ClaimPolicy::Stay | ClaimPolicy::Stamp => (0, floor),
        // It does not count as idle, and one more stays.
        ClaimPolicy::Leave => (1, floor + 1),
        _ => (1, floor.max(1)),
    };
    world.cull(left);
    stop.let_go();
    let item: JoinHandle<()> = submitter.join().unwrap();
    let stranded = floor == 0 && spared == 0;
    if stranded {
        until("they have ended", || world.engine.stats().pools[0].exited == 2);
        std::thread::sleep(QUIET);
        assert!(!item.is_finished() && world.sleep(0));
        assert_eq!(world.engine.stats().pools[0].queued, 1, "it is pending, and nobody lives or comes");
        assert_eq!(world.broken(), Some("B1 baton"));
        // The next submission finds the pool empty and calls for a worker.
        world.queue.spawn(|| ()).join().unwrap();
    }
    item.join().unwrap();
    if !stranded {
        assert_eq!(world.broken(), None);
    }
    stranded
}

#[test]
fn at_floor_zero_an_item_is_stranded_by_designs_that_leave_the_picked_in_reach() {
    let _watchdog = watchdog("at_floor_zero_an_item_is_stranded");
    for design in [UNDER_LOCK, OWN, DEDUP, STAMP] {
        assert!(is_stranded(design, 0), "{design:?}");
    }
}

#[test]
fn at_floor_zero_no_item_is_stranded_where_the_picked_is_out_of_reach() {
    let _watchdog = watchdog("at_floor_zero_no_item_is_stranded");
    for design in [KICKED, LEAVE, FLAG, COALESCE] {
        assert!(!is_stranded(design, 0), "{design:?}");
    }
}

#[test]
fn above_floor_zero_no_item_is_stranded() {
    let _watchdog = watchdog("above_floor_zero_no_item_is_stranded");
    for design in [UNDER_LOCK, OWN, DEDUP, KICKED, LEAVE, FLAG, STAMP, COALESCE] {
        for floor in [1, 2] {
            assert!(!is_stranded(design, floor), "{design:?}");
        }
    }
}

/// Two submissions. The first stops before its wake-up is issued; the second returns. Where each picker wakes for
/// itself, the woken worker takes both items and stops before it wakes the other. Then nothing happens until one of the
/// stopped threads goes on, although a worker sleeps that could help.
fn is_held_back(design: Design, floor: u32, worker_stops: bool) -> bool {
    let world = world(design, floor);
    let step = match design.id {
        "deferred-dedup" => Step::Claimed,
        "cmwq-coalesce" => Step::Pushed,
        _ => Step::Decided,
    };
    let submitter = world.stops.stop_next(move |at| at.who == Who::Other && at.step == step);
    let worker = worker_stops
        .then(|| world.stops.stop_next(|at| matches!(at.who, Who::Worker(_)) && at.step == Step::Decided));
    let queue = world.queue.clone();
    let first = std::thread::spawn(move || queue.spawn(|| ()));
    assert!(submitter.wait(HANG));
    let second = world.queue.spawn(|| ());
    if let Some(worker) = &worker {
        assert!(worker.wait(HANG));
    }
    let begun = std::time::Instant::now();
    while begun.elapsed() < QUIET && !second.is_finished() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let held = !second.is_finished();
    if held {
        let pool = &world.engine.stats().pools[0];
        assert!(pool.workers == 2 && pool.active < 2, "a worker sleeps: {pool:?}");
        assert!(submitter.is_reached() && world.broken().is_none(), "nothing is stranded");
    }
    drop((submitter, worker));
    second.join().unwrap();
    first.join().unwrap().join().unwrap();
    held
}

#[test]
fn an_item_is_held_back_by_a_stopped_submitter_where_others_rely_on_its_wake_up() {
    let _watchdog = watchdog("an_item_is_held_back_by_a_stopped_submitter");
    for design in [DEDUP, KICKED, LEAVE, COALESCE] {
        for floor in 0..3 {
            assert!(is_held_back(design, floor, false), "{design:?} {floor}");
        }
    }
}

#[test]
fn an_item_is_held_back_by_a_stopped_worker_where_each_picker_wakes_for_itself() {
    let _watchdog = watchdog("an_item_is_held_back_by_a_stopped_worker");
    for design in [OWN, FLAG, STAMP] {
        for floor in 0..3 {
            assert!(is_held_back(design, floor, true), "{design:?} {floor}");
            assert!(
                !is_held_back(design, floor, false),
                "{design:?} {floor}: one stopped thread is not enough"
            );
        }
    }
}

/// The cull that the reference is for: the wake-up is issued when its worker is gone. In the runtime it meets the slot,
/// which is never freed before the pool, and whoever has the slot by then.
#[test]
fn a_wake_up_that_comes_after_its_worker_has_gone_does_no_harm() {
    let _watchdog = watchdog("a_wake_up_that_comes_after_its_worker_has_gone_does_no_harm");
    let mut world = world(OWN, 0);
    let stop = world.stops.stop_next(|at| at.who == Who::Other && at.step == Step::Claimed);
    let queue = world.queue.clone();
    let submitter = std::thread::spawn(move || queue.spawn(|| ()));
    assert!(stop.wait(HANG));
    world.cull(0);
    until("they have gone", || world.engine.stats().pools[0].exited == 2);
    // New workers in the same slots.
    world.queue.spawn(|| ()).join().unwrap();
    stop.let_go();
    submitter.join().unwrap().join().unwrap();
    world.queue.spawn(|| ()).join().unwrap();
}
