//! The first item that has to wait behind its queue's `max_active` is told about, once.

mod support;

use cmwq::{Engine, EngineEvent, Queue, Scope, Topology};
use std::sync::{Arc, Mutex};
use support::{gate, held, pass, until, watchdog};

type Told = Arc<Mutex<Vec<(String, String)>>>;

fn engine() -> (Engine, Told) {
    let told = Told::default();
    let telling = Arc::clone(&told);
    let engine = Engine::builder()
        .topology(Topology::synthetic("core:4").unwrap())
        .on_event(move |event| {
            if let EngineEvent::QueueSaturated { queue, place, .. } = event {
                telling.lock().unwrap().push((queue.clone(), place.clone()));
            }
        })
        .build()
        .unwrap();
    (engine, told)
}

/// Fills the queue's two places and queues one item more; lets them go when it has been told, or at once.
fn fill(queue: &Queue, told: Option<&Told>) -> u32 {
    let gates = [held(queue), held(queue)];
    let line = line!() + 1;
    let third = queue.spawn(|| ());
    let more: Vec<_> = (0..20).map(|_| queue.spawn(|| ())).collect();
    if let Some(told) = told {
        until("it is told", || !told.lock().unwrap().is_empty());
    }
    assert!(!third.is_finished());
    drop(gates);
    more.into_iter().for_each(|item| item.join().unwrap());
    queue.flush().unwrap();
    line
}

#[test]
fn the_first_item_that_waits_is_told_with_its_place_and_no_other() {
    let _watchdog = watchdog("the_first_item_that_waits_is_told_with_its_place_and_no_other");
    let (engine, told) = engine();
    let roomy = engine.queue("roomy").scope(Scope::System).build().unwrap();
    let queue = engine.queue("full").max_active(2).scope(Scope::System).build().unwrap();
    let line = fill(&queue, Some(&told));
    let _ = fill(&queue, None);
    let items: Vec<_> = (0..100).map(|_| roomy.spawn(|| ())).collect();
    items.into_iter().for_each(|item| item.join().unwrap());
    drop((queue, roomy));
    // Another queue gets the same pwq.
    let next = engine.queue("next").max_active(2).scope(Scope::System).build().unwrap();
    let _ = fill(&next, None);
    drop(next);
    // Its drop waits until everything is told.
    drop(engine);
    let told = told.lock().unwrap();
    let queues: Vec<&str> = told.iter().map(|(queue, _)| queue.as_str()).collect();
    assert_eq!(queues, ["full", "next"]);
    let place = &told[0].1;
    assert!(place.contains("saturation.rs") && place.contains(&format!(":{line}:")), "{place}");
}

#[test]
fn a_queue_with_many_pwqs_is_told_about_once_and_an_ordered_one_never() {
    let _watchdog = watchdog("a_queue_with_many_pwqs_is_told_about_once_and_an_ordered_one_never");
    let (engine, told) = engine();
    let many = engine.queue("many").per_cpu().max_active(1).build().unwrap();
    let ordered = engine.queue("ordered").ordered().build().unwrap();
    let (open, closed) = gate();
    let (closed, mut works) = (Arc::new(Mutex::new(closed)), Vec::new());
    for cpu in 0..4 {
        for _ in 0..3 {
            let closed = Arc::clone(&closed);
            let work = cmwq::Work::new(move |_| pass(&closed.lock().unwrap()));
            assert_eq!(many.queue_on(cpu, &work), cmwq::Submit::Queued);
            works.push(work);
        }
    }
    until("it is told", || !told.lock().unwrap().is_empty());
    let inside = held(&ordered);
    let items: Vec<_> = (0..10).map(|_| ordered.spawn(|| ())).collect();
    open.open();
    drop(inside);
    items.into_iter().for_each(|item| item.join().unwrap());
    drop((many, ordered));
    drop(engine);
    let told = told.lock().unwrap();
    assert_eq!(told.iter().map(|(queue, _)| queue.as_str()).collect::<Vec<_>>(), ["many"]);
}

/// Of two items that a worker has claimed together the first has ended and is not reported when a third one comes,
/// which would have to wait: the report makes room for it.
#[test]
fn an_end_that_is_reported_for_the_sake_of_an_item_makes_room_for_it() {
    let _watchdog = watchdog("an_end_that_is_reported_for_the_sake_of_an_item_makes_room_for_it");
    let told = Told::default();
    let telling = Arc::clone(&told);
    // Whoever is not inside the second item reports its own ends before it looks for others.
    let builder = Engine::builder().workers_max(2).topology(Topology::synthetic("core:4").unwrap());
    let engine = builder.on_event(move |event| {
        if let EngineEvent::QueueSaturated { queue, place, .. } = event {
            telling.lock().unwrap().push((queue.clone(), place.clone()));
        }
    });
    let engine = engine.build().unwrap();
    let queue = engine.queue("reached").max_active(2).scope(Scope::System).build().unwrap();
    for _ in 0..100 {
        let first = queue.spawn(|| ());
        let second = held(&queue);
        first.join().unwrap();
        queue.spawn(|| ()).join().unwrap();
        drop(second);
        queue.flush().unwrap();
        until("all ends are reported", || engine.stats().pools.iter().all(|pool| pool.active == 0));
    }
    drop(queue);
    drop(engine);
    assert!(told.lock().unwrap().is_empty(), "{told:?}");
}
