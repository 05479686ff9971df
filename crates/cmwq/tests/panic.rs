//! A panic ends with its item: the worker lives, whoever waits learns of it, and no drop of user code takes it
//! further.

mod support;

use cmwq::{Engine, EngineEvent, FlushError, JoinError, Queue, Scope, Submit, Work};
use std::panic::panic_any;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use support::{gate, pass, this_thread, threads_named, until, until_asleep, watchdog};

/// One worker, so that its survival shows.
fn single(name: &str) -> (Engine, Queue) {
    let engine = Engine::builder().name(name).workers_max(1).build().unwrap();
    let queue = engine.queue(name).scope(Scope::System).build().unwrap();
    queue.spawn(|| ()).join().unwrap();
    (engine, queue)
}

/// The one worker is the one that was made first.
fn assert_alive(engine: &Engine, queue: &Queue) {
    assert_eq!(queue.spawn(|| 1).join().unwrap(), 1);
    let pool = &engine.stats().pools[0];
    assert_eq!((pool.created, pool.exited, pool.workers), (1, 0, 1));
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_any("dropped");
    }
}

/// Panics with itself when it is dropped, for ever.
struct Fuse;

impl Drop for Fuse {
    fn drop(&mut self) {
        panic_any(Fuse);
    }
}

#[test]
fn a_panic_reaches_the_handle_the_counter_and_the_callback() {
    let _watchdog = watchdog("a_panic_reaches_the_handle_the_counter_and_the_callback");
    let events = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&events);
    let engine = Engine::builder()
        .name("told")
        .workers_max(1)
        .on_event(move |event| {
            if let EngineEvent::ItemPanicked { queue, place, .. } = event {
                told.lock().unwrap().push((queue.clone(), place.clone()));
                panic!("a panicking callback does no harm");
            }
        })
        .build()
        .unwrap();
    let queue = engine.queue("loud").scope(Scope::System).build().unwrap();
    let handle = queue.spawn(|| -> u32 { panic_any(String::from("payload")) });
    let line = line!() - 1;
    let Err(JoinError::Panicked(payload)) = handle.join() else { panic!("it panicked") };
    assert_eq!(payload.downcast_ref::<String>().unwrap(), "payload");
    assert_eq!(engine.stats().panics, 1);
    let events = events.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let [(name, place)] = &events[..] else { panic!("one event, not {events:?}") };
    assert_eq!(name.as_deref(), Some("loud"));
    assert!(place.contains(&format!("panic.rs:{line}:")), "{place}");
    assert_alive(&engine, &queue);
}

#[test]
fn a_panicking_work_can_be_queued_again() {
    let _watchdog = watchdog("a_panicking_work_can_be_queued_again");
    let (engine, queue) = single("again");
    let mut runs = 0;
    let work = Work::new(move |_| {
        runs += 1;
        panic_any(runs);
    });
    for run in 1..=10 {
        assert_eq!(queue.queue(&work), Submit::Queued);
        let Err(FlushError::Panicked(payload)) = work.flush() else { panic!("it panicked") };
        assert_eq!(payload.downcast_ref::<i32>(), Some(&run));
    }
    // Nobody asks for this one.
    assert_eq!(queue.queue(&work), Submit::Queued);
    drop(work);
    queue.flush().unwrap();
    assert_eq!(engine.stats().panics, 11);
    assert_alive(&engine, &queue);
}

#[test]
fn of_several_flushers_of_a_panicked_run_one_takes_the_payload() {
    let _watchdog = watchdog("of_several_flushers_of_a_panicked_run_one_takes_the_payload");
    let (_engine, queue) = single("flushers");
    let (open, closed) = gate();
    let work = Work::new(move |_| {
        pass(&closed);
        panic_any("payload");
    });
    assert_eq!(queue.queue(&work), Submit::Queued);
    let (tell, told) = std::sync::mpsc::channel();
    let answers: Vec<Result<bool, FlushError>> = std::thread::scope(|threads| {
        let flush = |tell: std::sync::mpsc::Sender<_>| {
            let work = work.clone();
            move || {
                tell.send(this_thread()).unwrap();
                work.flush()
            }
        };
        let flushers: Vec<_> = (0..4).map(|_| threads.spawn(flush(tell.clone()))).collect();
        // All of them wait for the run.
        (0..4).for_each(|_| until_asleep(&told.recv().unwrap()));
        open.open();
        flushers.into_iter().map(|flusher| flusher.join().unwrap()).collect()
    });
    let (waited, payloads): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.is_ok());
    assert!(
        waited.into_iter().all(|answer| answer.unwrap()),
        "the others have waited, and hear nothing of it"
    );
    let [Err(FlushError::Panicked(payload))] = &payloads[..] else { panic!("one, not {payloads:?}") };
    assert_eq!(payload.downcast_ref(), Some(&"payload"));
    assert!(!work.flush().unwrap(), "it was given out");
}

