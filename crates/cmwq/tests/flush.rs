//! A flush waits for everything queued before it, and for nothing queued later.
#![allow(clippy::let_underscore_future, reason = "to drop a handle is to detach its item")]

mod support;

use cmwq::{Engine, FlushError, Queue, Scope, Submit, WaitError, WaitPolicy, Work};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Barrier, OnceLock};
use std::time::Duration;
use support::{gate, held, pass, this_thread, until, until_asleep, watchdog};

fn engine(name: &str) -> Engine {
    Engine::builder().name(name).build().unwrap()
}

fn queue(name: &str) -> Queue {
    engine(name).queue(name).build().unwrap()
}

/// A flush in a thread of its own, which has begun to wait: it sleeps.
fn flusher(queue: &Queue) -> std::thread::JoinHandle<()> {
    let (tell, told) = std::sync::mpsc::channel();
    let queue = queue.clone();
    let thread = std::thread::spawn(move || {
        tell.send(this_thread()).unwrap();
        queue.flush().unwrap();
    });
    // A thread that is gone has not had to wait.
    until_asleep(&told.recv().unwrap());
    thread
}

// ---- one work ----

#[test]
fn a_flush_of_an_idle_work_does_not_wait() {
    let _watchdog = watchdog("a_flush_of_an_idle_work_does_not_wait");
    let work = Work::new(|_| ());
    assert!(!work.flush().unwrap());
    let queue = queue("idle");
    assert_eq!(queue.queue(&work), Submit::Queued);
    let _ = work.flush().unwrap();
    assert!(!work.flush().unwrap());
}

#[test]
fn a_flush_of_a_work_waits_for_that_instance_only() {
    let _watchdog = watchdog("a_flush_of_a_work_waits_for_that_instance_only");
    let queue = queue("instance");
    let stop = Arc::new(AtomicBool::new(false));
    let runs = Arc::new(AtomicU32::new(0));
    let (queue2, stop2, runs2) = (queue.clone(), Arc::clone(&stop), Arc::clone(&runs));
    // It queues itself for ever: only the instance that is pending at the call is waited for.
    let work = Work::new(move |work| {
        runs2.fetch_add(1, Relaxed);
        if !stop2.load(Relaxed) {
            let _ = queue2.queue(work);
        }
    });
    assert_eq!(queue.queue(&work), Submit::Queued);
    let before = runs.load(Relaxed);
    assert!(work.flush().unwrap());
    assert!(runs.load(Relaxed) > before);
    for _ in 0..100 {
        let _ = work.flush().unwrap();
    }
    stop.store(true, Relaxed);
    until("the last instance", || !work.is_pending() && !work.is_running());
}

#[test]
fn eight_threads_flush_a_work_that_queues_itself() {
    let _watchdog = watchdog("eight_threads_flush_a_work_that_queues_itself");
    let queue = queue("eight");
    let queue2 = queue.clone();
    let left = AtomicU32::new(20_000);
    let work = Work::new(move |work| {
        if left.fetch_sub(1, Relaxed) > 1 {
            assert_eq!(queue2.queue(work), Submit::Queued);
        }
    });
    assert_eq!(queue.queue(&work), Submit::Queued);
    std::thread::scope(|threads| {
        for _ in 0..8 {
            threads.spawn(|| while work.flush().unwrap() {});
        }
    });
}

#[test]
fn a_work_cannot_flush_itself() {
    let _watchdog = watchdog("a_work_cannot_flush_itself");
    let queue = queue("itself");
    let other = Work::new(|_| ());
    let (handle, other2, queue2) = (Arc::new(OnceLock::new()), other.clone(), queue.clone());
    let answer = Arc::clone(&handle);
    let work = Work::new(move |work| {
        let own = work.flush();
        let _ = queue2.queue(&other2);
        let others = other2.flush();
        let _ = answer.set((matches!(own, Err(FlushError::WouldDeadlock(_))), others.is_ok()));
    });
    assert_eq!(queue.queue(&work), Submit::Queued);
    work.flush().unwrap();
    assert_eq!(handle.get(), Some(&(true, true)));
}

