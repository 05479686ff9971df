//! A per-CPU queue runs one item at a time on a CPU, unless the running one says that it blocks.

mod support;

use cmwq::{Engine, Queue, Submit, Work, blocking};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use support::watchdog;

/// A queue, and a CPU to queue on.
fn queue(name: &str) -> (Queue, u32) {
    let engine = Engine::builder().name(name).build().unwrap();
    let cpu = engine.topology().cpus().first().unwrap().0;
    (engine.queue(name).per_cpu().build().unwrap(), cpu)
}

fn works(count: usize, body: impl Fn(usize) + Send + Sync + 'static) -> Vec<Work> {
    let body = Arc::new(body);
    (0..count)
        .map(|at| {
            let body = Arc::clone(&body);
            Work::new(move |_| body(at))
        })
        .collect()
}

#[test]
fn items_of_one_cpu_run_one_after_the_other_in_order() {
    let _watchdog = watchdog("items_of_one_cpu_run_one_after_the_other_in_order");
    let (queue, cpu) = queue("order");
    let (inside, order) = (AtomicU32::new(0), Arc::new(Mutex::new(Vec::new())));
    let order2 = Arc::clone(&order);
    let works = works(100, move |at| {
        assert_eq!(inside.fetch_add(1, Relaxed), 0, "two run at once");
        // It sleeps and does not say so.
        std::thread::sleep(Duration::from_micros(100));
        order2.lock().unwrap().push(at);
        inside.fetch_sub(1, Relaxed);
    });
    for work in &works {
        assert_eq!(queue.queue_on(cpu, work), Submit::Queued);
    }
    works.iter().for_each(|work| assert!(work.flush().is_ok()));
    assert_eq!(*order.lock().unwrap(), (0..100).collect::<Vec<_>>());
}

#[test]
fn a_blocking_item_lets_the_next_one_run() {
    let _watchdog = watchdog("a_blocking_item_lets_the_next_one_run");
    let (queue, cpu) = queue("blocking");
    for depth in 1..=3 {
        let (open, closed) = support::gate();
        let closed = Mutex::new(closed);
        let waits = Work::new(move |_| {
            fn nested(depth: u32, body: &mut dyn FnMut()) {
                if depth == 0 { body() } else { blocking(|| nested(depth - 1, body)) }
            }
            nested(depth, &mut || support::pass(&closed.lock().unwrap()));
        });
        let runs = Arc::new(AtomicU32::new(0));
        let runs2 = Arc::clone(&runs);
        let next = Work::new(move |_| {
            runs2.fetch_add(1, Relaxed);
        });
        assert_eq!(queue.queue_on(cpu, &waits), Submit::Queued);
        assert_eq!(queue.queue_on(cpu, &next), Submit::Queued);
        next.flush().unwrap();
        assert_eq!(runs.load(Relaxed), 1);
        open.open();
        waits.flush().unwrap();
    }
}

#[test]
fn items_that_wait_through_this_crate_let_others_run() {
    let _watchdog = watchdog("items_that_wait_through_this_crate_let_others_run");
    let (queue, cpu) = queue("waits");
    let other = queue.engine().queue("other").per_cpu().build().unwrap();
    let inner = Work::new(|_| ());
    let (other2, inner2) = (other.clone(), inner.clone());
    let outer = Work::new(move |_| {
        // All of these run on the CPU that this item occupies.
        assert_eq!(other2.queue_on(cpu, &inner2), Submit::Queued);
        assert!(inner2.flush().is_ok());
        assert_eq!(other2.queue_on(cpu, &inner2), Submit::Queued);
        other2.flush().unwrap();
        other2.scope(|scope| drop(scope.spawn(|| ())));
        other2.spawn(|| ()).join().unwrap();
        other2.drain().unwrap();
    });
    for _ in 0..50 {
        assert_eq!(queue.queue_on(cpu, &outer), Submit::Queued);
        outer.flush().unwrap();
    }
}

#[test]
fn a_panic_ends_a_blocking_scope() {
    let _watchdog = watchdog("a_panic_ends_a_blocking_scope");
    let (queue, cpu) = queue("scope");
    for _ in 0..20 {
        let bad = Work::new(|_| blocking(|| blocking(|| panic!("inside"))));
        assert_eq!(queue.queue_on(cpu, &bad), Submit::Queued);
        assert!(bad.flush().is_err());
    }
    // Blocked workers that were counted twice would let two run at once.
    let inside = AtomicU32::new(0);
    let works = works(20, move |_| {
        assert_eq!(inside.fetch_add(1, Relaxed), 0);
        std::thread::sleep(Duration::from_micros(300));
        inside.fetch_sub(1, Relaxed);
    });
    works.iter().for_each(|work| assert_eq!(queue.queue_on(cpu, work), Submit::Queued));
    works.iter().for_each(|work| assert!(work.flush().is_ok()));
}

#[test]
fn outside_a_worker_blocking_only_calls() {
    assert_eq!(blocking(|| blocking(|| 3)), 3);
}

/// The kernel's documented example, its burning replaced by sleeps that are not announced: three items that burn 5,
/// sleep 10
/// (the first burns another 5). At most two at a time end at 35; three at 25.
#[test]
fn the_documented_example_takes_its_time() {
    let _watchdog = watchdog("the_documented_example_takes_its_time");
    for (max_active, at_least) in [(1024, 25), (2, 35), (1, 50)] {
        let engine = Engine::builder().build().unwrap();
        let cpu = engine.topology().cpus().first().unwrap().0;
        let queue = engine.queue("example").per_cpu().max_active(max_active).build().unwrap();
        let warm = Work::new(|_| blocking(|| std::thread::sleep(Duration::from_millis(1))));
        assert_eq!(queue.queue_on(cpu, &warm), Submit::Queued);
        warm.flush().unwrap();
        let inside = AtomicU32::new(0);
        let works = works(3, move |at| {
            let burn = || std::thread::sleep(Duration::from_millis(5));
            assert_eq!(inside.fetch_add(1, Relaxed), 0, "two burn at once");
            burn();
            inside.fetch_sub(1, Relaxed);
            blocking(|| std::thread::sleep(Duration::from_millis(10)));
            if at == 0 {
                burn();
            }
        });
        let begun = Instant::now();
        works.iter().for_each(|work| assert_eq!(queue.queue_on(cpu, work), Submit::Queued));
        works.iter().for_each(|work| assert!(work.flush().is_ok()));
        assert!(begun.elapsed() >= Duration::from_millis(at_least), "{max_active}: {:?}", begun.elapsed());
    }
}
