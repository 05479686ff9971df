//! A cancel or disable that is awaited: when it is ready, and what dropping it leaves.

mod support;

use cmwq::{Engine, Queue, Refusal, Submit, Work};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};
use support::{Gate, counting, gate, held, pass, until, watchdog};

/// Counts how often it is woken.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

fn queue(name: &str) -> Queue {
    Engine::builder().name(name).build().unwrap().queue(name).build().unwrap()
}

/// A work inside its first run, which ends when the gate is opened; later runs end at once.
fn running(queue: &Queue) -> (Work, Gate) {
    let (open, closed) = gate();
    let work = Work::new(move |_| pass(&closed));
    assert_eq!(queue.queue(&work), Submit::Queued);
    until("it runs", || work.is_running());
    (work, open)
}

#[test]
fn an_awaited_cancel_is_woken_by_the_end_of_the_run_and_enables_the_work() {
    let _watchdog = watchdog("an_awaited_cancel_is_woken_by_the_end_of_the_run_and_enables_the_work");
    let queue = queue("awaited");
    let (work, open) = running(&queue);
    assert_eq!(queue.queue(&work), Submit::Queued);
    let count = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&count));
    let mut context = Context::from_waker(&waker);
    let mut cancelled = pin!(work.cancel_async());
    assert!(!work.is_pending(), "taken back by the call");
    assert_eq!(cancelled.as_mut().poll(&mut context), Poll::Pending);
    assert_eq!(queue.queue(&work), Submit::Refused(Refusal::Disabled));
    assert_eq!(count.0.load(SeqCst), 0);
    open.open();
    until("it is woken", || count.0.load(SeqCst) == 1);
    assert_eq!(cancelled.as_mut().poll(&mut context), Poll::Ready(true), "an instance was pending");
    assert!(!work.is_running());
    assert_eq!(queue.queue(&work), Submit::Queued, "it is enabled again");
    assert!(work.flush().is_ok());
}

#[test]
fn with_no_run_under_way_an_awaited_cancel_is_ready_at_once() {
    let _watchdog = watchdog("with_no_run_under_way_an_awaited_cancel_is_ready_at_once");
    let engine = Engine::builder().name("ready").build().unwrap();
    let queue = engine.queue("ready").max_active(1).scope(cmwq::Scope::System).build().unwrap();
    let (work, runs) = counting();
    let mut context = Context::from_waker(Waker::noop());
    assert_eq!(pin!(work.cancel_async()).poll(&mut context), Poll::Ready(false));
    let open = held(&queue);
    assert_eq!(queue.queue(&work), Submit::Queued);
    assert_eq!(pin!(work.cancel_async()).poll(&mut context), Poll::Ready(true));
    open.open();
    queue.flush().unwrap();
    assert_eq!(runs.load(SeqCst), 0);
}

#[test]
fn a_dropped_cancel_enables_the_work_and_a_dropped_disable_does_not() {
    let _watchdog = watchdog("a_dropped_cancel_enables_the_work_and_a_dropped_disable_does_not");
    let queue = queue("dropped");
    let (work, open) = running(&queue);
    let count = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&count));
    let mut context = Context::from_waker(&waker);
    {
        let mut cancelled = pin!(work.cancel_async());
        assert_eq!(cancelled.as_mut().poll(&mut context), Poll::Pending);
        assert!(work.is_disabled());
    }
    assert!(!work.is_disabled() && work.is_running());
    {
        let mut disabled = pin!(work.disable_async());
        assert_eq!(disabled.as_mut().poll(&mut context), Poll::Pending);
    }
    assert_eq!(queue.queue(&work), Submit::Refused(Refusal::Disabled));
    open.open();
    until("the waker that was left is woken", || count.0.load(SeqCst) == 1);
    assert_eq!(pin!(work.disable_async()).poll(&mut context), Poll::Ready(false));
    let (_, _) = (work.enable(), work.enable());
    assert!(!work.is_disabled());
    assert_eq!(queue.queue(&work), Submit::Queued);
    queue.flush().unwrap();
}