#[test]
fn a_panic_is_reported_by_one_flush() {
    let _watchdog = watchdog("a_panic_is_reported_by_one_flush");
    let queue = queue("panic");
    let work = Work::new(|_| std::panic::panic_any("told once"));
    assert_eq!(queue.queue(&work), Submit::Queued);
    let told = AtomicU32::new(0);
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| match work.flush() {
                Ok(_) => {}
                Err(FlushError::Panicked(payload)) => {
                    assert_eq!(payload.downcast_ref::<&str>(), Some(&"told once"));
                    told.fetch_add(1, Relaxed);
                }
                Err(other) => panic!("{other}"),
            });
        }
    });
    assert_eq!(told.load(Relaxed), 1);
    assert!(!work.flush().unwrap());
}

// ---- a queue ----

#[test]
fn a_flush_waits_for_everything_queued_before() {
    let _watchdog = watchdog("a_flush_waits_for_everything_queued_before");
    for scope in [Scope::Cpu, Scope::System] {
        let queue = engine("before").queue("before").scope(scope).build().unwrap();
        let ended = Arc::new(AtomicU32::new(0));
        for round in 1..=200 {
            for at in 0..10 {
                let ended = Arc::clone(&ended);
                let _ = queue.spawn(move || {
                    if at == 0 {
                        std::thread::sleep(Duration::from_micros(100));
                    }
                    ended.fetch_add(1, Relaxed);
                });
            }
            queue.flush().unwrap();
            assert_eq!(ended.load(Relaxed), round * 10);
        }
    }
}

#[test]
fn every_thread_sees_its_own_items_flushed() {
    let _watchdog = watchdog("every_thread_sees_its_own_items_flushed");
    let queue = queue("own");
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                let ended = Arc::new(AtomicU32::new(0));
                for round in 1..=2000 {
                    let ended2 = Arc::clone(&ended);
                    let _ = queue.spawn(move || ended2.fetch_add(1, Relaxed));
                    queue.flush().unwrap();
                    assert_eq!(ended.load(Relaxed), round);
                }
            });
        }
    });
}

#[test]
fn a_flush_does_not_wait_for_what_is_queued_later() {
    let _watchdog = watchdog("a_flush_does_not_wait_for_what_is_queued_later");
    let queue = queue("later");
    for _ in 0..20 {
        let first = held(&queue);
        let flusher = flusher(&queue);
        let (later, closed) = gate();
        let (started, begun) = gate();
        let item = queue.spawn(move || {
            started.open();
            pass(&closed);
        });
        pass(&begun);
        first.open();
        flusher.join().unwrap();
        later.open();
        item.join().unwrap();
    }
}

/// The later item and an earlier one are claimed at once by the only worker: what has ended must be known before the
/// later one runs, which waits for the flush.
#[test]
fn an_item_may_wait_for_a_flush_that_began_before_it_was_queued() {
    let _watchdog = watchdog("an_item_may_wait_for_a_flush_that_began_before_it_was_queued");
    let engine = Engine::builder().workers_max(1).build().unwrap();
    let queue = engine.queue("behind").scope(Scope::System).build().unwrap();
    for _ in 0..10 {
        let first = held(&queue);
        let _ = queue.spawn(|| ());
        let flusher = flusher(&queue);
        let item = queue.spawn(move || flusher.join().unwrap());
        first.open();
        item.join().unwrap();
    }
}

#[test]
fn a_second_flush_does_not_wait_for_an_item_that_waits_for_it() {
    let _watchdog = watchdog("a_second_flush_does_not_wait_for_an_item_that_waits_for_it");
    let queue = queue("second");
    for _ in 0..20 {
        let oldest = held(&queue);
        let first = flusher(&queue);
        let second = flusher(&queue);
        let waits_for_second = queue.spawn(move || second.join().unwrap());
        oldest.open();
        first.join().unwrap();
        waits_for_second.join().unwrap();
    }
}

#[test]
fn fifteen_flushes_each_wait_for_what_was_before_them() {
    let _watchdog = watchdog("fifteen_flushes_each_wait_for_what_was_before_them");
    let queue = queue("fifteen");
    for _ in 0..3 {
        let (mut gates, mut flushers) = (Vec::new(), Vec::new());
        for _ in 0..15 {
            gates.push(held(&queue));
            flushers.push(flusher(&queue));
        }
        // Each flush ends when the items before it have ended, though later ones still run.
        for (gate, flusher) in gates.into_iter().zip(flushers) {
            assert!(!flusher.is_finished());
            gate.open();
            flusher.join().unwrap();
        }
    }
}

