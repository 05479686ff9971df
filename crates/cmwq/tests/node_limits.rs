//! The limit of an unbound queue is shared by the pods of a NUMA node: never exceeded, always used, handed on in turn.
#![allow(clippy::let_underscore_future, reason = "to drop a handle is to detach its item")]

mod support;

use cmwq::{Engine, LimitError, Queue, Scope, Topology, Work};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use support::{Random, gate, pass, until, watchdog};

/// A machine of this kind with a pod, and so a pool, for each CPU.
fn engine(machine: &str) -> Engine {
    Engine::builder().topology(Topology::synthetic(machine).unwrap()).build().unwrap()
}

fn queue(engine: &Engine, max_active: u32) -> Queue {
    engine.queue("shared").scope(Scope::Cpu).max_active(max_active).build().unwrap()
}

/// A work that counts how many like it are inside, and what the most was.
struct Inside {
    now: AtomicU32,
    most: AtomicU32,
    ended: AtomicU32,
}

impl Inside {
    fn new() -> Arc<Inside> {
        Arc::new(Inside { now: AtomicU32::new(0), most: AtomicU32::new(0), ended: AtomicU32::new(0) })
    }

    fn enter(&self) {
        self.most.fetch_max(self.now.fetch_add(1, Relaxed) + 1, Relaxed);
    }

    fn leave(&self) {
        self.now.fetch_sub(1, Relaxed);
        self.ended.fetch_add(1, Relaxed);
    }
}

fn works(count: u32, body: impl Fn(u32) + Clone + Send + 'static) -> Vec<Work> {
    (0..count)
        .map(|at| {
            let body = body.clone();
            Work::new(move |_| body(at))
        })
        .collect()
}

#[test]
fn pods_of_a_node_share_its_limit() {
    let _watchdog = watchdog("pods_of_a_node_share_its_limit");
    let engine = engine("node:1/core:8");
    for limit in [1, 2, 3, 8] {
        let queue = queue(&engine, limit);
        let inside = Inside::new();
        let seen = Arc::clone(&inside);
        let works = works(80, move |at| {
            seen.enter();
            let sleep = || std::thread::sleep(Duration::from_millis(2));
            if at % 2 == 0 {
                cmwq::blocking(sleep)
            } else {
                sleep()
            }
            seen.leave();
        });
        for (at, work) in works.iter().enumerate() {
            let _ = queue.queue_on(at as u32 % 8, work);
        }
        queue.flush().unwrap();
        assert_eq!(inside.ended.load(Relaxed), 80);
        assert_eq!(inside.most.load(Relaxed), limit, "never more, and as many as may be");
    }
}

#[test]
fn random_items_from_everywhere_keep_within_the_limit() {
    let _watchdog = watchdog("random_items_from_everywhere_keep_within_the_limit");
    let engine = engine("node:1/core:4");
    for limit in [1, 2, 5] {
        let queue = queue(&engine, limit);
        let inside = Inside::new();
        std::thread::scope(|threads| {
            for seed in 0..3 {
                let (queue, inside) = (&queue, &inside);
                threads.spawn(move || {
                    let mut random = Random::new(seed);
                    for _ in 0..support::rounds(2000) {
                        let (inside, kind) = (Arc::clone(inside), random.below(16));
                        let work = Work::new(move |_| {
                            inside.enter();
                            match kind {
                                0 => std::thread::sleep(Duration::from_micros(50)),
                                1 => cmwq::blocking(|| std::thread::sleep(Duration::from_micros(50))),
                                2 => std::thread::yield_now(),
                                _ => {}
                            }
                            inside.leave();
                        });
                        let _ = queue.queue_on(random.below(4) as u32, &work);
                    }
                });
            }
        });
        queue.flush().unwrap();
        assert_eq!(inside.ended.load(Relaxed) as usize, 3 * support::rounds(2000));
        assert!(inside.most.load(Relaxed) <= limit, "{} of {limit}", inside.most.load(Relaxed));
    }
}

