//! Single items that a lone worker takes without the pool's lock: order, limits, exclusion and progress are as ever.

mod support;

use cmwq::bench::RawWork;
use cmwq::{Engine, Queue, Submit, Work, blocking};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use support::watchdog;

/// A caller-owned item with what its function needs.
#[repr(C)]
struct Raw {
    raw: RawWork,
    body: Box<dyn Fn() + Send + Sync>,
}

/// An item that stays for ever.
fn raw(body: impl Fn() + Send + Sync + 'static) -> &'static Raw {
    Box::leak(Box::new(Raw { raw: RawWork::new(call), body: Box::new(body) }))
}

/// # Safety
/// The item is the first field of a `Raw`.
unsafe fn call(item: NonNull<RawWork>) {
    // SAFETY: `repr(C)`, and it stays for ever.
    (unsafe { item.cast::<Raw>().as_ref() }.body)();
}

impl Raw {
    fn queue(&'static self, queue: &Queue) -> Submit {
        // SAFETY: it stays for ever and its function may be called on any thread.
        unsafe { RawWork::queue(NonNull::from(self).cast(), queue) }
    }
}

fn holds_within(time: Duration, holds: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while !holds() {
        if begun.elapsed() > time {
            return false;
        }
        std::thread::yield_now();
    }
    true
}

/// An item that has ended is queued again by the one that the same worker runs after it, which then waits for it.
#[test]
fn an_item_that_has_ended_runs_beside_the_leaseholders_next() {
    let _watchdog = watchdog("an_item_that_has_ended_runs_beside_the_leaseholders_next");
    let engine = Engine::builder().name("past").build().unwrap();
    for next_is_raw in [false, true] {
        let queue = engine.queue("past").per_cpu().build().unwrap();
        for _ in 0..20 {
            let runs = Arc::new(AtomicU32::new(0));
            let waited = Arc::new(Mutex::new(None));
            // The first run queues the next item, which queues the first again.
            let first_again: Arc<Mutex<Option<&'static Raw>>> = Arc::default();
            let body = {
                let (runs, waited, queue) = (Arc::clone(&runs), Arc::clone(&waited), queue.clone());
                let first_again = Arc::clone(&first_again);
                move || {
                    let first = first_again.lock().unwrap().expect("set before it is queued");
                    assert_eq!(first.queue(&queue), Submit::Queued);
                    let ran = blocking(|| holds_within(Duration::from_secs(5), || runs.load(SeqCst) == 2));
                    *waited.lock().unwrap() = Some(ran);
                }
            };
            let (next_raw, next_work) =
                if next_is_raw { (Some(raw(body)), None) } else { (None, Some(Work::new(move |_| body()))) };
            let first = {
                let (runs, queue) = (Arc::clone(&runs), queue.clone());
                raw(move || {
                    if runs.fetch_add(1, SeqCst) > 0 {
                        return;
                    }
                    let queued = match (next_raw, &next_work) {
                        (Some(next), _) => next.queue(&queue),
                        (None, Some(next)) => queue.queue(next),
                        (None, None) => unreachable!("one of the two"),
                    };
                    assert_eq!(queued, Submit::Queued);
                })
            };
            *first_again.lock().unwrap() = Some(first);
            assert_eq!(first.queue(&queue), Submit::Queued);
            support::until("the next item has run", || waited.lock().unwrap().is_some());
            assert_eq!(*waited.lock().unwrap(), Some(true), "the first waited behind the next");
            queue.flush().unwrap();
        }
    }
}