/// F8 newest first: in the order of phases, the end of each would wake all the flushers of later ones.
#[test]
fn a_flush_sleeps_through_the_ends_of_older_phases() {
    let _watchdog = watchdog("a_flush_sleeps_through_the_ends_of_older_phases");
    let engine = Engine::builder().name("sleeps").wait(WaitPolicy::Park).build().unwrap();
    let queue = engine.queue("sleeps").build().unwrap();
    let (mut gates, mut flushers) = (Vec::new(), Vec::new());
    for _ in 0..15 {
        gates.push(held(&queue));
        let (tell, told) = std::sync::mpsc::channel();
        let queue = queue.clone();
        let flusher = std::thread::spawn(move || {
            tell.send(this_thread()).unwrap();
            let before = times_slept();
            queue.flush().unwrap();
            times_slept() - before
        });
        let thread = told.recv().unwrap();
        until_asleep(&thread);
        flushers.push((thread, flusher));
    }
    for (at, gate) in gates.into_iter().enumerate() {
        gate.open();
        until("it returns", || flushers[at].1.is_finished());
        // Whoever was woken has gone back to sleep.
        flushers[at + 1..].iter().for_each(|(thread, _)| until_asleep(thread));
    }
    for (_, flusher) in flushers {
        let slept = flusher.join().unwrap();
        assert!((1..=4).contains(&slept), "slept {slept} times");
    }
}

/// How often this thread has gone to sleep by itself.
fn times_slept() -> u64 {
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    line.and_then(|count| count.trim().parse().ok()).expect("Linux counts them")
}

#[test]
fn forty_flushes_behind_one_held_item_all_return() {
    let _watchdog = watchdog("forty_flushes_behind_one_held_item_all_return");
    let queue = queue("forty");
    let oldest = held(&queue);
    let begun = Arc::new(Barrier::new(41));
    let is_open = Arc::new(AtomicBool::new(false));
    let threads: Vec<_> = (0..40)
        .map(|_| {
            let (queue, begun, is_open) = (queue.clone(), Arc::clone(&begun), Arc::clone(&is_open));
            std::thread::spawn(move || {
                begun.wait();
                let _ = queue.spawn(|| ());
                queue.flush().unwrap();
                assert!(is_open.load(Relaxed), "a flush waits for the oldest item, slot or no slot");
            })
        })
        .collect();
    begun.wait();
    std::thread::sleep(Duration::from_millis(50));
    is_open.store(true, Relaxed);
    oldest.open();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn an_item_cannot_flush_its_own_queue_but_others() {
    let _watchdog = watchdog("an_item_cannot_flush_its_own_queue_but_others");
    let engine = engine("items");
    let queues: Vec<Queue> = (0..2).map(|_| engine.queue("items").build().unwrap()).collect();
    let (own, other) = (queues[0].clone(), queues[1].clone());
    let answers = queues[0].spawn(move || (own.flush(), own.drain(), other.flush(), other.drain()));
    let (flush, drain, flush_other, drain_other) = answers.join().unwrap();
    for refused in [flush, drain] {
        let Err(WaitError::WouldDeadlock(cycle)) = refused else { panic!("it waited for itself") };
        assert_eq!(cycle.steps().len(), 1, "{cycle}");
        assert!(cycle.to_string().contains("flush.rs"), "{cycle}");
    }
    assert_eq!((flush_other, drain_other), (Ok(()), Ok(())));
}

/// Queues of different engines are different queues, whatever their order of creation.
#[test]
fn an_item_may_flush_a_queue_of_another_engine() {
    let _watchdog = watchdog("an_item_may_flush_a_queue_of_another_engine");
    let (one, other) = (queue("one"), queue("other"));
    let answers = one.spawn(move || (other.flush(), other.drain(), other.destroy()));
    assert_eq!(answers.join().unwrap(), (Ok(()), Ok(()), Ok(())));
}

#[test]
fn chains_across_queues_are_flushed_from_inside_items() {
    let _watchdog = watchdog("chains_across_queues_are_flushed_from_inside_items");
    let engine = engine("chain");
    let queues: Vec<Queue> =
        (0..8).map(|_| engine.queue("chain").per_cpu().max_active(1).build().unwrap()).collect();
    fn descend(queues: &[Queue]) {
        let Some((first, rest)) = queues.split_first() else { return };
        let rest = rest.to_vec();
        let _ = first.spawn(move || descend(&rest));
        first.flush().unwrap();
    }
    for _ in 0..20 {
        descend(&queues);
    }
}