/// Two pools that hold each other's next place in turn, a thousand times.
#[test]
fn two_pools_hand_one_place_to_each_other() {
    let _watchdog = watchdog("two_pools_hand_one_place_to_each_other");
    let engine = engine("node:1/core:2");
    let queue = queue(&engine, 1);
    let order = Arc::new(Mutex::new(Vec::new()));
    let (open, closed) = gate();
    let closed = Mutex::new(closed);
    let first = Work::new(move |_| pass(&closed.lock().unwrap()));
    let _ = queue.queue_on(0, &first);
    until("the place is taken", || first.is_running());
    let seen = Arc::clone(&order);
    let works = works(1000, move |at| seen.lock().unwrap().push(at));
    for (at, work) in works.iter().enumerate() {
        let _ = queue.queue_on(u32::from(at >= 500), work);
    }
    // Everything has arrived at its gate before the place becomes free.
    std::thread::sleep(Duration::from_millis(100));
    open.open();
    queue.flush().unwrap();
    let order = order.lock().unwrap();
    assert_eq!(order.len(), 1000);
    for half in [0..500, 500..1000] {
        let own: Vec<u32> = order.iter().copied().filter(|at| half.contains(at)).collect();
        assert!(own.is_sorted(), "items of one pod start in order");
    }
    let changes = order.windows(2).filter(|pair| (pair[0] < 500) != (pair[1] < 500)).count();
    assert!(changes > 900, "the pods take turns, not {changes} times");
}

/// The item that waits needs the end of another one of its own batch, in another pool, to be reported.
#[test]
fn an_end_in_one_pool_is_seen_by_another() {
    let _watchdog = watchdog("an_end_in_one_pool_is_seen_by_another");
    let engine = engine("node:1/core:2");
    for round in 0..100 {
        let queue = queue(&engine, 2);
        let (tell, told) = std::sync::mpsc::channel();
        let told = Mutex::new(told);
        let short = Work::new(|_| ());
        let waits = Work::new(move |_| told.lock().unwrap().recv().unwrap());
        let later = Work::new(move |_| tell.send(()).unwrap());
        let _ = queue.queue_on(0, &short);
        let _ = queue.queue_on(0, &waits);
        if round % 2 == 0 {
            std::thread::sleep(Duration::from_micros(300));
        }
        let _ = queue.queue_on(1, &later);
        waits.flush().unwrap();
        queue.flush().unwrap();
    }
}

#[test]
fn every_node_runs_its_share_and_at_least_min_active() {
    let _watchdog = watchdog("every_node_runs_its_share_and_at_least_min_active");
    let engine = engine("node:2/core:4");
    for (max, min, each) in
        [(4, Some(1), 2), (4, Some(3), 3), (4, None, 4), (5, Some(0), 3), (16, Some(1), 8)]
    {
        let builder = engine.queue("share").scope(Scope::Cpu).max_active(max);
        let builder = if let Some(min) = min { builder.min_active(min) } else { builder };
        let queue = builder.build().unwrap();
        let (open, closed) = gate();
        let closed = Arc::new(Mutex::new(closed));
        let inside = [Inside::new(), Inside::new()];
        let seen = inside.clone();
        let works = works(40, move |at| {
            seen[(at % 8 / 4) as usize].enter();
            pass(&closed.lock().unwrap());
            seen[(at % 8 / 4) as usize].leave();
        });
        for (at, work) in works.iter().enumerate() {
            let _ = queue.queue_on(at as u32 % 8, work);
        }
        until("both nodes are full", || inside.iter().all(|i| i.now.load(Relaxed) == each));
        std::thread::sleep(Duration::from_millis(5));
        assert!(inside.iter().all(|i| i.now.load(Relaxed) == each), "{max} {min:?}");
        open.open();
        queue.flush().unwrap();
    }
}

/// Items that wait for one another, as many as `min_active` promises, in the smallest of shares.
#[test]
fn a_chain_as_long_as_min_active_ends() {
    let _watchdog = watchdog("a_chain_as_long_as_min_active_ends");
    let engine = engine("node:8/core:8");
    let queue = engine.queue("chain").scope(Scope::Cpu).max_active(8).build().unwrap();
    for _ in 0..20 {
        let barrier = Arc::new(std::sync::Barrier::new(8));
        let works = works(8, move |_| {
            barrier.wait();
        });
        for (at, work) in works.iter().enumerate() {
            let _ = queue.queue_on(at as u32, work);
        }
        queue.flush().unwrap();
    }
}

