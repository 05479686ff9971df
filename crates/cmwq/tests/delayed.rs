//! Delayed items: when they run, and who gets them.

mod support;

use cmwq::{Engine, EngineEvent, Queue, Refusal, Submit, Work};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use support::{Random, counting, gate, pass, rounds, until, watchdog};

const LONG: Duration = Duration::from_secs(3600);

fn setup() -> (Engine, Queue) {
    let engine = Engine::builder().name("delay").build().unwrap();
    let queue = engine.queue("delay").build().unwrap();
    (engine, queue)
}

#[test]
fn a_delayed_item_runs_once_and_never_early() {
    let _watchdog = watchdog("a_delayed_item_runs_once_and_never_early");
    let (_engine, queue) = setup();
    for delay in [0u64, 1, 10, 100, 1_000, 20_000, 70_000].map(Duration::from_micros) {
        let (tell, told) = channel();
        let work = Work::new(move |_| tell.send(Instant::now()).unwrap());
        let armed = Instant::now();
        assert_eq!(queue.queue_delayed(&work, delay), Submit::Queued);
        let ran = told.recv().unwrap();
        assert!(ran - armed >= delay, "{delay:?}: early by {:?}", delay - (ran - armed));
        work.flush().unwrap();
        assert!(told.try_recv().is_err(), "once");
    }
}

#[test]
fn items_come_in_the_order_of_their_times() {
    let _watchdog = watchdog("items_come_in_the_order_of_their_times");
    let engine = Engine::new().unwrap();
    let queue = engine.queue("ordered").ordered().build().unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let works: Vec<Work> = (0..8)
        .map(|n| {
            let order = Arc::clone(&order);
            Work::new(move |_| order.lock().unwrap().push(n))
        })
        .collect();
    for (n, work) in works.iter().enumerate() {
        let delay = Duration::from_millis(20 * (8 - n as u64));
        assert_eq!(queue.queue_delayed(work, delay), Submit::Queued);
    }
    until("all have run", || order.lock().unwrap().len() == 8);
    assert_eq!(*order.lock().unwrap(), (0..8).rev().collect::<Vec<_>>());
}

#[test]
fn a_delayed_item_is_pending_and_keeps_its_time() {
    let _watchdog = watchdog("a_delayed_item_is_pending_and_keeps_its_time");
    let (_engine, queue) = setup();
    let (work, runs) = counting();
    assert_eq!(queue.queue_delayed(&work, LONG), Submit::Queued);
    assert!(work.is_pending());
    assert_eq!(queue.queue_delayed(&work, Duration::from_millis(1)), Submit::AlreadyPending);
    assert_eq!(queue.queue(&work), Submit::AlreadyPending);
    queue.flush().unwrap();
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    assert!(work.cancel());
    assert!(!work.cancel(), "it is cancelled once");
    assert!(!work.is_pending());
}

/// A delay of zero does not go by the clock.
#[test]
fn no_delay_is_now() {
    let _watchdog = watchdog("no_delay_is_now");
    let (engine, queue) = setup();
    let (work, runs) = counting();
    queue.spawn(|| ()).join().unwrap();
    let wakes = engine.stats().manager_wakes;
    for n in 1..=100 {
        assert_eq!(queue.queue_delayed(&work, Duration::ZERO), Submit::Queued);
        assert!(work.flush().is_ok());
        assert_eq!(queue.mod_delayed(&work, Duration::ZERO), Ok(false));
        assert!(work.flush().is_ok());
        assert_eq!(runs.load(Ordering::SeqCst), 2 * n);
    }
    assert!(engine.stats().manager_wakes < wakes + 100, "no timer was used");
}

#[test]
fn a_flush_queues_a_delayed_item_at_once() {
    let _watchdog = watchdog("a_flush_queues_a_delayed_item_at_once");
    let (_engine, queue) = setup();
    let (work, runs) = counting();
    assert_eq!(queue.queue_delayed(&work, LONG), Submit::Queued);
    assert!(work.flush().unwrap());
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert!(!work.flush().unwrap(), "idle");
}

