//! A creation that fails half-way says why, leaves nothing behind, and hinders nothing that comes after it.

mod support;

use cmwq::bench::refuse_memory;
use cmwq::{BuildErrorKind, Engine, EngineEvent, Queue, QueueBuilder, Scope, Topology, WakeVia};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::mpsc::channel;
use support::{is_alone, run_alone, watchdog};

/// Counts the bytes that the calling thread has allocated and not freed.
struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.set(HELD.get() + layout.size() as isize);
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size() as isize);
        // SAFETY: passed on.
        unsafe { System.dealloc(address, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const MANY: u32 = 1000;
/// Requests before those for pwqs: the counts, the list of joints. And those that are not for pwqs.
const BEFORE_PWQS: u32 = 2;
const AROUND_PWQS: u32 = BEFORE_PWQS + 1;

/// An attempt that is refused memory after so many requests.
fn attempt(after: u32, builder: QueueBuilder) {
    let _ = refuse_memory(Some(after));
    let error = builder.build().unwrap_err();
    assert_eq!(error.kind(), BuildErrorKind::Memory);
    let text = error.to_string();
    assert!(text.contains("\"refused\"") && text.contains("bytes of memory"), "{text}");
}

/// A queue, and how many requests for memory its creation has made.
fn counted(builder: QueueBuilder) -> (Queue, u32) {
    let _ = refuse_memory(Some(MANY));
    let queue = builder.build().unwrap();
    (queue, MANY - refuse_memory(None).expect("it has not come"))
}

/// A few items run.
fn serves(queue: &Queue) {
    let runs: Vec<_> = (0..8).map(|at| queue.spawn(move || at)).collect();
    assert_eq!(runs.into_iter().map(|run| run.join().unwrap()).sum::<i32>(), 28);
    queue.flush().unwrap();
}

#[test]
fn wherever_memory_is_refused_nothing_of_the_queue_is_left() {
    let _watchdog = watchdog("wherever_memory_is_refused_nothing_of_the_queue_is_left");
    let kinds: [fn(&Engine) -> QueueBuilder; 4] = [
        |engine| engine.queue("refused").per_cpu(),
        |engine| engine.queue("refused").scope(Scope::Cpu).max_active(4),
        |engine| engine.queue("refused").max_pending(100),
        |engine| engine.queue("refused").ordered(),
    ];
    let engine = || Engine::builder().topology(Topology::synthetic("core:8").unwrap()).build().unwrap();
    for kind in kinds {
        let (_, all) = counted(kind(&engine()));
        for after in 0..all {
            let engine = engine();
            let other = engine.queue("other").scope(Scope::System).strict(true).build().unwrap();
            attempt(after, kind(&engine));
            serves(&other);
            // The pwqs that were made serve the next queue: its creation asks for that much less.
            let (queue, asked) = counted(kind(&engine));
            let pwqs = after.saturating_sub(BEFORE_PWQS).min(all - AROUND_PWQS);
            assert_eq!(asked, all - pwqs, "after {after} of {all}");
            serves(&queue);
            drop(queue);
            // From now on nothing new is made. (A pwq has its last node until it gets another.)
            let again = || {
                attempt(after.min(AROUND_PWQS - 1), kind(&engine));
                HELD.get()
            };
            let held = again();
            assert!((0..10).all(|_| again() == held), "after {after} of {all}");
            serves(&kind(&engine).build().unwrap());
        }
    }
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

fn limit_descriptors(limit: u64) {
    let mut was = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is valid for the call.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut was) }, 0);
    let limit = libc::rlimit { rlim_cur: limit.min(was.rlim_max), rlim_max: was.rlim_max };
    // SAFETY: the limit is valid for the call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) }, 0);
}

/// In a process of its own, whose limit is lowered.
#[test]
fn an_engine_without_a_descriptor_is_an_error_and_a_worker_without_one_comes_later() {
    let name = "an_engine_without_a_descriptor_is_an_error_and_a_worker_without_one_comes_later";
    let _watchdog = watchdog(name);
    if !is_alone() {
        let output = run_alone(name);
        assert!(output.status.success(), "{output:?}");
        return;
    }
    let (tell, told) = channel();
    let builder =
        || Engine::builder().wake_via(WakeVia::EventFd).topology(Topology::synthetic("core:2").unwrap());
    let engine = builder()
        .create_cooldown(std::time::Duration::from_millis(5))
        .on_event(move |event| {
            if let EngineEvent::WorkerCreationFailed { error, .. } = event {
                let _ = tell.send(error.clone());
            }
        })
        .build()
        .unwrap();
    let before = descriptors();
    limit_descriptors(3);
    for _ in 0..100 {
        let error = builder().build().unwrap_err();
        assert_eq!(error.kind(), BuildErrorKind::Thread);
        assert!(error.to_string().contains("os error 24"), "{error}");
    }
    // A queue needs no descriptor, but its first worker does.
    let queue = engine.queue("waits").build().unwrap();
    let item = queue.spawn(|| 7);
    let error = told.recv().unwrap();
    assert!(error.contains("os error 24"), "{error}");
    assert!(!item.is_finished());
    limit_descriptors(u64::MAX);
    assert_eq!(item.join().unwrap(), 7);
    drop((queue, engine));
    // The manager's and the worker's are gone with them; `before` had the manager's.
    assert_eq!(descriptors(), before - 1);
    serves(&builder().build().unwrap().queue("again").build().unwrap());
}