#[test]
fn limits_change_on_a_live_queue() {
    let _watchdog = watchdog("limits_change_on_a_live_queue");
    for (machine, scope) in [("node:1/core:4", Scope::Cpu), ("node:1/core:4", Scope::System)] {
        let engine = engine(machine);
        let queue = engine.queue("live").scope(scope).max_active(1).build().unwrap();
        let (open, closed) = gate();
        let closed = Arc::new(Mutex::new(closed));
        let inside = Inside::new();
        let seen = Arc::clone(&inside);
        let works = works(40, move |_| {
            seen.enter();
            pass(&closed.lock().unwrap());
            seen.leave();
        });
        for (at, work) in works.iter().enumerate() {
            let _ = queue.queue_on(at as u32 % 4, work);
        }
        for limit in [1, 3, 10] {
            queue.set_max_active(limit).unwrap();
            assert_eq!(queue.max_active(), limit);
            until("the new limit is used", || inside.now.load(Relaxed) == limit);
            std::thread::sleep(Duration::from_millis(5));
            assert_eq!(inside.now.load(Relaxed), limit);
        }
        queue.set_max_active(2).unwrap();
        inside.most.store(0, Relaxed);
        open.open();
        queue.flush().unwrap();
        assert_eq!(inside.ended.load(Relaxed), 40);
        for (at, work) in works.iter().take(20).enumerate() {
            let _ = queue.queue_on(at as u32 % 4, work);
        }
        inside.most.store(0, Relaxed);
        queue.flush().unwrap();
        assert!(inside.most.load(Relaxed) <= 2, "the lowered limit holds");
    }
}

#[test]
fn limits_change_while_items_come_and_go() {
    let _watchdog = watchdog("limits_change_while_items_come_and_go");
    let engine = engine("node:2/core:3");
    let queue = queue(&engine, 4);
    let inside = Inside::new();
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let mut random = Random::new(7);
            while !over.load(Relaxed) {
                queue.set_max_active(1 + random.below(6) as u32).unwrap();
                queue.set_min_active(random.below(4) as u32).unwrap();
                std::thread::sleep(Duration::from_micros(200));
            }
        });
        for seed in 0..2 {
            let (queue, inside) = (&queue, &inside);
            threads.spawn(move || {
                let mut random = Random::new(seed);
                for _ in 0..support::rounds(3000) {
                    let inside = Arc::clone(inside);
                    let work = Work::new(move |_| {
                        inside.enter();
                        inside.leave();
                    });
                    let _ = queue.queue_on(random.below(6) as u32, &work);
                }
            });
        }
        until("everything has run", || inside.ended.load(Relaxed) as usize == 2 * support::rounds(3000));
        over.store(true, Relaxed);
    });
    queue.flush().unwrap();
}

#[test]
fn limits_that_make_no_sense_are_refused() {
    let engine = engine("node:2/core:2");
    let per_cpu = engine.queue("cpu").per_cpu().build().unwrap();
    let ordered = engine.queue("one").ordered().build().unwrap();
    assert_eq!(per_cpu.set_min_active(2), Err(LimitError::PerCpu));
    assert_eq!(per_cpu.set_max_active(2049), Err(LimitError::TooLarge(2049)));
    assert_eq!(ordered.set_max_active(2), Err(LimitError::Ordered));
    assert_eq!(ordered.set_min_active(2), Err(LimitError::Ordered));
    assert_eq!((ordered.max_active(), ordered.min_active()), (1, 1));
    let queue = queue(&engine, 20);
    queue.set_min_active(100).unwrap();
    assert_eq!(queue.min_active(), 20, "no more than max_active");
    queue.set_max_active(3).unwrap();
    assert_eq!(queue.min_active(), 3, "lowered with it");
    queue.set_max_active(0).unwrap();
    assert_eq!(queue.max_active(), 1024, "the default");
}