#[test]
fn modifying_tells_whether_it_was_pending_and_moves_it() {
    let _watchdog = watchdog("modifying_tells_whether_it_was_pending_and_moves_it");
    let (engine, queue) = setup();
    let (work, runs) = counting();
    assert_eq!(queue.mod_delayed(&work, LONG), Ok(false));
    assert_eq!(queue.mod_delayed(&work, LONG), Ok(true));
    assert_eq!(queue.mod_delayed(&work, Duration::from_millis(1)), Ok(true));
    until("it runs at the new time", || runs.load(Ordering::SeqCst) == 1);

    // From the list of a busy queue, where it does not start.
    let narrow = engine.queue("narrow").ordered().build().unwrap();
    let (open, closed) = gate();
    let blocked = narrow.spawn(move || pass(&closed));
    assert_eq!(narrow.queue(&work), Submit::Queued);
    assert_eq!(queue.mod_delayed(&work, Duration::ZERO), Ok(true), "to another queue");
    until("it runs there", || runs.load(Ordering::SeqCst) == 2);
    open.open();
    blocked.join().unwrap();
    narrow.flush().unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 2, "and only there");
}

/// Whoever waits for an instance that is put off again and again is released at the first time.
#[test]
fn a_flush_does_not_wait_for_what_was_put_off() {
    let _watchdog = watchdog("a_flush_does_not_wait_for_what_was_put_off");
    let (engine, queue) = setup();
    let narrow = engine.queue("narrow").ordered().build().unwrap();
    let (work, _runs) = counting();
    let (open, closed) = gate();
    let blocked = narrow.spawn(move || pass(&closed));
    assert_eq!(narrow.queue(&work), Submit::Queued);
    let (tell, told) = channel();
    let waiter = std::thread::spawn({
        let work = work.clone();
        move || {
            tell.send(()).unwrap();
            work.flush().unwrap()
        }
    });
    told.recv().unwrap();
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(queue.mod_delayed(&work, LONG), Ok(true));
    waiter.join().unwrap();
    work.cancel();
    open.open();
    blocked.join().unwrap();
}

#[test]
fn a_delayed_item_that_runs_meanwhile_runs_again_afterwards() {
    let _watchdog = watchdog("a_delayed_item_that_runs_meanwhile_runs_again_afterwards");
    let (_engine, queue) = setup();
    let inside = Arc::new(AtomicUsize::new(0));
    let runs = Arc::new(AtomicUsize::new(0));
    let (i, r) = (Arc::clone(&inside), Arc::clone(&runs));
    let work = Work::new(move |_| {
        assert_eq!(i.fetch_add(1, Ordering::SeqCst), 0, "never twice at once");
        std::thread::sleep(Duration::from_millis(20));
        i.fetch_sub(1, Ordering::SeqCst);
        r.fetch_add(1, Ordering::SeqCst);
    });
    assert_eq!(queue.queue(&work), Submit::Queued);
    until("it runs", || work.is_running());
    assert_eq!(queue.queue_delayed(&work, Duration::from_millis(1)), Submit::Queued);
    until("it has run twice", || runs.load(Ordering::SeqCst) == 2);
}

/// A work that queues itself for later, as a kernel driver polls.
#[test]
fn an_item_may_delay_itself() {
    let _watchdog = watchdog("an_item_may_delay_itself");
    let (_engine, queue) = setup();
    let (tell, told) = channel();
    let again = queue.clone();
    let work = Work::new(move |me: &Work| {
        tell.send(()).unwrap();
        assert_eq!(again.queue_delayed(me, Duration::from_millis(1)), Submit::Queued);
    });
    assert_eq!(queue.queue(&work), Submit::Queued);
    for _ in 0..10 {
        told.recv().unwrap();
    }
    work.cancel_sync().unwrap();
    while told.try_recv().is_ok() {}
    std::thread::sleep(Duration::from_millis(20));
    assert!(told.try_recv().is_err(), "it is over");
}

