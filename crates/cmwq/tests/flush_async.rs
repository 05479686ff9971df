//! An awaited flush: its cut is made by the call; it owes what was queued before, and nothing queued later.
#![allow(clippy::let_underscore_future, reason = "to drop a handle is to detach its item")]

mod support;

use cmwq::{Engine, Flushed, Queue, Topology};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use support::{held, this_thread, until, watchdog};

fn queue(name: &str) -> Queue {
    Engine::builder().name(name).build().unwrap().queue(name).build().unwrap()
}

#[derive(Default)]
struct Wakes(AtomicU32);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

fn poll(flush: &mut Flushed, wakes: &Arc<Wakes>) -> Poll<()> {
    Pin::new(flush).poll(&mut Context::from_waker(&Waker::from(Arc::clone(wakes))))
}

fn woken(wakes: &Wakes) -> bool {
    wakes.0.load(Relaxed) > 0
}

#[test]
fn an_idle_queue_is_flushed_at_once() {
    let queue = queue("idle");
    let wakes = Arc::default();
    assert_eq!(poll(&mut queue.flush_async(), &wakes), Poll::Ready(()));
    let _ = queue.spawn(|| ());
    queue.flush().unwrap();
    let mut flush = queue.flush_async();
    assert_eq!(poll(&mut flush, &wakes), Poll::Ready(()));
    assert_eq!(poll(&mut flush, &wakes), Poll::Ready(()), "a flush that has ended has ended");
}

#[test]
fn it_waits_for_what_was_queued_before_the_call() {
    let _watchdog = watchdog("it_waits_for_what_was_queued_before_the_call");
    let queue = queue("before");
    let open = held(&queue);
    let mut flush = queue.flush_async();
    let wakes = Arc::default();
    assert_eq!(poll(&mut flush, &wakes), Poll::Pending);
    open.open();
    until("the waker is woken", || woken(&wakes));
    until("the flush ends", || poll(&mut flush, &wakes).is_ready());
}

#[test]
fn it_does_not_wait_for_what_is_queued_between_call_and_poll() {
    let _watchdog = watchdog("it_does_not_wait_for_what_is_queued_between_call_and_poll");
    let queue = queue("after");
    let first = held(&queue);
    let mut flush = queue.flush_async();
    let second = held(&queue);
    let wakes = Arc::default();
    assert_eq!(poll(&mut flush, &wakes), Poll::Pending);
    first.open();
    until("the flush ends", || poll(&mut flush, &wakes).is_ready());
    second.open();
}

/// A blocks in the oldest phase; T flushes; X, queued later, waits for T. Fourteen other cuts lie between.
#[test]
fn an_item_queued_later_may_wait_for_each_of_fifteen_flushes() {
    let _watchdog = watchdog("an_item_queued_later_may_wait_for_each_of_fifteen_flushes");
    let queue = queue("chain");
    let oldest = held(&queue);
    let mut later = Vec::new();
    let wakes = Arc::default();
    for _ in 0..15 {
        let mut flush = queue.flush_async();
        assert_eq!(poll(&mut flush, &wakes), Poll::Pending);
        let ended = Arc::new(AtomicBool::new(false));
        let waits_for = Arc::clone(&ended);
        let x = queue.spawn(move || {
            cmwq::blocking(|| until("the flush that the item waits for", || waits_for.load(Relaxed)));
        });
        later.push((flush, ended, x));
    }
    oldest.open();
    for (mut flush, ended, x) in later {
        until("each flush ends without what came after it", || poll(&mut flush, &wakes).is_ready());
        ended.store(true, Relaxed);
        x.join().unwrap();
    }
}

#[test]
fn one_without_a_slot_is_woken_and_ends() {
    let _watchdog = watchdog("one_without_a_slot_is_woken_and_ends");
    let queue = queue("slots");
    let open = held(&queue);
    let early = Arc::default();
    let mut flushes: Vec<_> = (0..30)
        .map(|_| {
            let _ = queue.spawn(|| ());
            queue.flush_async()
        })
        .collect();
    for flush in &mut flushes {
        assert_eq!(poll(flush, &early), Poll::Pending);
    }
    // Half of them are given up.
    flushes.truncate(20);
    let last = Arc::default();
    assert_eq!(poll(flushes.last_mut().unwrap(), &last), Poll::Pending);
    open.open();
    until("the last is woken", || woken(&last));
    for flush in &mut flushes {
        until("it ends", || poll(flush, &early).is_ready());
    }
}

/// More phases than there are slots, on more pwqs than one word lists, all of them.
#[test]
fn many_pwqs_are_flushed_over_and_over() {
    let _watchdog = watchdog("many_pwqs_are_flushed_over_and_over");
    let topology = Topology::synthetic("core:40").unwrap();
    let engine = Engine::builder().topology(topology).build().unwrap();
    let queue = engine.queue("many").per_cpu().build().unwrap();
    let ran = Arc::new(AtomicU32::new(0));
    let works: Vec<_> = (0..40)
        .map(|_| {
            let ran = Arc::clone(&ran);
            cmwq::Work::new(move |_| {
                ran.fetch_add(1, Relaxed);
            })
        })
        .collect();
    let mut queued = 0;
    for round in 0..40_usize {
        for (cpu, work) in works.iter().enumerate().skip(round).step_by(1 + round % 7) {
            assert_eq!(queue.queue_on(cpu as u32, work), cmwq::Submit::Queued);
            queued += 1;
        }
        queue.flush().unwrap();
        assert_eq!(ran.load(Relaxed), queued, "round {round}");
    }
}

/// Its payload panics too when it is dropped.
struct Spiteful;

impl Drop for Spiteful {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// Notes the thread that it is called on.
#[derive(Default)]
struct PanickingWaker(OnceLock<PathBuf>);

impl Wake for PanickingWaker {
    fn wake(self: Arc<Self>) {
        self.0.set(this_thread()).unwrap();
        std::panic::panic_any(Spiteful);
    }
}

#[test]
fn a_waker_that_panics_takes_no_worker_with_it() {
    let _watchdog = watchdog("a_waker_that_panics_takes_no_worker_with_it");
    let queue = queue("spite");
    for _ in 0..20 {
        let open = held(&queue);
        let mut flush = queue.flush_async();
        let waker = Arc::new(PanickingWaker::default());
        let polled = Pin::new(&mut flush).poll(&mut Context::from_waker(&Waker::from(Arc::clone(&waker))));
        assert_eq!(polled, Poll::Pending);
        open.open();
        until("it is woken", || waker.0.get().is_some());
        std::thread::sleep(Duration::from_millis(5));
        assert!(waker.0.get().unwrap().exists(), "the worker that called it is there");
        queue.flush().unwrap();
    }
}
