//! Items that wait for items: what the kernel lets pass passes, and a circle is an error that names it.
#![allow(clippy::let_underscore_future, reason = "to drop a handle is to detach its item")]

mod support;

use cmwq::{Cycle, Engine, FlushError, JoinError, Queue, Submit, WaitError, Work};
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, Mutex, OnceLock};
use std::time::Duration;
use support::{gate, pass, this_thread, threads_named, until, until_asleep, watchdog};

fn engine() -> Engine {
    Engine::builder().build().unwrap()
}

fn lone(engine: &Engine, name: &str) -> Queue {
    engine.queue(name).max_active(1).build().unwrap()
}

/// Queues and flushes from inside an item; the answer comes by the handle.
fn wait_for(queue: &Queue, work: &Work) -> Result<bool, FlushError> {
    assert_ne!(queue.queue(work), Submit::AlreadyPending);
    work.flush()
}

#[test]
fn items_that_wait_for_one_another_at_a_barrier_all_start() {
    let _watchdog = watchdog("items_that_wait_for_one_another_at_a_barrier_all_start");
    let engine = Engine::builder().name("wbar").idle_timeout(Duration::from_millis(20)).build().unwrap();
    let queue = engine.queue("barrier").scope(cmwq::Scope::System).max_active(256).build().unwrap();
    let barrier = Arc::new(Barrier::new(200));
    let handles: Vec<_> = (0..200)
        .map(|_| {
            let barrier = Arc::clone(&barrier);
            queue.spawn(move || {
                barrier.wait();
            })
        })
        .collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
    assert!(threads_named("wbar/").len() > 2);
    // The manager beside the floor of two.
    until("the workers that are not needed end", || threads_named("wbar/").len() <= 3);
}

#[test]
fn items_of_one_queue_wait_for_items_of_another_in_step() {
    let _watchdog = watchdog("items_of_one_queue_wait_for_items_of_another_in_step");
    let engine = engine();
    let (a, b) = (lone(&engine, "a"), lone(&engine, "b"));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let handles: Vec<_> = (0..1000)
        .map(|round| {
            let (b, seen) = (b.clone(), Arc::clone(&seen));
            a.spawn(move || {
                let note = Arc::clone(&seen);
                let work = Work::new(move |_| note.lock().unwrap().push(round));
                assert_eq!(b.queue(&work), Submit::Queued);
                let _ = work.flush().unwrap();
            })
        })
        .collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
    assert_eq!(*seen.lock().unwrap(), (0..1000).collect::<Vec<_>>());
}

#[test]
fn a_chain_of_items_that_queue_and_flush_the_next_ends() {
    let _watchdog = watchdog("a_chain_of_items_that_queue_and_flush_the_next_ends");
    let engine = engine();
    let queue = engine.queue("chain").max_active(64).build().unwrap();
    let (tell, told) = channel();
    let mut next: Option<Work> = None;
    for place in (0..64).rev() {
        let (queue, tell, after) = (queue.clone(), tell.clone(), next.take());
        next = Some(Work::new(move |_| {
            if let Some(after) = &after {
                wait_for(&queue, after).unwrap();
            }
            tell.send(place).unwrap();
        }));
    }
    let first = next.unwrap();
    assert_eq!(queue.queue(&first), Submit::Queued);
    let _ = first.flush().unwrap();
    assert!(!first.is_pending() && !first.is_running());
    assert_eq!(told.try_iter().collect::<Vec<u32>>(), (0..64).rev().collect::<Vec<_>>());
}

/// With one place less the last item can never start: the last to wait is refused, and everything ends.
#[test]
fn a_chain_that_is_longer_than_its_queue_is_wide_is_an_error_once() {
    let _watchdog = watchdog("a_chain_that_is_longer_than_its_queue_is_wide_is_an_error_once");
    let engine = engine();
    // One pool, whose limit all items are under.
    let queue = engine.queue("narrow").scope(cmwq::Scope::System).max_active(7).build().unwrap();
    let (tell, told) = channel();
    let mut next: Option<Work> = None;
    for place in (0..8).rev() {
        let (queue, tell, after) = (queue.clone(), tell.clone(), next.take());
        next = Some(Work::new(move |_| {
            let refused = after.as_ref().map(|after| wait_for(&queue, after).is_err());
            tell.send((place, refused)).unwrap();
        }));
    }
    let first = next.unwrap();
    assert_eq!(queue.queue(&first), Submit::Queued);
    let _ = first.flush().unwrap();
    queue.flush().unwrap();
    let mut answers: Vec<(u32, Option<bool>)> = told.try_iter().collect();
    answers.sort_unstable();
    // Whichever of the seven begins to wait last is told; the last item waits for nobody.
    let told_at: Vec<u32> =
        answers.iter().filter(|(_, refused)| *refused == Some(true)).map(|(at, _)| *at).collect();
    assert_eq!(told_at.len(), 1, "{answers:?}");
    let expected: Vec<_> = (0..8).map(|at| (at, (at < 7).then_some(at == told_at[0]))).collect();
    assert_eq!(answers, expected);
}

