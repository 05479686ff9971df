//! A closure runs once; its handle waits, blocking or as a future; without a handle it runs all the same.
#![allow(clippy::let_underscore_future, reason = "to drop a handle is to detach its item")]

mod support;

use cmwq::{Engine, JoinError, JoinHandle, Queue, Scope};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::thread::{self, Thread, ThreadId};
use std::time::Duration;
use support::{gate, pass, until, watchdog};

fn queue(name: &str) -> Queue {
    Engine::builder().name(name).build().unwrap().queue(name).build().unwrap()
}

/// Wakes a thread that blocks on a future.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// What happens to one waker.
#[derive(Default)]
struct Fate {
    woken: AtomicU32,
    dropped_on: Mutex<Vec<ThreadId>>,
    panics: AtomicBool,
}

/// A waker that tells its fate. Its clones share it.
struct Fated(Arc<Fate>);

impl Wake for Fated {
    fn wake(self: Arc<Self>) {
        self.0.woken.fetch_add(1, Relaxed);
        assert!(!self.0.panics.load(Relaxed), "a waker panics");
    }
}

impl Drop for Fated {
    fn drop(&mut self) {
        self.0.dropped_on.lock().unwrap().push(thread::current().id());
    }
}

fn fated(panics: bool) -> (Waker, Arc<Fate>) {
    let fate = Arc::new(Fate::default());
    fate.panics.store(panics, Relaxed);
    (Waker::from(Arc::new(Fated(Arc::clone(&fate)))), fate)
}

fn poll<T>(handle: &mut JoinHandle<T>, waker: &Waker) -> Poll<Result<T, JoinError>> {
    Pin::new(handle).poll(&mut Context::from_waker(waker))
}

#[test]
fn results_come_back_in_every_way() {
    let _watchdog = watchdog("results_come_back_in_every_way");
    let queue = queue("ways");
    for round in 0..1000 {
        assert_eq!(queue.spawn(move || round).join().unwrap(), round);
        assert_eq!(block_on(queue.spawn(move || round)).unwrap(), round);
        let handle = queue.spawn(move || vec![round; 100]);
        while !handle.is_finished() {
            thread::yield_now();
        }
        assert_eq!(handle.join().unwrap().len(), 100);
    }
}

#[test]
fn a_future_reports_a_panic_and_a_refusal() {
    let _watchdog = watchdog("a_future_reports_a_panic_and_a_refusal");
    let queue = queue("future");
    let panicked = block_on(queue.spawn(|| std::panic::panic_any(9)));
    let Err(JoinError::Panicked(payload)) = panicked else { panic!("it panicked") };
    assert_eq!(payload.downcast_ref::<i32>(), Some(&9));
    let clone = queue.clone();
    queue.destroy().unwrap();
    assert!(matches!(block_on(clone.spawn(|| ())), Err(JoinError::Refused(_))));
}

#[test]
fn only_the_last_waker_is_called_and_each_is_dropped() {
    let _watchdog = watchdog("only_the_last_waker_is_called_and_each_is_dropped");
    let queue = queue("wakers");
    let (open, closed) = gate();
    let mut handle = queue.spawn(move || pass(&closed));
    let (first, first_fate) = fated(false);
    let (last, last_fate) = fated(false);
    for waker in [&first, &first, &last, &first, &last] {
        assert!(poll(&mut handle, waker).is_pending());
    }
    drop((first, last));
    assert_eq!(first_fate.dropped_on.lock().unwrap().len(), 1);
    open.open();
    until("the last waker", || last_fate.woken.load(Relaxed) == 1);
    until("its drop", || last_fate.dropped_on.lock().unwrap().len() == 1);
    assert_eq!(first_fate.woken.load(Relaxed), 0);
    assert_ne!(last_fate.dropped_on.lock().unwrap()[0], thread::current().id(), "the worker consumes it");
    assert!(poll(&mut handle, Waker::noop()).is_ready());
}

#[test]
fn a_future_that_is_dropped_detaches_and_wakes_nobody_twice() {
    let _watchdog = watchdog("a_future_that_is_dropped_detaches_and_wakes_nobody_twice");
    let queue = queue("dropped");
    for _ in 0..500 {
        let ran = Arc::new(AtomicU32::new(0));
        let (open, closed) = gate();
        let ran2 = Arc::clone(&ran);
        let mut handle = queue.spawn(move || {
            pass(&closed);
            ran2.fetch_add(1, Relaxed);
        });
        let (waker, fate) = fated(false);
        let _ = poll(&mut handle, &waker);
        drop(waker);
        open.open();
        drop(handle);
        queue.flush().unwrap();
        assert_eq!(ran.load(Relaxed), 1);
        assert!(fate.woken.load(Relaxed) <= 1);
        until("the waker's drop", || fate.dropped_on.lock().unwrap().len() == 1);
    }
}

