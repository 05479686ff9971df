//! What is kept alive, and for whom: a queue for the items that are flushed or on their way, a sleeper for its waker.

mod support;

use cmwq::bench::{Sleeper, Step, Stops, Who};
use cmwq::{Engine, Queue, Scope, Submit, Work};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread::ScopedJoinHandle;
use support::{Gate, HANG, counting, gate, held, pass, this_thread, until, until_asleep, watchdog};

/// A work whose first run stays inside until the gate is opened, queued and begun.
fn held_work(queue: &Queue) -> (Work, Gate, Arc<AtomicUsize>) {
    let (open, closed) = gate();
    let (started, begun) = gate();
    let (closed, started) = (Mutex::new(closed), Mutex::new(Some(started)));
    let runs = Arc::new(AtomicUsize::new(0));
    let ended = Arc::clone(&runs);
    let work = Work::new(move |_| {
        drop(started.lock().unwrap().take());
        pass(&closed.lock().unwrap());
        ended.fetch_add(1, SeqCst);
    });
    assert_eq!(queue.queue(&work), Submit::Queued);
    pass(&begun);
    (work, open, runs)
}

/// Runs a body on a thread of its own and waits until it sleeps there.
fn asleep<'scope, T: Send + 'scope>(
    threads: &'scope std::thread::Scope<'scope, '_>,
    body: impl FnOnce() -> T + Send + 'scope,
) -> ScopedJoinHandle<'scope, T> {
    let (tell, told) = channel();
    let handle = threads.spawn(move || {
        tell.send(this_thread()).unwrap();
        body()
    });
    until_asleep(&told.recv().unwrap());
    handle
}

/// In the kernel a flush of an item is an item of the queue, which must count as one. Here it is a number that is
/// waited for: what counts is the item, until those who flush it have been told.
#[test]
fn a_queue_stays_until_the_flushers_of_its_items_are_told() {
    let _watchdog = watchdog("a_queue_stays_until_the_flushers_of_its_items_are_told");
    let engine = Engine::new().unwrap();
    for round in 0..100 {
        let queue = engine.queue("flushed").max_active(1).scope(Scope::System).build().unwrap();
        let (running, open, runs) = held_work(&queue);
        let (waiting, waited) = counting();
        assert_eq!(queue.queue(&waiting), Submit::Queued);
        std::thread::scope(|threads| {
            let (running, waiting) = (&running, &waiting);
            let flushers =
                [threads.spawn(|| running.flush().unwrap()), threads.spawn(|| waiting.flush().unwrap())];
            let destroyer = threads.spawn(move || {
                queue.destroy().unwrap();
                // Nobody sees them run any more, nor finds something to wait for.
                assert!(!running.is_running() && !waiting.is_running());
                assert!(!running.flush().unwrap() && !waiting.flush().unwrap());
            });
            if round % 10 == 0 {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            assert!(!destroyer.is_finished(), "the item is inside");
            open.open();
            destroyer.join().unwrap();
            assert!(flushers.into_iter().all(|flusher| flusher.join().is_ok()));
        });
        assert_eq!((runs.load(SeqCst), waited.load(SeqCst)), (1, 1));
    }
}

/// A submission that found its item running has left the push to that run's end. Until then the item is in no list of
/// the queue's pool, and its arrival alone keeps the queue's pwq from being given to the next queue.
#[test]
fn a_pwq_is_kept_for_an_item_that_is_still_to_be_pushed() {
    let _watchdog = watchdog("a_pwq_is_kept_for_an_item_that_is_still_to_be_pushed");
    let engine = Engine::new().unwrap();
    let first = engine.queue("first").scope(Scope::System).build().unwrap();
    for _ in 0..20 {
        let left = engine.queue("left").scope(Scope::System).build().unwrap();
        let (work, open, runs) = held_work(&first);
        assert_eq!(left.queue(&work), Submit::Queued);
        std::thread::scope(|threads| {
            let dropper = asleep(threads, move || drop(left));
            assert!(!dropper.is_finished(), "an item is on its way into the queue");
            // It would get the pwq, and its flush would count the other's item.
            let next = engine.queue("next").scope(Scope::System).build().unwrap();
            let gate = held(&next);
            let flusher = asleep(threads, move || next.flush().unwrap());
            open.open();
            dropper.join().unwrap();
            assert_eq!(runs.load(SeqCst), 2, "it has run once more, in the queue that is gone");
            assert!(!flusher.is_finished(), "its own item is inside");
            drop(gate);
            flusher.join().unwrap();
        });
    }
}

/// A worker of another engine pushes an item that it found handed over, has claimed the wake-up that the push owes, and
/// is stopped. The sleeper was not asleep yet: it sees the claim, runs the item, and its engine ends.
#[test]
fn a_late_waker_finds_its_sleeper_though_the_engine_is_gone() {
    let _watchdog = watchdog("a_late_waker_finds_its_sleeper_though_the_engine_is_gone");
    let other = Engine::new().unwrap();
    let from = other.queue("from").scope(Scope::System).build().unwrap();
    let stops = Stops::default();
    // Held by the hook, and so by every pool of the engine.
    let alive = Arc::new(());
    let engine = {
        let (hook, alive) = (stops.hook(), Arc::clone(&alive));
        let builder = Engine::builder().workers_max(1);
        builder.on_step(move |at| (hook(at), Arc::strong_count(&alive)).0).build().unwrap()
    };
    let to = engine.queue("to").scope(Scope::System).build().unwrap();
    let (work, open, runs) = held_work(&from);

    let parking = stops.stop_next(|at| at.step == Step::Parking);
    to.spawn(|| ()).join().unwrap();
    assert!(parking.wait(HANG), "its worker is about to sleep");
    let claimed = stops.stop_next(|at| {
        at.step == Step::Claimed
            && matches!(at.whom, Some(Sleeper::Worker(_)))
            && matches!(at.who, Who::Worker(_))
    });
    assert_eq!(to.queue(&work), Submit::Queued);
    open.open();
    assert!(claimed.wait(HANG), "the run's end has pushed the item for us");
    parking.let_go();
    until("the item has run", || runs.load(SeqCst) == 2);
    drop(to);
    drop(engine);
    assert!(Arc::strong_count(&alive) > 1, "the pool is gone, and a waker is about to touch a worker of it");
    claimed.let_go();
    until("the waker lets go of it", || Arc::strong_count(&alive) == 1);
    work.flush().unwrap();
}