/// Item k of one queue waits for item k of the other, which waits for item k + 1 of the first.
#[test]
fn two_narrow_queues_that_wait_for_each_other_in_a_circle_are_told_so() {
    let _watchdog = watchdog("two_narrow_queues_that_wait_for_each_other_in_a_circle_are_told_so");
    let engine = engine();
    let (a, b) = (lone(&engine, "a"), lone(&engine, "b"));
    for _ in 0..200 {
        let last = Work::new(|_| ());
        let (back, target) = (a.clone(), last.clone());
        let answer = Arc::new(Mutex::new(None));
        let note = Arc::clone(&answer);
        let middle = Work::new(move |_| {
            // Behind the item that waits for this one.
            *note.lock().unwrap() = Some(wait_for(&back, &target));
        });
        let forth = b.clone();
        let awaited = middle.clone();
        let first = a.spawn(move || wait_for(&forth, &awaited)).join().unwrap();
        let _ = middle.flush();
        let second = answer.lock().unwrap().take().expect("it has run");
        // Whoever begins to wait last is told.
        let (refused, passed) = if first.is_err() { (first, second) } else { (second, first) };
        assert!(matches!(passed, Ok(true)), "{passed:?}");
        let Err(FlushError::WouldDeadlock(cycle)) = refused else { panic!("one side is told: {refused:?}") };
        let mut names: Vec<_> = cycle.steps().iter().map(|step| step.queue.to_string()).collect();
        names.sort();
        assert_eq!(names, ["a", "b"], "{cycle}");
        assert!(cycle.steps().iter().all(|step| step.submitted_at.file().ends_with("waits.rs")), "{cycle}");
        let _ = last.flush().unwrap();
    }
}

#[test]
fn works_that_flush_each_other_are_told_so() {
    let _watchdog = watchdog("works_that_flush_each_other_are_told_so");
    let engine = engine();
    let queue = engine.queue("each").max_active(8).build().unwrap();
    for _ in 0..200 {
        let others: [Arc<OnceLock<Work>>; 2] = Default::default();
        let both = Arc::new(Barrier::new(2));
        let (tell, told) = channel();
        let works: Vec<Work> = (0..2)
            .map(|at| {
                let (other, both, tell) = (Arc::clone(&others[1 - at]), Arc::clone(&both), tell.clone());
                Work::new(move |_| {
                    both.wait();
                    tell.send(other.get().unwrap().flush().map_err(|e| e.to_string())).unwrap();
                })
            })
            .collect();
        for at in 0..2 {
            others[at].set(works[at].clone()).unwrap();
        }
        for work in &works {
            assert_eq!(queue.queue(work), Submit::Queued);
        }
        let answers: Vec<_> = (0..2).map(|_| told.recv().unwrap()).collect();
        let refused: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().err()).collect();
        assert_eq!(refused.len(), 1, "one waits, the other is told: {answers:?}");
        assert!(refused[0].contains("waits for the first"), "{refused:?}");
    }
}

#[test]
fn cancelling_a_run_that_waits_for_the_canceller_is_refused() {
    let _watchdog = watchdog("cancelling_a_run_that_waits_for_the_canceller_is_refused");
    let engine = engine();
    let queue = engine.queue("cancel").max_active(8).build().unwrap();
    let (open, closed) = gate();
    let other: Arc<OnceLock<Work>> = Arc::default();
    let target = Arc::clone(&other);
    let (tell, told) = channel();
    let (wait, waits) = channel::<PathBuf>();
    let canceller = Work::new(move |_| {
        pass(&closed);
        until_asleep(&waits.recv().unwrap());
        tell.send(target.get().unwrap().cancel_sync()).unwrap();
    });
    let awaited = canceller.clone();
    let waiter = Work::new(move |_| {
        wait.send(this_thread()).unwrap();
        assert!(awaited.flush().unwrap());
    });
    other.set(waiter.clone()).unwrap();
    for work in [&canceller, &waiter] {
        assert_eq!(queue.queue(work), Submit::Queued);
    }
    open.open();
    assert!(matches!(told.recv().unwrap(), Err(WaitError::WouldDeadlock(_))));
    assert!(!waiter.is_disabled(), "the refused cancel has enabled it again");
    queue.flush().unwrap();
}

#[test]
fn queues_whose_items_flush_each_other_are_told_so() {
    let _watchdog = watchdog("queues_whose_items_flush_each_other_are_told_so");
    let engine = engine();
    let queues = [lone(&engine, "one"), lone(&engine, "two")];
    for _ in 0..200 {
        let both = Arc::new(Barrier::new(2));
        let handles = [0, 1].map(|at| {
            let (both, other) = (Arc::clone(&both), queues[1 - at].clone());
            queues[at].spawn(move || {
                both.wait();
                other.flush()
            })
        });
        let answers = handles.map(|handle| handle.join().unwrap());
        let refused = answers.iter().filter(|answer| answer.is_err()).count();
        assert_eq!(refused, 1, "one waits, the other is told: {answers:?}");
    }
}