#[test]
fn a_waker_that_panics_harms_neither_worker_nor_result() {
    let _watchdog = watchdog("a_waker_that_panics_harms_neither_worker_nor_result");
    let engine = Engine::builder().workers_max(1).build().unwrap();
    let queue = engine.queue("panics").scope(Scope::System).build().unwrap();
    let (open, closed) = gate();
    let mut handle = queue.spawn(move || {
        pass(&closed);
        11
    });
    let (waker, fate) = fated(true);
    assert!(poll(&mut handle, &waker).is_pending());
    open.open();
    until("the waker", || fate.woken.load(Relaxed) == 1);
    assert_eq!(handle.join().unwrap(), 11);
    assert_eq!(queue.spawn(|| 12).join().unwrap(), 12);
    assert_eq!(engine.stats().pools[0].created, 1);
}

/// A waker whose clone panics, once it has been cloned as often as it may be.
#[test]
fn a_waker_whose_clone_panics_leaves_the_future_usable() {
    let _watchdog = watchdog("a_waker_whose_clone_panics_leaves_the_future_usable");
    const VTABLE: RawWakerVTable = RawWakerVTable::new(|_| panic!("no clones"), |_| (), |_| (), |_| ());
    let queue = queue("clone");
    let (open, closed) = gate();
    let mut handle = queue.spawn(move || pass(&closed));
    // SAFETY: no function of the table uses the pointer.
    let bad = unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &VTABLE)) };
    let (good, fate) = fated(false);
    for waker in [&bad, &good, &bad] {
        let polled =
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| poll(&mut handle, waker).is_pending()));
        assert_eq!(polled.is_ok(), !std::ptr::eq(waker, &bad));
    }
    assert!(poll(&mut handle, &good).is_pending());
    open.open();
    until("the good waker", || fate.woken.load(Relaxed) == 1);
    block_on(handle).unwrap();
}

#[test]
fn a_poll_after_the_result_panics() {
    let _watchdog = watchdog("a_poll_after_the_result_panics");
    let queue = queue("after");
    let mut handle = queue.spawn(|| 1);
    until("the result", || handle.is_finished());
    assert!(poll(&mut handle, Waker::noop()).is_ready());
    let again = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| poll(&mut handle, Waker::noop())));
    assert!(again.is_err());
}

#[test]
fn polled_and_then_joined_a_handle_gives_its_result() {
    let _watchdog = watchdog("polled_and_then_joined_a_handle_gives_its_result");
    let queue = queue("both");
    for round in 0..1000 {
        let mut handle = queue.spawn(move || round);
        let (waker, _fate) = fated(false);
        match poll(&mut handle, &waker) {
            Poll::Ready(result) => assert_eq!(result.unwrap(), round),
            Poll::Pending => assert_eq!(handle.join().unwrap(), round),
        }
    }
}

#[test]
fn items_join_items_of_their_own_queue() {
    let _watchdog = watchdog("items_join_items_of_their_own_queue");
    for per_cpu in [false, true] {
        let engine = Engine::builder().name("inner").build().unwrap();
        let builder = engine.queue("inner");
        let queue = if per_cpu { builder.per_cpu() } else { builder.unbound() }.build().unwrap();
        fn descend(queue: Queue, depth: u32) -> u32 {
            if depth == 0 {
                return 0;
            }
            let inner = queue.clone();
            1 + queue.spawn(move || descend(inner, depth - 1)).join().unwrap()
        }
        assert_eq!(descend(queue, 50), 50);
    }
}

#[test]
fn a_detached_result_is_dropped_by_the_worker() {
    let _watchdog = watchdog("a_detached_result_is_dropped_by_the_worker");
    struct Tells(std::sync::mpsc::Sender<ThreadId>);
    impl Drop for Tells {
        fn drop(&mut self) {
            let _ = self.0.send(thread::current().id());
        }
    }
    let queue = queue("detached");
    let (tell, told) = std::sync::mpsc::channel();
    let (open, closed) = gate();
    drop(queue.spawn(move || {
        pass(&closed);
        Tells(tell)
    }));
    open.open();
    assert_ne!(told.recv_timeout(Duration::from_secs(20)).unwrap(), thread::current().id());
}