#[test]
fn a_payload_waits_for_a_flush_until_a_later_panic_replaces_it() {
    let _watchdog = watchdog("a_payload_waits_for_a_flush_until_a_later_panic_replaces_it");
    let (_engine, queue) = single("kept");
    let mut runs = 0;
    let work = Work::new(move |_| {
        runs += 1;
        if runs != 3 {
            panic_any(runs);
        }
    });
    let run = || {
        assert_eq!(queue.queue(&work), Submit::Queued);
        // Not a flush of the work, which would take the payload.
        queue.flush().unwrap();
    };
    // Two runs panic, the third returns.
    (0..3).for_each(|_| run());
    let Err(FlushError::Panicked(payload)) = work.flush() else {
        panic!("an idle work's payload is given out")
    };
    assert_eq!(payload.downcast_ref::<i32>(), Some(&2));
    assert!(!work.flush().unwrap());
}

#[test]
fn what_panics_when_it_is_dropped_does_not_end_the_worker() {
    let _watchdog = watchdog("what_panics_when_it_is_dropped_does_not_end_the_worker");
    let (engine, queue) = single("drops");
    // A result nobody asks for, dropped by the worker.
    drop(queue.spawn(|| Bomb));
    queue.flush().unwrap();
    // What the closure owns.
    let bomb = Bomb;
    let handle = queue.spawn(move || {
        let _bomb = &bomb;
        1
    });
    assert!(matches!(handle.join(), Err(JoinError::Panicked(_))));
    // A payload nobody asks for, and one whose drop never ends to panic.
    drop(queue.spawn(|| panic_any(Bomb)));
    drop(queue.spawn(|| panic_any(Fuse)));
    drop(queue.spawn(|| Fuse));
    queue.flush().unwrap();
    // A work's function, dropped by its last run; and payloads that replace one another.
    let fuse = Fuse;
    let work = Work::new(move |_| {
        let _fuse = &fuse;
        panic_any(Bomb)
    });
    for _ in 0..3 {
        assert_eq!(queue.queue(&work), Submit::Queued);
        queue.flush().unwrap();
    }
    std::mem::forget(work.flush());
    let pending = work.clone();
    drop(work);
    assert_eq!(queue.queue(&pending), Submit::Queued);
    until("it has started", || !pending.is_pending());
    std::mem::forget(pending);
    assert_alive(&engine, &queue);
}

#[test]
fn a_function_dropped_by_its_own_run_may_panic() {
    let _watchdog = watchdog("a_function_dropped_by_its_own_run_may_panic");
    let (engine, queue) = single("owndrop");
    for _ in 0..100 {
        let bomb = Bomb;
        let holder: Arc<Mutex<Option<Work>>> = Arc::default();
        let own = Arc::clone(&holder);
        let work = Work::new(move |_| {
            let _bomb = &bomb;
            // The last handle but the run's own.
            drop(own.lock().unwrap().take());
        });
        *holder.lock().unwrap() = Some(work.clone());
        assert_eq!(queue.queue(&work), Submit::Queued);
        std::mem::forget(work);
        queue.flush().unwrap();
    }
    assert_alive(&engine, &queue);
}

#[test]
fn a_refused_closure_that_panics_when_dropped_is_reported_as_refused() {
    let _watchdog = watchdog("a_refused_closure_that_panics_when_dropped_is_reported_as_refused");
    let (_engine, queue) = single("refused");
    let clone = queue.clone();
    queue.destroy().unwrap();
    let bomb = Bomb;
    let handle = clone.spawn(move || {
        let _bomb = &bomb;
    });
    assert!(matches!(handle.join(), Err(JoinError::Refused(_))));
}

#[test]
fn a_thousand_panics_keep_their_threads() {
    let _watchdog = watchdog("a_thousand_panics_keep_their_threads");
    let engine = Engine::builder().name("keep").idle_timeout(support::HANG).build().unwrap();
    let queue = engine.queue("keep").build().unwrap();
    let caught = AtomicU32::new(0);
    for _ in 0..1000 {
        if queue.spawn(|| panic_any(())).join().is_err() {
            caught.fetch_add(1, Relaxed);
        }
    }
    assert_eq!(caught.load(Relaxed), 1000);
    let stats = engine.stats();
    assert_eq!(stats.panics, 1000);
    assert_eq!(stats.pools.iter().map(|pool| pool.exited).sum::<u64>(), 0);
    let workers = stats.pools.iter().map(|pool| pool.created).sum::<u64>();
    until("the workers and the manager", || threads_named("keep/").len() as u64 == workers + 1);
}
