//! Submitting a work allocates nothing and creates no thread, from whatever thread.

mod support;

use cmwq::{Engine, Submit, Work};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use support::{threads_named, until, watchdog};

/// Counts what the calling thread allocates.
struct Counting;

thread_local! {
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED.set(ALLOCATED.get() + 1);
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        ALLOCATED.set(ALLOCATED.get() + 1);
        // SAFETY: passed on.
        unsafe { System.dealloc(address, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(body: impl FnOnce()) -> u64 {
    let before = ALLOCATED.get();
    body();
    ALLOCATED.get() - before
}

#[test]
fn submissions_allocate_nothing() {
    let _watchdog = watchdog("submissions_allocate_nothing");
    let engine = Engine::builder().name("alloc").build().unwrap();
    for builder in [engine.queue("unbound"), engine.queue("per-cpu").per_cpu()] {
        let queue = builder.build().unwrap();
        let works: Vec<Work> = (0..64).map(|_| Work::new(|_| ())).collect();
        // The very first submission to the queue, which has no worker yet, and the first of this thread.
        for round in 0..100 {
            let submit = |expected| {
                let mut same = true;
                let allocated =
                    allocations(|| works.iter().for_each(|work| same &= queue.queue(work) == expected));
                assert_eq!(allocated, 0, "round {round}");
                same
            };
            let queued = submit(Submit::Queued);
            assert!(queued || round % 10 != 1, "after a flush all are idle");
            submit(Submit::AlreadyPending);
            if round % 10 == 0 {
                queue.flush().unwrap();
            }
        }
        queue.flush().unwrap();
    }
}

#[test]
fn the_first_submission_of_a_thread_allocates_nothing() {
    let _watchdog = watchdog("the_first_submission_of_a_thread_allocates_nothing");
    let engine = Engine::builder().build().unwrap();
    let queue = engine.queue("first").build().unwrap();
    for _ in 0..100 {
        let work = Work::new(|_| ());
        std::thread::scope(|threads| {
            threads.spawn(|| assert_eq!(allocations(|| assert_eq!(queue.queue(&work), Submit::Queued)), 0));
        });
        work.flush().unwrap();
    }
}

/// A submission to a pool that has no worker wakes the manager; the thread is made there.
#[test]
fn a_submission_creates_no_thread() {
    let _watchdog = watchdog("a_submission_creates_no_thread");
    for round in 0..50 {
        let creators = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let creators2 = std::sync::Arc::clone(&creators);
        let name = format!("cr{round}");
        let engine = Engine::builder()
            .name(&name)
            .on_event(move |event| {
                if matches!(event, cmwq::EngineEvent::WorkerCreated { .. }) {
                    creators2.lock().unwrap().push(std::thread::current().id());
                }
            })
            .build()
            .unwrap();
        let queue = engine.queue("creates").build().unwrap();
        // A thread takes its name when it begins to run.
        until("the manager alone", || threads_named(&format!("{name}/")).len() == 1);
        let work = Work::new(|_| ());
        assert_eq!(queue.queue(&work), Submit::Queued);
        work.flush().unwrap();
        drop((queue, engine));
        let creators = creators.lock().unwrap();
        assert!(!creators.is_empty() && !creators.contains(&std::thread::current().id()));
    }
}
