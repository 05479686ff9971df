//! Items of a scope may borrow; the scope ends after them, whatever happens.
#![allow(clippy::let_underscore_future, reason = "to drop a handle is to detach its item")]

mod support;

use cmwq::{Engine, JoinError, Queue, Refusal};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;
use support::watchdog;

fn queue(name: &str) -> Queue {
    Engine::builder().name(name).build().unwrap().queue(name).build().unwrap()
}

fn caught<T>(body: impl FnOnce() -> T) -> Option<String> {
    let payload = catch_unwind(AssertUnwindSafe(body)).err()?;
    Some((*payload.downcast_ref::<&str>()?).to_owned())
}

#[test]
fn items_borrow_what_outlives_the_scope() {
    let _watchdog = watchdog("items_borrow_what_outlives_the_scope");
    let queue = queue("borrow");
    for _ in 0..500 {
        let mut parts = [1_u64; 64];
        let sum = AtomicU32::new(0);
        queue.scope(|scope| {
            for part in &mut parts {
                let sum = &sum;
                let _ = scope.spawn(move || {
                    *part += 1;
                    sum.fetch_add(1, Relaxed);
                });
            }
        });
        assert_eq!((parts, sum.into_inner()), ([2; 64], 64));
    }
}

#[test]
fn handles_give_results_that_borrow() {
    let _watchdog = watchdog("handles_give_results_that_borrow");
    let queue = queue("results");
    let text = String::from("left right");
    let words = queue.scope(|scope| {
        let handles: Vec<_> = text.split(' ').map(|word| scope.spawn(move || word)).collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect::<Vec<&str>>()
    });
    assert_eq!(words, ["left", "right"]);
}

#[test]
fn a_panicking_body_waits_for_its_items() {
    let _watchdog = watchdog("a_panicking_body_waits_for_its_items");
    let queue = queue("body");
    let ended = AtomicU32::new(0);
    let payload = caught(|| {
        queue.scope(|scope| {
            for _ in 0..8 {
                let _ = scope.spawn(|| {
                    std::thread::sleep(Duration::from_millis(2));
                    ended.fetch_add(1, Relaxed);
                });
            }
            panic_any("the body")
        })
    });
    assert_eq!((payload.as_deref(), ended.into_inner()), (Some("the body"), 8));
}

#[test]
fn an_unjoined_panic_ends_the_scope_with_a_panic_and_a_joined_one_does_not() {
    let _watchdog = watchdog("an_unjoined_panic_ends_the_scope_with_a_panic_and_a_joined_one_does_not");
    let queue = queue("unjoined");
    let unjoined = caught(|| queue.scope(|scope| drop(scope.spawn(|| panic_any(1)))));
    assert!(unjoined.is_some());
    let joined = queue.scope(|scope| scope.spawn(|| -> u32 { panic_any("an item") }).join());
    let Err(JoinError::Panicked(payload)) = joined else { panic!("it panicked") };
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"an item"));
    let both = caught(|| {
        queue.scope(|scope| {
            let _ = scope.spawn(|| panic_any(1));
            let _ = scope.spawn(|| panic_any(2)).join();
        })
    });
    assert!(both.is_some(), "one of the two was not joined");
}

#[test]
fn scopes_nest_and_items_spawn_into_their_scope() {
    let _watchdog = watchdog("scopes_nest_and_items_spawn_into_their_scope");
    let queue = queue("nested");
    fn sum(queue: &Queue, numbers: &[u64]) -> u64 {
        if numbers.len() < 8 {
            return numbers.iter().sum();
        }
        let (left, right) = numbers.split_at(numbers.len() / 2);
        queue.scope(|scope| {
            let left = scope.spawn(|| sum(queue, left));
            sum(queue, right) + left.join().unwrap()
        })
    }
    let numbers: Vec<u64> = (0..1000).collect();
    assert_eq!(
        queue
            .spawn({
                let queue = queue.clone();
                let numbers = numbers.clone();
                move || sum(&queue, &numbers)
            })
            .join()
            .unwrap(),
        499_500
    );
    let count = AtomicU32::new(0);
    queue.scope(|scope| {
        let count = &count;
        let _ = scope.spawn(move || {
            for _ in 0..10 {
                let _ = scope.spawn(move || {
                    let _ = scope.spawn(move || count.fetch_add(1, Relaxed));
                });
            }
        });
    });
    assert_eq!(count.into_inner(), 10);
}

#[test]
fn a_scope_of_a_refusing_queue_ends() {
    let _watchdog = watchdog("a_scope_of_a_refusing_queue_ends");
    let queue = queue("refusing");
    let clone = queue.clone();
    queue.destroy().unwrap();
    let result = clone.scope(|scope| {
        let _ = scope.spawn(|| ());
        scope.spawn(|| ()).join()
    });
    assert!(matches!(result, Err(JoinError::Refused(Refusal::Destroyed))));
}

/// What a closure and a result own is dropped before the scope ends.
#[test]
fn everything_borrowed_is_dropped_before_the_scope_ends() {
    let _watchdog = watchdog("everything_borrowed_is_dropped_before_the_scope_ends");
    struct Slow<'a>(&'a AtomicU32);
    impl Drop for Slow<'_> {
        fn drop(&mut self) {
            std::thread::sleep(Duration::from_micros(200));
            self.0.fetch_add(1, Relaxed);
        }
    }
    let queue = queue("dropped");
    for _ in 0..100 {
        let dropped = AtomicU32::new(0);
        queue.scope(|scope| {
            let _ = scope.spawn(|| Slow(&dropped));
            let owned = Slow(&dropped);
            let _ = scope.spawn(move || drop(owned));
            let kept = scope.spawn(|| Slow(&dropped));
            std::thread::yield_now();
            drop(kept);
        });
        assert_eq!(dropped.into_inner(), 3);
    }
}
