//! An engine ends with its last handle: what is queued runs first, its threads are gone afterwards.
#![allow(clippy::let_underscore_future, reason = "to drop a handle is to detach its item")]

mod support;

use cmwq::{Engine, Scope, Submit, Work};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::time::Duration;
use support::{rounds, threads_named, until, watchdog};

#[test]
fn no_thread_is_left_when_the_last_handle_has_been_dropped() {
    let _watchdog = watchdog("no_thread_is_left_when_the_last_handle_has_been_dropped");
    for round in 0..rounds(200) {
        let name = format!("end{}", round % 100);
        let engine = Engine::builder().name(&name).idle_timeout(Duration::from_micros(300)).build().unwrap();
        let queue = engine.queue("end").build().unwrap();
        let items: Vec<_> =
            (0..8).map(|_| queue.spawn(|| std::thread::sleep(Duration::from_micros(200)))).collect();
        drop(items);
        if round % 2 == 0 {
            queue.flush().unwrap();
            // Some are just being culled.
            std::thread::sleep(Duration::from_micros(round as u64 * 7 % 600));
        }
        drop((queue, engine));
        // The system may list a thread for a moment after its end has been waited for.
        until("no thread", || threads_named(&format!("{name}/")).is_empty());
    }
}

/// What the callback owns goes with the engine, on the thread that dropped it.
#[test]
fn nothing_of_the_engine_outlives_its_drop() {
    let _watchdog = watchdog("nothing_of_the_engine_outlives_its_drop");
    for round in 0..rounds(200) {
        let owned = Arc::new(());
        let callback = Arc::clone(&owned);
        let engine = Engine::builder()
            .idle_timeout(Duration::from_micros(200))
            .on_event(move |_| drop(Arc::clone(&callback)))
            .build()
            .unwrap();
        let queue = engine.queue("end").build().unwrap();
        for _ in 0..6 {
            let _ = queue.spawn(|| std::thread::sleep(Duration::from_micros(100)));
        }
        queue.flush().unwrap();
        std::thread::sleep(Duration::from_micros(round as u64 * 13 % 500));
        drop((queue, engine));
        assert_eq!(Arc::strong_count(&owned), 1, "round {round}");
    }
}

#[test]
fn queued_items_run_before_the_engine_ends() {
    let _watchdog = watchdog("queued_items_run_before_the_engine_ends");
    for _ in 0..100 {
        let engine = Engine::new().unwrap();
        let ended = Arc::new(AtomicU32::new(0));
        for builder in [engine.queue("a"), engine.queue("b").per_cpu(), engine.queue("c").max_active(1)] {
            let queue = builder.build().unwrap();
            for _ in 0..50 {
                let ended = Arc::clone(&ended);
                let _ = queue.spawn(move || ended.fetch_add(1, Relaxed));
            }
        }
        drop(engine);
        assert_eq!(ended.load(Relaxed), 150);
    }
}

#[test]
fn an_engine_without_queues_or_items_ends_at_once() {
    let _watchdog = watchdog("an_engine_without_queues_or_items_ends_at_once");
    for _ in 0..200 {
        let engine = Engine::new().unwrap();
        let queue = engine.queue("unused").build().unwrap();
        drop((engine, queue));
    }
}

#[test]
fn the_last_handle_may_be_dropped_on_an_own_worker() {
    let _watchdog = watchdog("the_last_handle_may_be_dropped_on_an_own_worker");
    for round in 0..100 {
        let name = format!("ow{round}");
        let (tell, told) = channel();
        let engine = Engine::builder().name(&name).build().unwrap();
        let queue = engine.queue("own").build().unwrap();
        let (own, behind) = (queue.clone(), queue.clone());
        let _ = queue.spawn(move || {
            let tell2 = tell.clone();
            let _ = behind.spawn(move || tell2.send(2).unwrap());
            drop((engine, own, behind));
            tell.send(1).unwrap();
        });
        drop(queue);
        let mut seen = [told.recv().unwrap(), told.recv().unwrap()];
        seen.sort_unstable();
        assert_eq!(seen, [1, 2]);
        until("its threads end by themselves", || threads_named(&format!("{name}/")).is_empty());
    }
}

#[test]
fn dropped_right_after_an_item_has_signalled_it_ends() {
    let _watchdog = watchdog("dropped_right_after_an_item_has_signalled_it_ends");
    for _ in 0..rounds(300) {
        let (tell, told) = channel();
        let engine = Engine::new().unwrap();
        let queue = engine.queue("signal").build().unwrap();
        let _ = queue.spawn(move || tell.send(()).unwrap());
        told.recv().unwrap();
        drop((queue, engine));
    }
}

/// A work of one engine is handed over by its run to the queue of another, which ends right after.
#[test]
fn engines_end_while_works_travel_between_them() {
    let _watchdog = watchdog("engines_end_while_works_travel_between_them");
    let home = Engine::new().unwrap();
    let home_queue = home.queue("home").build().unwrap();
    let runs = Arc::new(AtomicU32::new(0));
    let runs2 = Arc::clone(&runs);
    let work = Work::new(move |_| {
        runs2.fetch_add(1, Relaxed);
        std::thread::yield_now();
    });
    let mut queued = 0;
    for _ in 0..rounds(300) {
        let away = Engine::builder().workers_max(2).build().unwrap();
        let away_queue = away.queue("away").scope(Scope::System).build().unwrap();
        let _ = away_queue.spawn(|| ());
        queued += u32::from(home_queue.queue(&work) == Submit::Queued);
        queued += u32::from(away_queue.queue(&work) == Submit::Queued);
        drop((away_queue, away));
    }
    home_queue.flush().unwrap();
    assert_eq!(runs.load(Relaxed), queued);
}

#[test]
fn the_global_engine_is_always_the_same() {
    let _watchdog = watchdog("the_global_engine_is_always_the_same");
    let (one, two) = (Engine::global().unwrap(), Engine::global().unwrap());
    assert!(std::ptr::eq(one, two));
    let queue = one.queue("global").build().unwrap();
    assert_eq!(queue.spawn(|| 3).join().unwrap(), 3);
    queue.destroy().unwrap();
}
