//! A worker whose item waits for another may run that very item, where its queue allows it, and no other.
#![allow(clippy::let_underscore_future, reason = "to drop a handle is to detach its item")]

mod support;

use cmwq::{Engine, EngineEvent, FlushError, JoinError, Queue, QueueBuilder, Scope, Submit, Work, blocking};
use cmwq_core::pool::record::{self, Replay};
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{ThreadId, current};
use std::time::Duration;
use support::{Random, counting, gate, held, pass, rounds, until, watchdog};

fn builder(engine: &Engine) -> QueueBuilder {
    engine.queue("parts").scope(Scope::System).run_on_wait(true)
}

fn queue(engine: &Engine) -> Queue {
    builder(engine).build().unwrap()
}

/// On which threads an item and the one it joins run.
fn threads(outer: &Queue, inner: &Queue) -> (ThreadId, ThreadId) {
    let inner = inner.clone();
    let both = outer.spawn(move || (current().id(), inner.spawn(|| current().id()).join().unwrap()));
    both.join().unwrap()
}

/// A pool of this engine has one worker only: whoever sleeps for another item of it sleeps for ever.
fn of_one() -> Engine {
    Engine::builder().workers_max(1).build().unwrap()
}

#[test]
fn an_item_runs_the_one_it_joins_where_the_queue_allows_it() {
    let _watchdog = watchdog("an_item_runs_the_one_it_joins_where_the_queue_allows_it");
    let engine = of_one();
    let queue = queue(&engine);
    for _ in 0..rounds(1000) {
        let (outer, inner) = threads(&queue, &queue);
        assert_eq!(outer, inner);
    }
    assert_eq!(engine.stats().pools[0].started, 2 * rounds(1000) as u64);
}

#[test]
fn by_default_another_worker_runs_it() {
    let _watchdog = watchdog("by_default_another_worker_runs_it");
    let engine = Engine::new().unwrap();
    let queue = engine.queue("ordinary").scope(Scope::System).build().unwrap();
    for _ in 0..100 {
        let (outer, inner) = threads(&queue, &queue);
        assert_ne!(outer, inner);
    }
}

#[test]
fn the_queue_of_the_awaited_item_decides() {
    let _watchdog = watchdog("the_queue_of_the_awaited_item_decides");
    let engine = Engine::new().unwrap();
    let allows = queue(&engine);
    let ordinary = engine.queue("ordinary").scope(Scope::System).build().unwrap();
    for _ in 0..100 {
        let (outer, inner) = threads(&allows, &ordinary);
        assert_ne!(outer, inner);
    }
}

#[test]
fn a_flush_runs_the_instance_it_waits_for() {
    let _watchdog = watchdog("a_flush_runs_the_instance_it_waits_for");
    let engine = of_one();
    let queue = queue(&engine);
    let ran_on = Arc::new(Mutex::new(None));
    let place = Arc::clone(&ran_on);
    let work = Work::new(move |_| *place.lock().unwrap() = Some(current().id()));
    for delay in [None, Some(Duration::from_secs(3600))] {
        let (own, of) = (work.clone(), queue.clone());
        let thread = queue.spawn(move || {
            let _ = match delay {
                None => of.queue(&own),
                Some(delay) => of.queue_delayed(&own, delay),
            };
            assert!(own.flush().unwrap());
            assert!(!own.is_pending() && !own.is_running());
            current().id()
        });
        assert_eq!(Some(thread.join().unwrap()), ran_on.lock().unwrap().take());
    }
}

#[test]
fn an_instance_that_runs_elsewhere_is_waited_for() {
    let _watchdog = watchdog("an_instance_that_runs_elsewhere_is_waited_for");
    let engine = Engine::new().unwrap();
    let queue = queue(&engine);
    let (open, closed) = gate();
    let closed = Mutex::new(closed);
    let runs = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&runs);
    let work = Work::new(move |_| {
        list.lock().unwrap().push(current().id());
        pass(&closed.lock().unwrap());
    });
    let _ = queue.queue(&work);
    until("it runs", || !runs.lock().unwrap().is_empty());
    let own = work.clone();
    let waits = queue.spawn(move || {
        assert!(own.flush().unwrap());
        current().id()
    });
    std::thread::sleep(Duration::from_millis(20));
    assert!(!waits.is_finished());
    open.open();
    let waiter = waits.join().unwrap();
    assert!(!runs.lock().unwrap().contains(&waiter));
}