/// With the timer firing at every moment of a cancel or a modify: runs and cancels add up.
#[test]
fn every_arming_runs_or_is_taken_back() {
    let _watchdog = watchdog("every_arming_runs_or_is_taken_back");
    let (_engine, queue) = setup();
    let (work, runs) = counting();
    let (queued, taken) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let (queue, work, queued, taken) = (&queue, &work, &queued, &taken);
            scope.spawn(move || {
                let mut random = Random::new(seed);
                for _ in 0..rounds(1_000) {
                    let delay = Duration::from_micros(random.below(150));
                    if random.below(10) == 0 {
                        std::thread::sleep(Duration::from_micros(random.below(200)));
                    }
                    match random.below(4) {
                        0 | 1 if queue.queue_delayed(work, delay) == Submit::Queued => {
                            queued.fetch_add(1, Ordering::SeqCst);
                        }
                        2 if work.cancel() => {
                            taken.fetch_add(1, Ordering::SeqCst);
                        }
                        3 => match queue.mod_delayed(work, delay) {
                            Ok(true) => {}
                            Ok(false) => {
                                queued.fetch_add(1, Ordering::SeqCst);
                            }
                            Err(refusal) => panic!("{refusal}"),
                        },
                        _ => {}
                    }
                }
            });
        }
    });
    let _ = work.flush();
    let _ = work.flush();
    assert!(!work.is_pending() && !work.is_running());
    let (queued, taken) = (queued.load(Ordering::SeqCst), taken.load(Ordering::SeqCst));
    assert_eq!(runs.load(Ordering::SeqCst), queued - taken, "{queued} queued, {taken} taken back");
    assert!(taken > 0 && queued > taken, "{queued} queued, {taken} taken back");
}

#[test]
fn a_destroyed_queue_drops_what_is_delayed_and_says_so() {
    let _watchdog = watchdog("a_destroyed_queue_drops_what_is_delayed_and_says_so");
    let dropped = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&dropped);
    let engine = Engine::builder()
        .on_event(move |event| {
            if let EngineEvent::DelayedDropped { queue, place, refusal } = event {
                seen.lock().unwrap().push((queue.clone(), place.clone(), *refusal));
            }
        })
        .build()
        .unwrap();
    let (queue, other) = (engine.queue("gone").build().unwrap(), engine.queue("stays").build().unwrap());
    let ((work, runs), (left, _)) = (counting(), counting());
    assert_eq!(queue.queue_delayed(&work, LONG), Submit::Queued);
    let line = line!() - 1;
    assert_eq!(other.queue_delayed(&left, LONG), Submit::Queued);
    let handle = queue.clone();
    queue.destroy().unwrap();
    assert!(!work.is_pending(), "it can be queued elsewhere");
    assert!(left.is_pending(), "another queue's timers stay");
    let told = dropped.lock().unwrap().clone();
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].0.as_str(), told[0].2), ("gone", Refusal::Destroyed));
    assert!(told[0].1.contains(&format!("delayed.rs:{line}:")), "{}", told[0].1);
    assert_eq!(handle.queue_delayed(&work, LONG), Submit::Refused(Refusal::Destroyed));
    assert_eq!(handle.mod_delayed(&work, LONG), Err(Refusal::Destroyed));
    assert_eq!(other.queue(&work), Submit::Queued);
    work.flush().unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

/// The clock runs out while the queue drains: refused, as any other submission from outside, and free to be queued
/// again.
#[test]
fn a_draining_queue_refuses_what_is_due() {
    let _watchdog = watchdog("a_draining_queue_refuses_what_is_due");
    let is_told = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&is_told);
    let tell = move |event: &EngineEvent| {
        if matches!(event, EngineEvent::DelayedDropped { refusal: Refusal::Draining, .. }) {
            seen.store(true, Ordering::SeqCst);
        }
    };
    let engine = Engine::builder().on_event(tell).build().unwrap();
    let queue = engine.queue("drained").build().unwrap();
    let (work, runs) = counting();
    let (open, closed) = gate();
    let _detached = queue.spawn(move || pass(&closed));
    assert_eq!(queue.queue_delayed(&work, Duration::from_millis(30)), Submit::Queued);
    std::thread::scope(|scope| {
        scope.spawn(|| queue.drain().unwrap());
        until("it is dropped", || is_told.load(Ordering::SeqCst));
        until("it is free", || !work.is_pending());
        open.open();
    });
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    assert_eq!(queue.queue(&work), Submit::Queued);
    work.flush().unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

