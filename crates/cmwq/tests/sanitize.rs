//! Short bodies repeated often, for sanitizers and for nights: `CMWQ_ROUNDS` says how often.
#![allow(clippy::let_underscore_future, reason = "to drop a handle is to detach its item")]

mod support;

use cmwq::{Engine, EngineBuilder, Queue, Scope, Submit, Topology, Work};
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;
use support::{rounds, watchdog_for};

const ROUNDS: usize = 200;

fn watchdog(test: &'static str) -> support::Watchdog {
    watchdog_for(test, Duration::from_secs(120 + rounds(ROUNDS) as u64 / 100))
}

/// An interpreter has no machine to read.
fn engine() -> EngineBuilder {
    let builder = Engine::builder();
    if cfg!(miri) { builder.topology(Topology::synthetic("core:2").unwrap()) } else { builder }
}

fn queue() -> Queue {
    engine().idle_timeout(Duration::from_millis(1)).build().unwrap().queue("rounds").build().unwrap()
}

/// Memory that shows when it is used after it has been freed.
fn canary() -> Vec<u64> {
    (0..16).collect()
}

#[test]
fn works_dropped_inside_their_own_function() {
    let _watchdog = watchdog("works_dropped_inside_their_own_function");
    let queue = queue();
    let ended = Arc::new(AtomicU32::new(0));
    for _ in 0..rounds(ROUNDS) {
        let holder: Arc<Mutex<Option<Work>>> = Arc::default();
        let (own, data, ended2) = (Arc::clone(&holder), canary(), Arc::clone(&ended));
        let work = Work::new(move |_| {
            drop(own.lock().unwrap().take());
            assert_eq!(data[15], 15);
            ended2.fetch_add(1, Relaxed);
        });
        let mut held = holder.lock().unwrap();
        assert_eq!(queue.queue(&work), Submit::Queued);
        *held = Some(work);
    }
    queue.flush().unwrap();
    assert_eq!(ended.load(Relaxed) as usize, rounds(ROUNDS));
}

#[test]
fn works_whose_handles_all_go_at_once() {
    let _watchdog = watchdog("works_whose_handles_all_go_at_once");
    let queue = queue();
    for _ in 0..rounds(ROUNDS) {
        let (own, data) = (queue.clone(), canary());
        let mut left = 3;
        let work = Work::new(move |work| {
            assert_eq!(data[7], 7);
            left -= 1;
            if left > 0 {
                let _ = own.queue(work);
            }
        });
        std::thread::scope(|threads| {
            let clone = work.clone();
            threads.spawn(|| drop(clone));
            let _ = queue.queue(&work);
            drop(work);
        });
    }
    queue.drain().unwrap();
}

#[test]
fn engines_dropped_right_after_an_item_has_signalled() {
    let _watchdog = watchdog("engines_dropped_right_after_an_item_has_signalled");
    for _ in 0..rounds(ROUNDS) {
        let (tell, told) = channel();
        let engine = engine().build().unwrap();
        let queue = engine.queue("signal").scope(Scope::System).build().unwrap();
        let work = Work::new(move |_| tell.send(canary()).unwrap());
        assert_eq!(queue.queue(&work), Submit::Queued);
        assert_eq!(told.recv().unwrap().len(), 16);
        drop((queue, engine, work));
    }
}

#[test]
fn handles_and_results_in_every_order() {
    struct Nothing;
    impl Wake for Nothing {
        fn wake(self: Arc<Self>) {}
    }
    let _watchdog = watchdog("handles_and_results_in_every_order");
    let queue = queue();
    let waker = Waker::from(Arc::new(Nothing));
    for round in 0..rounds(ROUNDS) {
        let mut handle = queue.spawn(canary);
        match round % 4 {
            0 => assert_eq!(handle.join().unwrap().len(), 16),
            1 => drop(handle),
            2 => drop(Pin::new(&mut handle).poll(&mut Context::from_waker(&waker))),
            _ => {
                let polled = Pin::new(&mut handle).poll(&mut Context::from_waker(&waker));
                if polled.is_pending() {
                    std::thread::spawn(move || assert_eq!(handle.join().unwrap()[3], 3)).join().unwrap();
                }
            }
        }
    }
    queue.flush().unwrap();
}

#[test]
fn scopes_that_borrow() {
    let _watchdog = watchdog("scopes_that_borrow");
    let queue = queue();
    for _ in 0..rounds(ROUNDS) {
        let mut data = canary();
        queue.scope(|scope| {
            for number in &mut data {
                let _ = scope.spawn(move || *number += 1);
            }
        });
        assert_eq!(data[15], 16);
    }
}

#[test]
fn flushes_see_what_items_have_written() {
    let _watchdog = watchdog("flushes_see_what_items_have_written");
    let queue = queue();
    /// Written without any synchronisation of its own: the flush provides it.
    struct Plain(std::cell::UnsafeCell<u64>);
    // SAFETY: one item writes, and the reader reads after the flush.
    unsafe impl Sync for Plain {}
    let cells: Arc<Vec<Plain>> = Arc::new((0..4).map(|_| Plain(0.into())).collect());
    for round in 1..=rounds(ROUNDS) as u64 {
        for at in 0..cells.len() {
            let cells = Arc::clone(&cells);
            let _ = queue.spawn(move || {
                // SAFETY: the only access between two flushes.
                unsafe { *cells[at].0.get() = round };
            });
        }
        queue.flush().unwrap();
        // SAFETY: the items have ended.
        assert!(cells.iter().all(|cell| unsafe { *cell.0.get() } == round));
    }
}

#[test]
fn queues_that_come_and_go_while_threads_submit() {
    let _watchdog = watchdog("queues_that_come_and_go_while_threads_submit");
    let engine = engine().idle_timeout(Duration::from_millis(1)).build().unwrap();
    let work = Work::new(|_| ());
    for round in 0..rounds(ROUNDS) {
        let queue = engine.queue("comes").max_active(1 + round as u32 % 3).build().unwrap();
        std::thread::scope(|threads| {
            let clone = queue.clone();
            let work = &work;
            threads.spawn(move || {
                for _ in 0..8 {
                    let _ = clone.queue(work);
                    let _ = clone.spawn(canary);
                }
            });
            drop(queue);
        });
    }
}