#[test]
fn what_a_limit_holds_back_is_not_run() {
    let _watchdog = watchdog("what_a_limit_holds_back_is_not_run");
    let engine = Engine::new().unwrap();
    let queue = builder(&engine).max_active(1).build().unwrap();
    let (runs, of) = (Arc::new(AtomicU32::new(0)), queue.clone());
    let counter = Arc::clone(&runs);
    let outer = queue.spawn(move || {
        let seen = Arc::clone(&counter);
        let inner = of.spawn(move || seen.fetch_add(1, Ordering::SeqCst));
        assert!(matches!(inner.join(), Err(JoinError::WouldDeadlock(_))));
        assert_eq!(counter.load(Ordering::SeqCst), 0, "its place is the waiting one's");
    });
    outer.join().unwrap();
    queue.flush().unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

/// At most so many at once, though items run inside others, and each end makes room.
#[test]
fn the_limit_counts_items_that_run_inside_others() {
    let _watchdog = watchdog("the_limit_counts_items_that_run_inside_others");
    const MAX: usize = 3;
    let engine = Engine::new().unwrap();
    let parts = builder(&engine).max_active(MAX as u32).build().unwrap();
    let wholes = engine.queue("wholes").scope(Scope::System).build().unwrap();
    let (inside, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let handles: Vec<_> = (0..32)
        .map(|_| {
            let (parts, inside, most) = (parts.clone(), Arc::clone(&inside), Arc::clone(&most));
            wholes.spawn(move || {
                for _ in 0..rounds(100) {
                    let (inside, most) = (Arc::clone(&inside), Arc::clone(&most));
                    let part = parts.spawn(move || {
                        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                    });
                    part.join().unwrap();
                }
            })
        })
        .collect();
    handles.into_iter().for_each(|handle| handle.join().unwrap());
    assert!((1..=MAX).contains(&most.load(Ordering::SeqCst)), "{most:?}");
    parts.drain().unwrap();
}

#[test]
fn an_ordered_queue_keeps_its_order() {
    let _watchdog = watchdog("an_ordered_queue_keeps_its_order");
    let engine = Engine::new().unwrap();
    let ordered = engine.queue("ordered").ordered().run_on_wait(true).build().unwrap();
    let others = engine.queue("others").scope(Scope::System).build().unwrap();
    let last = Arc::new(AtomicUsize::new(0));
    // One thread queues, so that there is an order; many wait, each for its own.
    let all = rounds(2000);
    let items: Vec<_> = (0..all)
        .map(|at| {
            let last = Arc::clone(&last);
            let item = ordered.spawn(move || {
                assert_eq!(last.load(Ordering::SeqCst), at, "one at a time, in order");
                last.store(at + 1, Ordering::SeqCst);
                current().id()
            });
            others.spawn(move || item.join().unwrap() == current().id())
        })
        .collect();
    let here =
        items.into_iter().filter(|_| true).map(|item| item.join().unwrap()).filter(|&here| here).count();
    assert_eq!(last.load(Ordering::SeqCst), all);
    println!("{here} of {all} were run by who waited");
}

#[test]
fn what_is_queued_in_another_pool_is_not_run() {
    let _watchdog = watchdog("what_is_queued_in_another_pool_is_not_run");
    let engine = Engine::new().unwrap();
    let outer = queue(&engine);
    let strict = builder(&engine).strict(true).build().unwrap();
    let second = Engine::new().unwrap();
    for inner in [&strict, &queue(&second)] {
        for _ in 0..50 {
            let (outer, inner) = threads(&outer, inner);
            assert_ne!(outer, inner);
        }
    }
}

/// The same when it is in that pool's lists.
#[test]
fn what_is_listed_in_another_pool_is_not_run() {
    let _watchdog = watchdog("what_is_listed_in_another_pool_is_not_run");
    let engine = of_one();
    let wholes = queue(&engine);
    let strict = builder(&engine).strict(true).build().unwrap();
    let (part, runs) = counting();
    let (other, _) = counting();
    let gate = held(&strict);
    assert!(strict.queue(&part) == Submit::Queued && strict.queue(&other) == Submit::Queued);
    // Who takes one out of a pool takes in what has come there.
    assert!(other.cancel());
    let own = part.clone();
    let whole = wholes.spawn(move || own.flush().unwrap());
    std::thread::sleep(Duration::from_millis(30));
    assert!(!whole.is_finished() && runs.load(Ordering::SeqCst) == 0);
    gate.open();
    assert!(whole.join().unwrap());
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[test]
fn per_cpu_items_stay_one_at_a_time() {
    let _watchdog = watchdog("per_cpu_items_stay_one_at_a_time");
    let engine = Engine::new().unwrap();
    let queue = engine.queue("cpu").per_cpu().run_on_wait(true).build().unwrap();
    let cpu = engine.topology().cpus().first().unwrap().0;
    let inside = Arc::new(AtomicU32::new(0));
    let counting = |inside: &Arc<AtomicU32>| {
        let inside = Arc::clone(inside);
        Work::new(move |_| {
            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
            std::thread::yield_now();
            inside.fetch_sub(1, Ordering::SeqCst);
        })
    };
    for _ in 0..rounds(200) {
        let (part, rival, of) = (counting(&inside), counting(&inside), queue.clone());
        let (own, other) = (part.clone(), rival.clone());
        let whole = Work::new(move |_| {
            let _ = (of.queue_on(cpu, &own), of.queue_on(cpu, &other));
            assert!(own.flush().unwrap());
        });
        let _ = queue.queue_on(cpu, &whole);
        whole.flush().unwrap();
        rival.flush().unwrap();
    }
    assert_eq!(engine.stats().panics, 0);
}

#[test]
fn a_join_that_says_it_blocks_sleeps() {
    let _watchdog = watchdog("a_join_that_says_it_blocks_sleeps");
    let engine = Engine::new().unwrap();
    let queue = queue(&engine);
    let of = queue.clone();
    let (outer, inner) = queue
        .spawn(move || (current().id(), blocking(|| of.spawn(|| current().id()).join().unwrap())))
        .join()
        .unwrap();
    assert_ne!(outer, inner);
}

/// Each queues the next and joins it: an eighth run inside others is the last.
#[test]
fn runs_nest_eight_deep() {
    let _watchdog = watchdog("runs_nest_eight_deep");
    fn chain(queue: &Queue, left: usize, on: &Arc<Mutex<Vec<ThreadId>>>) {
        on.lock().unwrap().push(current().id());
        if left > 0 {
            let (of, on) = (queue.clone(), Arc::clone(on));
            queue.spawn(move || chain(&of, left - 1, &on)).join().unwrap();
        }
    }
    let engine = Engine::new().unwrap();
    let queue = queue(&engine);
    let on = Arc::default();
    let (of, list) = (queue.clone(), Arc::clone(&on));
    queue.spawn(move || chain(&of, 64, &list)).join().unwrap();
    let on = on.lock().unwrap();
    assert_eq!(on.len(), 65);
    let longest = on.chunk_by(|a, b| a == b).map(<[_]>::len).max();
    assert!(longest.is_some_and(|longest| (2..=9).contains(&longest)), "{longest:?} on one stack");
}

#[test]
fn who_waits_for_its_waiter_is_told_so() {
    let _watchdog = watchdog("who_waits_for_its_waiter_is_told_so");
    let engine = of_one();
    let queue = queue(&engine);
    let told = Arc::new(AtomicU32::new(0));
    let (seen, of) = (Arc::clone(&told), queue.clone());
    let outer = Work::new(move |outer| {
        let (outer, seen) = (outer.clone(), Arc::clone(&seen));
        let inner = of.spawn(move || match outer.flush() {
            Err(FlushError::WouldDeadlock(cycle)) => {
                assert_eq!(cycle.steps().len(), 2, "{cycle}");
                seen.fetch_add(1, Ordering::SeqCst);
            }
            other => panic!("{other:?}"),
        });
        inner.join().unwrap();
    });
    let _ = queue.queue(&outer);
    outer.flush().unwrap();
    assert_eq!(told.load(Ordering::SeqCst), 1);
}

#[test]
fn a_panic_is_its_own_items_alone() {
    let _watchdog = watchdog("a_panic_is_its_own_items_alone");
    let engine = of_one();
    let queue = queue(&engine);
    let of = queue.clone();
    let outer = queue.spawn(move || {
        let inner = of.spawn(|| std::panic::resume_unwind(Box::new(7)));
        let Err(JoinError::Panicked(payload)) = inner.join() else { panic!("it panicked") };
        *payload.downcast::<i32>().unwrap()
    });
    assert_eq!(outer.join().unwrap(), 7);
    assert_eq!(engine.stats().panics, 1);
}

/// After the inner item the outer is what it was: in its queue, at its place, and as it had set its thread.
#[test]
fn the_waiting_item_goes_on_as_it_was() {
    let _watchdog = watchdog("the_waiting_item_goes_on_as_it_was");
    let left = Arc::new(Mutex::new(Vec::new()));
    let list = Arc::clone(&left);
    let engine = Engine::builder()
        .check_items(true)
        .on_event(move |event| {
            if let EngineEvent::ItemLeft { place, .. } = event {
                list.lock().unwrap().push(place.clone());
            }
        })
        .build()
        .unwrap();
    let parts = queue(&engine);
    let wholes = engine.queue("wholes").scope(Scope::System).build().unwrap();
    let blocked = || {
        // SAFETY: a set of signals is plain data, and the call fills it.
        let mut set = unsafe { std::mem::zeroed::<libc::sigset_t>() };
        // SAFETY: the set is valid for the call.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), &raw mut set) };
        // SAFETY: as above.
        unsafe { libc::sigismember(&raw const set, libc::SIGUSR2) == 1 }
    };
    let unblock = || {
        // SAFETY: a set of signals is plain data.
        let mut set = unsafe { std::mem::zeroed::<libc::sigset_t>() };
        // SAFETY: the set is valid for the calls.
        unsafe { libc::sigaddset(&raw mut set, libc::SIGUSR2) };
        // SAFETY: as above.
        unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut()) };
    };
    let (done, own) = (Arc::new(AtomicU32::new(0)), wholes.clone());
    let count = Arc::clone(&done);
    let (open, closed) = gate();
    let whole = wholes.spawn(move || {
        pass(&closed);
        unblock();
        let me = current().id();
        assert_eq!(parts.spawn(|| current().id()).join().unwrap(), me);
        assert!(!blocked(), "what the waiting item has set stays");
        // Its own queue is being drained, and it is inside: it may.
        let count = Arc::clone(&count);
        own.try_spawn(move || count.fetch_add(1, Ordering::SeqCst)).map(drop).unwrap();
    });
    let drained = wholes.clone();
    let drainer = std::thread::spawn(move || drained.drain().unwrap());
    until("it is drained", || wholes.try_spawn(|| ()).is_err());
    open.open();
    whole.join().unwrap();
    drainer.join().unwrap();
    assert_eq!(done.load(Ordering::SeqCst), 1);
    let left = left.lock().unwrap();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn a_batch_behind_the_waiting_item_is_not_held_up() {
    let _watchdog = watchdog("a_batch_behind_the_waiting_item_is_not_held_up");
    let engine = Engine::builder().workers_max(2).build().unwrap();
    let queue = queue(&engine);
    let gates: Vec<_> = (0..2).map(|_| held(&queue)).collect();
    let (open, closed) = gate();
    let of = queue.clone();
    let whole = queue.spawn(move || of.spawn(move || pass(&closed)).join().unwrap());
    let behind: Vec<_> = (0..20).map(|at| queue.spawn(move || at)).collect();
    gates.into_iter().for_each(support::Gate::open);
    // Claimed together with the first, they come back when it waits.
    let sum: i32 = behind.into_iter().map(|item| item.join().unwrap()).sum();
    assert_eq!(sum, 190);
    open.open();
    whole.join().unwrap();
}

/// Everything at once, from a few threads, on a recorded engine: each item runs once, and the recording plays again.
#[test]
fn nothing_is_lost_or_run_twice_among_cancels_flushes_and_drains() {
    let _watchdog = watchdog("nothing_is_lost_or_run_twice_among_cancels_flushes_and_drains");
    for seed in 0..4u64 {
        let engine =
            Engine::builder().record(8 << 20).idle_timeout(Duration::from_millis(1)).build().unwrap();
        let parts = builder(&engine).max_active([1024, 2, 5, 16][seed as usize]).build().unwrap();
        let wholes = engine.queue("wholes").scope(Scope::System).run_on_wait(true).build().unwrap();
        let works: Vec<_> = (0..8).map(|_| counting()).collect();
        let ran = Arc::new(AtomicUsize::new(0));
        let (mut queued, mut cancelled) = (0, 0);
        let mut outer = Vec::new();
        let mut random = Random::new(seed + 1);
        let instances = Arc::new(AtomicUsize::new(0));
        for _ in 0..rounds(2000) {
            let (work, _) = &works[random.below(8) as usize];
            match random.below(8) {
                0..4 => {
                    let (parts, ran, work) = (parts.clone(), Arc::clone(&ran), work.clone());
                    let instances = Arc::clone(&instances);
                    queued += 1;
                    outer.push(wholes.spawn(move || {
                        let part = parts.spawn(move || ran.fetch_add(1, Ordering::SeqCst));
                        if parts.queue(&work) == Submit::Queued {
                            instances.fetch_add(1, Ordering::SeqCst);
                        }
                        let _ = work.flush();
                        part.join().unwrap();
                    }));
                }
                4 => cancelled += usize::from(work.cancel_sync().unwrap()),
                5 => cancelled += usize::from(work.cancel()),
                6 => parts.flush().unwrap(),
                _ => outer.drain(..).for_each(|handle| handle.join().unwrap()),
            }
        }
        outer.into_iter().for_each(|handle| handle.join().unwrap());
        parts.drain().unwrap();
        assert_eq!(ran.load(Ordering::SeqCst), queued);
        let runs: usize = works.iter().map(|(_, runs)| runs.load(Ordering::SeqCst)).sum();
        assert_eq!(runs + cancelled, instances.load(Ordering::SeqCst), "each instance is run or taken back");
        let recordings = record::read(&engine.recording().unwrap()).unwrap();
        for recording in &recordings {
            let failed = Replay::new(recording).unwrap().find_map(Result::err);
            assert!(failed.is_none(), "{failed:?}");
        }
    }
}
