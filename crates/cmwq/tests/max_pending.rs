//! A limit on what is queued and not started: it refuses, or makes submitters wait, and is exact.
#![allow(clippy::let_underscore_future, reason = "to drop a handle is to detach its item")]

mod support;

use cmwq::{Engine, Queue, Refusal, Submit, Work};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};
use support::{gate, held, pass, until, watchdog};

const FULL: Submit = Submit::Refused(Refusal::Full);

fn queue(max_pending: u32) -> Queue {
    let engine = Engine::builder().build().unwrap();
    engine.queue("room").max_active(1).ordered().max_pending(max_pending).build().unwrap()
}

#[test]
fn a_full_queue_refuses_until_an_item_starts() {
    let _watchdog = watchdog("a_full_queue_refuses_until_an_item_starts");
    let queue = queue(2);
    let open = held(&queue);
    assert_eq!(queue.pending(), Some(0), "what runs does not count");
    let works: Vec<Work> = (0..3).map(|_| Work::new(|_| ())).collect();
    assert_eq!([0, 1, 2].map(|at| queue.queue(&works[at])), [Submit::Queued, Submit::Queued, FULL]);
    assert_eq!(queue.queue(&works[0]), Submit::AlreadyPending, "what is pending needs no room");
    assert_eq!(queue.try_spawn(|| 7).unwrap_err().refusal, Refusal::Full);
    assert_eq!((queue.try_spawn(|| 7).unwrap_err().closure)(), 7, "the closure comes back");
    assert_eq!(queue.pending(), Some(2));
    open.open();
    queue.flush().unwrap();
    assert_eq!(queue.pending(), Some(0));
    assert_eq!(queue.queue(&works[2]), Submit::Queued);
    let _ = works[2].flush().unwrap();
}

#[test]
fn cancelling_makes_room() {
    let _watchdog = watchdog("cancelling_makes_room");
    let queue = queue(1);
    let open = held(&queue);
    let (one, other) = (Work::new(|_| ()), Work::new(|_| ()));
    for _ in 0..10 {
        assert_eq!(queue.queue(&one), Submit::Queued);
        assert_eq!(queue.queue(&other), FULL);
        assert!(one.cancel());
        assert_eq!(queue.pending(), Some(0));
    }
    // Also an instance that was left to the finisher of the run before.
    let (again, closed) = gate();
    let runs_long = Work::new(move |_| pass(&closed));
    let roomy = queue.engine().queue("elsewhere").build().unwrap();
    assert_eq!(roomy.queue(&runs_long), Submit::Queued);
    until("it runs", || runs_long.is_running());
    assert_eq!(queue.queue(&runs_long), Submit::Queued);
    assert_eq!(queue.queue(&other), FULL);
    assert!(runs_long.cancel());
    assert_eq!(queue.queue(&other), Submit::Queued);
    again.open();
    open.open();
    queue.flush().unwrap();
}

#[test]
fn refusals_for_other_reasons_take_no_room() {
    let _watchdog = watchdog("refusals_for_other_reasons_take_no_room");
    let queue = queue(1);
    let work = Work::new(|_| ());
    assert!(!work.disable());
    assert_eq!(queue.queue(&work), Submit::Refused(Refusal::Disabled));
    let _ = work.enable();
    assert_eq!(queue.pending(), Some(0));
    let drained = queue.clone();
    let open = held(&queue);
    let draining = std::thread::spawn(move || drained.drain().unwrap());
    until("it drains", || {
        let drains = queue.queue(&work) == Submit::Refused(Refusal::Draining);
        let _ = work.cancel();
        drains
    });
    assert_eq!(queue.try_spawn(|| ()).unwrap_err().refusal, Refusal::Draining);
    assert_eq!(queue.pending(), Some(0));
    open.open();
    draining.join().unwrap();
}