/// A flush of a queue does not wait for an item queued after the call, so that this one may wait for the flusher.
#[test]
fn an_item_queued_after_a_flush_may_wait_for_the_flusher() {
    let _watchdog = watchdog("an_item_queued_after_a_flush_may_wait_for_the_flusher");
    let engine = engine();
    let (flushed, others) =
        (engine.queue("flushed").max_active(8).build().unwrap(), engine.queue("others").build().unwrap());
    for _ in 0..100 {
        let (open, closed) = gate();
        let _ = flushed.spawn(move || pass(&closed));
        let target = flushed.clone();
        let (wait, waits) = channel::<PathBuf>();
        let flusher = Work::new(move |_| {
            wait.send(this_thread()).unwrap();
            target.flush().unwrap();
        });
        assert_eq!(others.queue(&flusher), Submit::Queued);
        until_asleep(&waits.recv().unwrap());
        let awaited = flusher.clone();
        let later = flushed.spawn(move || awaited.flush().map_err(|e: FlushError| e.to_string()));
        std::thread::sleep(Duration::from_millis(1));
        open.open();
        assert!(later.join().unwrap().is_ok());
        let _ = flusher.flush().unwrap();
    }
}

#[test]
fn a_join_of_what_waits_for_the_caller_is_refused() {
    let _watchdog = watchdog("a_join_of_what_waits_for_the_caller_is_refused");
    let engine = engine();
    let queue = engine.queue("join").max_active(8).build().unwrap();
    let inner = queue.clone();
    let (tell, told) = channel();
    let outer = Work::new(move |me: &Work| {
        let me = me.clone();
        let (ready, is_ready) = channel();
        let child = inner.spawn(move || {
            ready.send(()).unwrap();
            me.flush().map_err(|e| e.to_string())
        });
        is_ready.recv().unwrap();
        std::thread::sleep(Duration::from_millis(5));
        tell.send(child.join().map_err(|e| matches!(e, JoinError::WouldDeadlock(_)))).unwrap();
    });
    assert_eq!(queue.queue(&outer), Submit::Queued);
    // Whichever waits last is told.
    match told.recv().unwrap() {
        Ok(child) => assert!(child.is_err(), "one of the two is told"),
        Err(is_told) => assert!(is_told),
    }
    queue.flush().unwrap();
}

#[test]
fn a_cycle_says_who_waits_for_whom() {
    let _watchdog = watchdog("a_cycle_says_who_waits_for_whom");
    let engine = engine();
    let queue = lone(&engine, "own");
    let inner = queue.clone();
    let cycle: Cycle = queue
        .spawn(move || match inner.flush() {
            Err(WaitError::WouldDeadlock(cycle)) => cycle,
            other => panic!("an item waits for its own queue: {other:?}"),
        })
        .join()
        .unwrap();
    let text = cycle.to_string();
    assert!(text.starts_with("the item of queue \"own\" submitted at "), "{text}");
    assert!(text.contains("waits.rs:") && text.ends_with(" waits for itself"), "{text}");
}

/// An item that is held back by items that do not wait is waited for.
#[test]
fn no_error_where_one_of_the_active_items_goes_on() {
    let _watchdog = watchdog("no_error_where_one_of_the_active_items_goes_on");
    let engine = engine();
    let queue = engine.queue("two").scope(cmwq::Scope::System).max_active(2).build().unwrap();
    for _ in 0..100 {
        let (open, closed) = gate();
        let _ = queue.spawn(move || pass(&closed));
        let inner = queue.clone();
        let (wait, waits) = channel::<PathBuf>();
        let waiter = queue.spawn(move || {
            wait.send(this_thread()).unwrap();
            wait_for(&inner, &Work::new(|_| ())).map_err(|e| e.to_string())
        });
        until_asleep(&waits.recv().unwrap());
        open.open();
        assert_eq!(waiter.join().unwrap(), Ok(true));
    }
}

/// A waiter whose wait is over does not hold up who waits for it, though it sleeps still.
#[test]
fn a_wait_that_is_over_closes_no_circle() {
    let _watchdog = watchdog("a_wait_that_is_over_closes_no_circle");
    let engine = engine();
    let queue = engine.queue("over").max_active(8).build().unwrap();
    for _ in 0..300 {
        let waiter: Arc<OnceLock<Work>> = Arc::default();
        let (target, again) = (Arc::clone(&waiter), queue.clone());
        let (tell, told) = channel();
        let (wait, waits) = channel::<PathBuf>();
        let mut runs = 0;
        let awaited = Work::new(move |me: &Work| {
            runs += 1;
            if runs == 1 {
                until_asleep(&waits.recv().unwrap());
                assert_eq!(again.queue(me), Submit::Queued);
            } else {
                tell.send(target.get().unwrap().flush().map_err(|e| e.to_string())).unwrap();
            }
        });
        let inner = awaited.clone();
        let work = Work::new(move |_| {
            wait.send(this_thread()).unwrap();
            let _ = inner.flush().unwrap();
        });
        assert_eq!(queue.queue(&awaited), Submit::Queued);
        waiter.set(work.clone()).unwrap();
        assert_eq!(queue.queue(&work), Submit::Queued);
        assert!(told.recv().unwrap().is_ok());
        let _ = work.flush().unwrap();
    }
}
