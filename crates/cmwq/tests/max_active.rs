//! No more than `max_active` items of a queue are started and not ended in a pod; and no fewer than can be.
#![allow(clippy::let_underscore_future, reason = "to drop a handle is to detach its item")]

mod support;

use cmwq::{Engine, Queue, Scope};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::time::Duration;
use support::{Random, watchdog};

fn queue(name: &str, max_active: u32) -> Queue {
    let engine = Engine::builder().name(name).build().unwrap();
    engine.queue(name).scope(Scope::System).max_active(max_active).build().unwrap()
}

#[test]
fn the_limit_is_never_exceeded_and_always_reached() {
    let _watchdog = watchdog("the_limit_is_never_exceeded_and_always_reached");
    for limit in [1, 2, 3, 8] {
        let queue = queue("limit", limit);
        let (inside, most) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        for at in 0..40 {
            let (inside, most) = (Arc::clone(&inside), Arc::clone(&most));
            let _ = queue.spawn(move || {
                most.fetch_max(inside.fetch_add(1, Relaxed) + 1, Relaxed);
                let sleep = || std::thread::sleep(Duration::from_millis(3));
                if at % 2 == 0 {
                    cmwq::blocking(sleep)
                } else {
                    sleep()
                }
                inside.fetch_sub(1, Relaxed);
            });
        }
        queue.flush().unwrap();
        assert_eq!(most.load(Relaxed), limit);
    }
}

#[test]
fn random_items_of_several_threads_keep_within_the_limit() {
    let _watchdog = watchdog("random_items_of_several_threads_keep_within_the_limit");
    for limit in [1, 2, 5] {
        let queue = queue("random", limit);
        let (inside, ended) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        std::thread::scope(|threads| {
            for seed in 0..4 {
                let (queue, inside, ended) = (&queue, &inside, &ended);
                threads.spawn(move || {
                    let mut random = Random::new(seed);
                    for _ in 0..2000 {
                        let (inside, ended, kind) = (Arc::clone(inside), Arc::clone(ended), random.below(16));
                        let _ = queue.spawn(move || {
                            assert!(inside.fetch_add(1, Relaxed) < limit, "more than {limit} run");
                            match kind {
                                0 => std::thread::sleep(Duration::from_micros(50)),
                                1 => cmwq::blocking(|| std::thread::sleep(Duration::from_micros(50))),
                                2 => std::thread::yield_now(),
                                _ => {}
                            }
                            inside.fetch_sub(1, Relaxed);
                            ended.fetch_add(1, Relaxed);
                        });
                    }
                });
            }
        });
        queue.flush().unwrap();
        assert_eq!(ended.load(Relaxed), 8000, "and none panicked");
    }
}

#[test]
fn with_one_at_a_time_blocking_items_follow_one_another_in_order() {
    let _watchdog = watchdog("with_one_at_a_time_blocking_items_follow_one_another_in_order");
    let queue = queue("one", 1);
    let next = Arc::new(AtomicU32::new(0));
    let handles: Vec<_> = (0..300)
        .map(|at| {
            let next = Arc::clone(&next);
            queue.spawn(move || {
                assert_eq!(next.load(Relaxed), at);
                cmwq::blocking(|| std::thread::sleep(Duration::from_micros(100)));
                next.store(at + 1, Relaxed);
            })
        })
        .collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
}

/// Flushes of works and queues do not count among the active items.
#[test]
fn a_hundred_flushes_leave_room_for_the_next_item() {
    let _watchdog = watchdog("a_hundred_flushes_leave_room_for_the_next_item");
    let queue = queue("flushes", 1);
    let (open, closed) = support::gate();
    let _ = queue.spawn(move || support::pass(&closed));
    std::thread::scope(|threads| {
        for _ in 0..100 {
            threads.spawn(|| queue.flush().unwrap());
        }
        std::thread::sleep(Duration::from_millis(20));
        let next = queue.spawn(|| 5);
        open.open();
        assert_eq!(next.join().unwrap(), 5);
    });
    let started: u64 = queue.engine().stats().pools.iter().map(|pool| pool.started).sum();
    assert_eq!(started, 2, "a flush is no item");
}

/// The first two are claimed in one batch; the second waits for an item that needs the first one's end to be
/// reported.
#[test]
fn an_item_that_waits_for_a_later_one_of_its_queue_gets_it() {
    let _watchdog = watchdog("an_item_that_waits_for_a_later_one_of_its_queue_gets_it");
    for (round, short) in [0, 1, 5, 40].into_iter().cycle().take(120).enumerate() {
        let queue = queue("later", 2);
        let (tell, told) = channel();
        let others = |count: u32| (0..count).for_each(|_| drop(queue.spawn(std::thread::yield_now)));
        others(short);
        let first = queue.spawn(|| ());
        let waits = queue.spawn(move || told.recv().unwrap());
        others(short);
        if round % 2 == 0 {
            std::thread::sleep(Duration::from_micros(300));
        }
        let later = queue.spawn(move || tell.send(round).unwrap());
        others(short);
        assert_eq!(waits.join().unwrap(), round);
        first.join().unwrap();
        later.join().unwrap();
    }
}

#[test]
fn two_hundred_items_that_wait_for_one_another_all_start() {
    let _watchdog = watchdog("two_hundred_items_that_wait_for_one_another_all_start");
    let queue = queue("barrier", 256);
    for _ in 0..2 {
        let barrier = Arc::new(Barrier::new(200));
        let items: Vec<_> = (0..200)
            .map(|_| {
                let barrier = Arc::clone(&barrier);
                queue.spawn(move || barrier.wait().is_leader())
            })
            .collect();
        let leaders = items.into_iter().map(|item| u32::from(item.join().unwrap())).sum::<u32>();
        assert_eq!(leaders, 1);
    }
}

/// They are claimed together by a worker that is busy when they are queued: the pool is not told that the first one
/// waits.
#[test]
fn items_claimed_together_may_wait_for_one_another() {
    let _watchdog = watchdog("items_claimed_together_may_wait_for_one_another");
    for cover in [cmwq::CoverPolicy::Eager, cmwq::CoverPolicy::Watched, cmwq::CoverPolicy::Backlog(4)] {
        for items in [2, 3, 8, 16, 40] {
            let engine = Engine::builder().cover(cover).build().unwrap();
            let queue = engine.queue("together").scope(Scope::System).build().unwrap();
            let (open, closed) = support::gate();
            let _ = queue.spawn(move || support::pass(&closed));
            let barrier = Arc::new(Barrier::new(items));
            let handles: Vec<_> = (0..items)
                .map(|_| {
                    let barrier = Arc::clone(&barrier);
                    queue.spawn(move || barrier.wait().is_leader())
                })
                .collect();
            open.open();
            let leaders: u32 = handles.into_iter().map(|handle| u32::from(handle.join().unwrap())).sum();
            assert_eq!(leaders, 1);
        }
    }
}

#[test]
fn limits_out_of_range_are_refused() {
    let engine = Engine::new().unwrap();
    assert!(engine.queue("most").max_active(2048).build().is_ok());
    assert!(engine.queue("default").max_active(0).build().is_ok());
    let error = engine.queue("much").max_active(2049).build().unwrap_err();
    assert_eq!(error.kind(), cmwq::BuildErrorKind::Setting);
    assert!(error.to_string().contains("much"), "{error}");
    for workers in [0, 4097] {
        let error = Engine::builder().workers_max(workers).build().unwrap_err();
        assert_eq!(error.kind(), cmwq::BuildErrorKind::Setting);
    }
}
