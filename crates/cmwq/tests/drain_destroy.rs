//! Draining and destroying a queue: what its own items submit is accepted, strangers are refused, nothing is lost.
#![allow(clippy::let_underscore_future, reason = "to drop a handle is to detach its item")]

mod support;

use cmwq::{Engine, JoinError, Queue, Refusal, Scope, Submit, WaitError, Work};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};
use support::{gate, held, pass, until, watchdog};

fn engine(name: &str) -> Engine {
    Engine::builder().name(name).build().unwrap()
}

fn queue(name: &str) -> Queue {
    engine(name).queue(name).build().unwrap()
}

fn refusal(queue: &Queue) -> Option<Refusal> {
    queue.try_spawn(|| ()).err().map(|refused| refused.refusal)
}

// ---- drain ----

#[test]
fn a_drain_accepts_chains_and_refuses_strangers() {
    let _watchdog = watchdog("a_drain_accepts_chains_and_refuses_strangers");
    let queue = queue("drain");
    let sibling = queue.engine().queue("sibling").build().unwrap();
    let open = held(&queue);
    fn chain(queue: Queue, left: u32, ended: Arc<AtomicU32>) {
        ended.fetch_add(1, Relaxed);
        if left > 0 {
            let next = queue.clone();
            let handle = queue.try_spawn(move || chain(next, left - 1, ended));
            assert!(handle.is_ok(), "a chained submission is accepted");
        }
    }
    let ended = Arc::new(AtomicU32::new(0));
    let (first, closed) = gate();
    let (queue2, ended2) = (queue.clone(), Arc::clone(&ended));
    let _ = queue.spawn(move || {
        pass(&closed);
        chain(queue2, 999, ended2);
    });
    let drainer = {
        let queue = queue.clone();
        std::thread::spawn(move || queue.drain())
    };
    until("the drain begins", || refusal(&queue) == Some(Refusal::Draining));
    let work = Work::new(|_| ());
    assert_eq!(queue.queue(&work), Submit::Refused(Refusal::Draining));
    assert!(!work.is_pending(), "a refusal leaves no trace on the work");
    let queue2 = queue.clone();
    let from_sibling = sibling.spawn(move || refusal(&queue2));
    assert_eq!(from_sibling.join().unwrap(), Some(Refusal::Draining));
    first.open();
    open.open();
    drainer.join().unwrap().unwrap();
    assert_eq!(ended.load(Relaxed), 1000);
    assert_eq!(queue.queue(&work), Submit::Queued, "after the drain everybody may submit");
    work.flush().unwrap();
}

#[test]
fn drains_nest() {
    let _watchdog = watchdog("drains_nest");
    let queue = queue("nest");
    let open = held(&queue);
    let drainers: Vec<_> = (0..5)
        .map(|_| {
            let queue = queue.clone();
            std::thread::spawn(move || queue.drain().unwrap())
        })
        .collect();
    until("a drain begins", || refusal(&queue) == Some(Refusal::Draining));
    std::thread::sleep(Duration::from_millis(20));
    open.open();
    drainers.into_iter().for_each(|drainer| drainer.join().unwrap());
    assert_eq!(refusal(&queue), None);
}

#[test]
fn drains_and_submissions_at_once_lose_nothing() {
    let _watchdog = watchdog("drains_and_submissions_at_once_lose_nothing");
    let queue = queue("storm");
    let (accepted, ended) = (AtomicU32::new(0), Arc::new(AtomicU32::new(0)));
    let over = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let submitters: Vec<_> = (0..3)
            .map(|_| {
                threads.spawn(|| {
                    for _ in 0..5000 {
                        let ended = Arc::clone(&ended);
                        if queue.try_spawn(move || ended.fetch_add(1, Relaxed)).is_ok() {
                            accepted.fetch_add(1, Relaxed);
                        }
                    }
                })
            })
            .collect();
        threads.spawn(|| {
            while !over.load(Relaxed) {
                queue.drain().unwrap();
                std::thread::yield_now();
            }
        });
        submitters.into_iter().for_each(|thread| thread.join().unwrap());
        over.store(true, Relaxed);
    });
    queue.flush().unwrap();
    assert_eq!(ended.load(Relaxed), accepted.load(Relaxed));
}

// ---- destruction ----

#[test]
fn destruction_runs_what_is_queued_and_refuses_for_good() {
    let _watchdog = watchdog("destruction_runs_what_is_queued_and_refuses_for_good");
    let queue = queue("gone");
    let ended = Arc::new(AtomicU32::new(0));
    for _ in 0..1000 {
        let ended = Arc::clone(&ended);
        let _ = queue.spawn(move || ended.fetch_add(1, Relaxed));
    }
    let clone = queue.clone();
    queue.destroy().unwrap();
    assert_eq!(ended.load(Relaxed), 1000);
    assert!(matches!(clone.spawn(|| ()).join(), Err(JoinError::Refused(Refusal::Destroyed))));
    let given = String::from("given back");
    let refused = clone.try_spawn(move || given).unwrap_err();
    assert_eq!((refused.refusal, (refused.closure)()), (Refusal::Destroyed, String::from("given back")));
    clone.flush().unwrap();
    clone.drain().unwrap();
    clone.destroy().unwrap();
}

#[test]
fn a_work_that_queues_itself_is_ended_by_destruction() {
    let _watchdog = watchdog("a_work_that_queues_itself_is_ended_by_destruction");
    let queue = queue("self");
    let last = Arc::new(Mutex::new(None));
    let (queue2, last2) = (queue.clone(), Arc::clone(&last));
    let work = Work::new(move |work| *last2.lock().unwrap() = Some(queue2.queue(work)));
    assert_eq!(queue.queue(&work), Submit::Queued);
    queue.destroy().unwrap();
    assert_eq!(*last.lock().unwrap(), Some(Submit::Refused(Refusal::SelfRequeue)));
}