#[test]
fn submitters_wait_for_room() {
    let _watchdog = watchdog("submitters_wait_for_room");
    let queue = queue(3);
    let (most, ran) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let threads: Vec<_> = (0..4)
        .map(|at| {
            let (queue, most, ran) = (queue.clone(), Arc::clone(&most), Arc::clone(&ran));
            std::thread::spawn(move || {
                for round in 0..2000 {
                    let counted = Arc::clone(&ran);
                    let body = move || {
                        counted.fetch_add(1, SeqCst);
                    };
                    if (at + round) % 2 == 0 {
                        let _ = queue.spawn_wait(body).unwrap();
                    } else {
                        assert_eq!(queue.queue_wait(&Work::new(move |_| body())), Submit::Queued);
                    }
                    most.fetch_max(queue.pending().unwrap(), SeqCst);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    queue.flush().unwrap();
    assert_eq!(ran.load(SeqCst), 8000);
    assert!(most.load(SeqCst) <= 3, "{most:?}");
    assert_eq!(queue.pending(), Some(0));
}

#[test]
fn a_wait_ends_in_time() {
    let _watchdog = watchdog("a_wait_ends_in_time");
    let queue = queue(1);
    let open = held(&queue);
    let (one, other) = (Work::new(|_| ()), Work::new(|_| ()));
    assert_eq!(queue.queue(&one), Submit::Queued);
    let begun = Instant::now();
    assert_eq!(queue.queue_within(Duration::from_millis(30), &other), FULL);
    assert_eq!(queue.spawn_within(Duration::from_millis(30), || 7).unwrap_err().refusal, Refusal::Full);
    assert!(begun.elapsed() >= Duration::from_millis(60), "no wait ends early");
    let waits = queue.clone();
    let waiter = std::thread::spawn(move || waits.queue_within(support::HANG, &other));
    std::thread::sleep(Duration::from_millis(10));
    open.open();
    assert_eq!(waiter.join().unwrap(), Submit::Queued);
    queue.flush().unwrap();
}

#[test]
fn an_item_does_not_wait_for_room_in_its_own_queue() {
    let _watchdog = watchdog("an_item_does_not_wait_for_room_in_its_own_queue");
    let queue = queue(1);
    let own = queue.clone();
    let answers = queue.spawn(move || {
        let _ = own.spawn_wait(|| ()).expect("there is room for one");
        let full = own.spawn_wait(|| 7).unwrap_err();
        (full.refusal, (full.closure)(), own.queue_wait(&Work::new(|_| ())))
    });
    assert_eq!(answers.join().unwrap(), (Refusal::Full, 7, FULL));
    queue.flush().unwrap();
}

#[test]
fn delayed_items_count_from_when_they_are_queued_and_are_never_refused() {
    let _watchdog = watchdog("delayed_items_count_from_when_they_are_queued_and_are_never_refused");
    let queue = queue(1);
    let open = held(&queue);
    let works: Vec<Work> = (0..3).map(|_| Work::new(|_| ())).collect();
    for work in &works {
        assert_eq!(queue.queue_delayed(work, Duration::from_millis(5)), Submit::Queued);
    }
    until("all three are queued", || queue.pending() == Some(3));
    assert_eq!(queue.queue(&Work::new(|_| ())), FULL);
    open.open();
    until("all have run", || works.iter().all(|work| !work.is_pending() && !work.is_running()));
    queue.flush().unwrap();
    assert_eq!(queue.pending(), Some(0));
}

/// A pwq is used again by a later queue, which has a limit of its own or none.
#[test]
fn the_next_queue_of_a_pool_has_its_own_limit() {
    let _watchdog = watchdog("the_next_queue_of_a_pool_has_its_own_limit");
    let engine = Engine::builder().build().unwrap();
    for round in 0..20 {
        let limit = round % 3;
        let queue = engine.queue("next").ordered().max_pending(limit).build().unwrap();
        let open = held(&queue);
        let accepted = (0..5).filter(|_| queue.try_spawn(|| ()).is_ok()).count() as u32;
        assert_eq!(accepted, if limit == 0 { 5 } else { limit });
        open.open();
        queue.destroy().unwrap();
    }
}

#[test]
fn too_large_a_limit_is_named() {
    let engine = Engine::builder().build().unwrap();
    let error = engine.queue("large").max_pending(u32::MAX).build().unwrap_err().to_string();
    assert!(error.contains("max_pending 4294967295") && error.contains("\"large\""), "{error}");
}