/// The function is dropped with the last of: handles, timers.
#[test]
fn a_timer_keeps_its_item() {
    let _watchdog = watchdog("a_timer_keeps_its_item");
    let (_engine, queue) = setup();
    let (work, runs) = counting();
    assert_eq!(queue.queue_delayed(&work, Duration::from_millis(20)), Submit::Queued);
    drop(work);
    until("it runs without a handle", || runs.load(Ordering::SeqCst) == 1);
    until("and is freed", || Arc::strong_count(&runs) == 1);

    let (work, runs) = counting();
    assert_eq!(queue.queue_delayed(&work, LONG), Submit::Queued);
    assert!(work.cancel());
    drop(work);
    assert_eq!(Arc::strong_count(&runs), 1, "a cancelled one is freed with its last handle");
}

/// A timer wakes the manager once, and nobody before that or after it.
#[test]
fn an_armed_timer_wakes_nobody_before_its_time() {
    let _watchdog = watchdog("an_armed_timer_wakes_nobody_before_its_time");
    let engine = Engine::builder().idle_timeout(Duration::from_millis(1)).build().unwrap();
    let queue = engine.queue("quiet").build().unwrap();
    let (work, runs) = counting();
    queue.spawn(|| ()).join().unwrap();
    let (other, _) = counting();
    assert_eq!(queue.queue_delayed(&other, LONG), Submit::Queued);
    assert!(other.cancel());
    assert_eq!(queue.queue_delayed(&work, Duration::from_millis(1500)), Submit::Queued);
    std::thread::sleep(Duration::from_millis(300));
    let wakes = engine.stats().manager_wakes;
    // What is due later than what the manager waits for is not its business yet.
    let later: Vec<Work> = (0..20).map(|_| counting().0).collect();
    for work in &later {
        assert_eq!(queue.queue_delayed(work, LONG), Submit::Queued);
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(later.iter().all(Work::cancel));
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(engine.stats().manager_wakes, wakes);
    until("it runs", || runs.load(Ordering::SeqCst) == 1);
    std::thread::sleep(Duration::from_millis(200));
    let wakes = engine.stats().manager_wakes;
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(engine.stats().manager_wakes, wakes, "nothing is armed");
}

#[test]
fn the_cpu_of_a_delayed_item_can_be_chosen() {
    let _watchdog = watchdog("the_cpu_of_a_delayed_item_can_be_chosen");
    let engine = Engine::new().unwrap();
    let queue = engine.queue("cpus").per_cpu().build().unwrap();
    let (tell, told) = channel();
    let work = Work::new(move |_| tell.send(std::thread::current().name().unwrap().to_owned()).unwrap());
    for cpu in engine.topology().cpus().iter().take(4) {
        assert_eq!(queue.queue_delayed_on(cpu.0, &work, Duration::from_millis(2)), Submit::Queued);
        assert!(told.recv().unwrap().contains(&format!("cpu{}:", cpu.0)));
        let _ = work.flush();
        assert!(queue.mod_delayed_on(cpu.0, &work, Duration::from_millis(2)).is_ok());
        assert!(told.recv().unwrap().contains(&format!("cpu{}:", cpu.0)));
        let _ = work.flush();
    }
    assert_eq!(queue.queue_delayed_on(1 << 20, &work, LONG), Submit::Refused(Refusal::UnknownCpu));
    assert_eq!(queue.mod_delayed_on(1 << 20, &work, LONG), Err(Refusal::UnknownCpu));
    for node in engine.topology().nodes() {
        let usable = node.cpus.iter().any(|cpu| engine.topology().cpus().contains(cpu));
        let answer = queue.queue_node(node.id.0, &work);
        if usable {
            assert_eq!(answer, Submit::Queued);
            let name = told.recv().unwrap();
            let cpu: u32 = name.split("cpu").nth(1).unwrap().split(':').next().unwrap().parse().unwrap();
            assert!(node.cpus.contains(cmwq_sys::topology::CpuId(cpu)), "{name}");
            let _ = work.flush();
        } else {
            assert_eq!(answer, Submit::Refused(Refusal::UnknownNode));
        }
    }
    assert_eq!(queue.queue_node(1 << 20, &work), Submit::Refused(Refusal::UnknownNode));
}