#[test]
fn works_that_queue_each_other_are_named_and_can_be_stopped() {
    let _watchdog = watchdog("works_that_queue_each_other_are_named_and_can_be_stopped");
    let queue = queue("circle");
    let stop = Arc::new(AtomicBool::new(false));
    let pair: Arc<[OnceLock<Work>; 2]> = Arc::default();
    for at in 0..2 {
        let (queue, stop, others) = (queue.clone(), Arc::clone(&stop), Arc::clone(&pair));
        let work = Work::new(move |_| {
            std::thread::sleep(Duration::from_millis(1));
            if !stop.load(Relaxed) {
                let _ = queue.queue(others[1 - at].get().unwrap());
            }
        });
        pair[at].set(work).unwrap();
    }
    assert_eq!(queue.queue(pair[0].get().unwrap()), Submit::Queued);
    let begun = Instant::now();
    let error = queue.destroy_within(Duration::from_millis(50)).unwrap_err();
    assert!(begun.elapsed() >= Duration::from_millis(50));
    assert!(!error.by_itself);
    assert!(error.to_string().contains("circle"), "{error}");
    let here = |place: &&std::panic::Location<'_>| place.file().ends_with("drain_destroy.rs");
    assert!(error.running.iter().all(here), "{error}");
    assert_eq!(refusal(&error.queue), Some(Refusal::Destroyed));
    stop.store(true, Relaxed);
    error.queue.destroy_within(support::HANG).unwrap();
}

#[test]
fn a_running_item_is_named_by_its_place() {
    let _watchdog = watchdog("a_running_item_is_named_by_its_place");
    let queue = queue("place");
    let open = held(&queue);
    let error = queue.destroy_within(Duration::ZERO).unwrap_err();
    let [place] = error.running[..] else { panic!("one item runs: {error}") };
    assert!(place.file().ends_with("drain_destroy.rs") && error.to_string().contains("drain_destroy.rs"));
    open.open();
    error.queue.destroy().unwrap();
}

#[test]
fn an_item_cannot_destroy_its_queue_but_begins_it() {
    let _watchdog = watchdog("an_item_cannot_destroy_its_queue_but_begins_it");
    let queue = queue("inside");
    let (one, other) = (queue.clone(), queue.clone());
    let answers =
        queue.spawn(move || (one.destroy_within(support::HANG).is_err_and(|e| e.by_itself), other.destroy()));
    assert!(matches!(answers.join().unwrap(), (true, Err(WaitError::WouldDeadlock(_)))));
    assert_eq!(refusal(&queue), Some(Refusal::Destroyed));
}

#[test]
fn the_last_handle_may_be_dropped_inside_an_own_item() {
    let _watchdog = watchdog("the_last_handle_may_be_dropped_inside_an_own_item");
    let engine = engine("orphan");
    for _ in 0..200 {
        let queue = engine.queue("orphan").build().unwrap();
        let ended = Arc::new(AtomicU32::new(0));
        for _ in 0..5 {
            let ended = Arc::clone(&ended);
            let _ = queue.spawn(move || ended.fetch_add(1, Relaxed));
        }
        let (own, ended2) = (queue.clone(), Arc::clone(&ended));
        let last = queue.spawn(move || {
            let _ = own.spawn(move || ended2.fetch_add(1, Relaxed));
            drop(own);
        });
        drop(queue);
        last.join().unwrap();
        until("the orphan's items", || ended.load(Relaxed) == 6);
    }
}

#[test]
fn dropping_a_queue_while_others_submit_through_clones_loses_nothing() {
    let _watchdog = watchdog("dropping_a_queue_while_others_submit_through_clones_loses_nothing");
    let engine = engine("clones");
    for _ in 0..50 {
        let queue = engine.queue("clones").build().unwrap();
        let ended = Arc::new(AtomicU32::new(0));
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (queue, ended) = (queue.clone(), Arc::clone(&ended));
                std::thread::spawn(move || {
                    let mut accepted = 0;
                    for _ in 0..100 {
                        let ended = Arc::clone(&ended);
                        accepted += u32::from(queue.try_spawn(move || ended.fetch_add(1, Relaxed)).is_ok());
                    }
                    accepted
                })
            })
            .collect();
        if ended.load(Relaxed).is_multiple_of(2) {
            drop(queue);
        } else {
            queue.destroy().unwrap();
        }
        // The last clone's drop has waited for everything.
        let accepted: u32 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!(ended.load(Relaxed), accepted);
    }
}

#[test]
fn a_pool_serves_many_queues_one_after_the_other() {
    let _watchdog = watchdog("a_pool_serves_many_queues_one_after_the_other");
    let engine = engine("many");
    for round in 0..10_000_u32 {
        let mut builder = engine.queue("many").max_active(1 + round % 3);
        builder = if round % 2 == 0 { builder.per_cpu() } else { builder.scope(Scope::System) };
        let queue = builder.build().unwrap();
        let runs = Arc::new(AtomicU32::new(0));
        for _ in 0..round % 4 {
            let runs = Arc::clone(&runs);
            let _ = queue.spawn(move || runs.fetch_add(1, Relaxed));
        }
        if round % 5 == 0 {
            queue.flush().unwrap();
        }
        drop(queue);
        assert_eq!(runs.load(Relaxed), round % 4);
    }
    assert_eq!(engine.stats().pools.len() as u32, 1 + engine.topology().cpus().len() as u32);
}
