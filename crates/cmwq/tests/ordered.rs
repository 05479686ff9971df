//! Ordered queues run their items one at a time and in the order of submission, from whatever CPU they are submitted.
#![allow(clippy::let_underscore_future, reason = "to drop a handle is to detach its item")]

mod support;

use cmwq::{Engine, Queue, Submit, Topology, Work};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use support::{Random, gate, pass, until, watchdog};

fn ordered(machine: &str) -> Queue {
    let engine = Engine::builder().topology(Topology::synthetic(machine).unwrap()).build().unwrap();
    engine.queue("ordered").ordered().build().unwrap()
}

/// Several threads take turns in submitting, each from a CPU of its choice: the order is known.
#[test]
fn items_from_everywhere_run_in_the_order_of_submission() {
    let _watchdog = watchdog("items_from_everywhere_run_in_the_order_of_submission");
    let queue = ordered("node:2/cache:2/core:2");
    let count = support::rounds(4000) as u32;
    let (next, ran, inside) = (Mutex::new(0), Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    std::thread::scope(|threads| {
        for seed in 0..4 {
            let (queue, next, ran, inside) = (&queue, &next, &ran, &inside);
            threads.spawn(move || {
                let mut random = Random::new(seed);
                loop {
                    let mut next = next.lock().unwrap();
                    if *next == count {
                        return;
                    }
                    let (number, ran, inside) = (*next, Arc::clone(ran), Arc::clone(inside));
                    let kind = random.below(20);
                    let work = Work::new(move |_| {
                        assert_eq!(inside.fetch_add(1, Relaxed), 0, "one at a time");
                        assert_eq!(ran.load(Relaxed), number, "in order");
                        if kind == 0 {
                            cmwq::blocking(|| std::thread::sleep(std::time::Duration::from_micros(30)));
                        }
                        ran.store(number + 1, Relaxed);
                        inside.fetch_sub(1, Relaxed);
                    });
                    assert_eq!(queue.queue_on(random.below(8) as u32, &work), Submit::Queued);
                    *next += 1;
                }
            });
        }
    });
    queue.flush().unwrap();
    assert_eq!(ran.load(Relaxed), count, "none panicked");
}

/// A work that queues itself again takes its place before what is queued after it.
#[test]
fn a_work_queued_while_it_runs_keeps_its_place() {
    let _watchdog = watchdog("a_work_queued_while_it_runs_keeps_its_place");
    let queue = ordered("core:2");
    for _ in 0..200 {
        let order = Arc::new(Mutex::new(Vec::new()));
        let (open, closed) = gate();
        let (started, begun) = gate();
        let mut both = Some((started, closed));
        let seen = Arc::clone(&order);
        let again = Work::new(move |_| {
            if let Some((started, closed)) = both.take() {
                started.open();
                pass(&closed);
            }
            seen.lock().unwrap().push("again");
        });
        let _ = queue.queue(&again);
        pass(&begun);
        let say = |what| {
            let seen = Arc::clone(&order);
            move || seen.lock().unwrap().push(what)
        };
        let _ = queue.spawn(say("before"));
        assert_eq!(queue.queue(&again), Submit::Queued, "it runs, so it can be queued again");
        assert_eq!(queue.queue(&again), Submit::AlreadyPending);
        let _ = queue.spawn(say("after"));
        open.open();
        queue.flush().unwrap();
        assert_eq!(*order.lock().unwrap(), ["again", "before", "again", "after"]);
    }
}

/// It runs in one queue and is queued to an ordered one meanwhile: never twice at once.
#[test]
fn a_work_of_two_queues_never_runs_twice_at_once() {
    let _watchdog = watchdog("a_work_of_two_queues_never_runs_twice_at_once");
    let first = ordered("core:2");
    let second = first.engine().queue("second").ordered().build().unwrap();
    let (inside, ran) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
    let (seen, counted) = (Arc::clone(&inside), Arc::clone(&ran));
    let work = Work::new(move |_| {
        assert_eq!(seen.fetch_add(1, Relaxed), 0, "twice at once");
        if counted.load(Relaxed).is_multiple_of(8) {
            // Another worker comes to run what is queued.
            cmwq::blocking(|| std::thread::sleep(std::time::Duration::from_micros(50)));
        }
        seen.fetch_sub(1, Relaxed);
        counted.fetch_add(1, Relaxed);
    });
    let queued = AtomicU32::new(0);
    std::thread::scope(|threads| {
        for queue in [&first, &second, &first] {
            let (work, queued) = (&work, &queued);
            threads.spawn(move || {
                for _ in 0..support::rounds(5000) {
                    queued.fetch_add(u32::from(queue.queue(work) == Submit::Queued), Relaxed);
                }
            });
        }
    });
    first.flush().unwrap();
    second.flush().unwrap();
    assert_eq!(ran.load(Relaxed), queued.load(Relaxed), "each queued instance ran, none panicked");
}

/// The promise is that of `.ordered()`, not of the limit: with a pod for each CPU the pods are not ordered.
#[test]
fn one_at_a_time_is_not_in_order() {
    let _watchdog = watchdog("one_at_a_time_is_not_in_order");
    let engine = Engine::builder().topology(Topology::synthetic("core:2").unwrap()).build().unwrap();
    let queue = engine.queue("one").scope(cmwq::Scope::Cpu).max_active(1).build().unwrap();
    let (open, closed) = gate();
    let (tell, told) = std::sync::mpsc::channel();
    let _ = queue.spawn(move || {
        tell.send(()).unwrap();
        pass(&closed);
    });
    told.recv().unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let works: Vec<_> = (0..20u32)
        .map(|at| {
            let seen = Arc::clone(&order);
            Work::new(move |_| seen.lock().unwrap().push(at))
        })
        .collect();
    for (at, work) in works.iter().enumerate() {
        let _ = queue.queue_on(u32::from(at >= 10), work);
    }
    // The pool that does not run the gate keeper.
    until("the other pool has looked", || engine.stats().pools.iter().any(|p| p.active == 0 && p.parks > 0));
    open.open();
    queue.flush().unwrap();
    let order = order.lock().unwrap();
    assert_eq!(order.len(), 20);
    assert!(!order.is_sorted(), "the two pods take turns: {order:?}");
}
