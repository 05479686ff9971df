//! Cancelling and disabling: who gets the instance, what is waited for, what the depth does.

mod support;

use cmwq::{Enable, Engine, Queue, Refusal, Submit, WaitError, Work};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;
use support::{Random, counting, gate, held, pass, rounds, until, watchdog};

const LONG: Duration = Duration::from_secs(3600);

fn engine() -> Engine {
    Engine::builder().name("cancel").build().unwrap()
}

#[test]
fn a_cancelled_item_does_not_run_and_can_be_queued_again() {
    let _watchdog = watchdog("a_cancelled_item_does_not_run_and_can_be_queued_again");
    let engine = engine();
    let kinds = [
        engine.queue("waits").ordered().build().unwrap(),
        engine.queue("listed").max_active(64).per_cpu().build().unwrap(),
    ];
    for queue in kinds {
        let (work, runs) = counting();
        assert!(!work.cancel(), "idle");
        let open = held(&queue);
        let cpu = engine.topology().cpus().iter().next().unwrap().0;
        for _ in 0..10 {
            assert_eq!(queue.queue_on(cpu, &work), Submit::Queued);
            assert!(work.cancel() || runs.load(Ordering::SeqCst) > 0);
        }
        open.open();
        queue.flush().unwrap();
        let before = runs.load(Ordering::SeqCst);
        assert_eq!(queue.queue(&work), Submit::Queued);
        work.flush().unwrap();
        assert_eq!(runs.load(Ordering::SeqCst), before + 1);
    }
}

/// What a worker has claimed with others and not started is taken back from it.
#[test]
fn an_item_of_a_batch_is_cancelled() {
    let _watchdog = watchdog("an_item_of_a_batch_is_cancelled");
    let engine = engine();
    let queue = engine.queue("batch").per_cpu().build().unwrap();
    let cpu = engine.topology().cpus().iter().next().unwrap().0;
    let ((open, closed), (tell, told)) = (gate(), channel());
    let head = Work::new(move |_| {
        tell.send(()).unwrap();
        pass(&closed);
    });
    let works: Vec<_> = (0..20).map(|_| counting()).collect();
    let (start, started) = gate();
    let blocker = Work::new(move |_| pass(&started));
    assert_eq!(queue.queue_on(cpu, &blocker), Submit::Queued);
    assert_eq!(queue.queue_on(cpu, &head), Submit::Queued);
    for (work, _) in &works {
        assert_eq!(queue.queue_on(cpu, work), Submit::Queued);
    }
    start.open();
    told.recv().unwrap();
    for (work, _) in works.iter().step_by(2) {
        assert!(work.cancel());
    }
    open.open();
    queue.flush().unwrap();
    for (n, (_, runs)) in works.iter().enumerate() {
        assert_eq!(runs.load(Ordering::SeqCst), n % 2, "item {n}");
    }
}

/// The next instance of a running item, left to the finisher or behind the run.
#[test]
fn the_next_instance_of_a_running_item_is_cancelled() {
    let _watchdog = watchdog("the_next_instance_of_a_running_item_is_cancelled");
    let engine = engine();
    let queues = [engine.queue("plain").build().unwrap(), engine.queue("ordered").ordered().build().unwrap()];
    for queue in queues {
        let ((open, closed), runs) = (gate(), Arc::new(AtomicUsize::new(0)));
        let counter = Arc::clone(&runs);
        let work = Work::new(move |_| {
            counter.fetch_add(1, Ordering::SeqCst);
            pass(&closed);
        });
        assert_eq!(queue.queue(&work), Submit::Queued);
        until("it runs", || runs.load(Ordering::SeqCst) == 1);
        for _ in 0..300 {
            assert_eq!(queue.queue(&work), Submit::Queued);
            assert!(work.cancel(), "pending behind its run");
            assert!(!work.cancel());
            assert!(work.is_running());
        }
        open.open();
        work.flush().unwrap();
        queue.flush().unwrap();
        assert_eq!(runs.load(Ordering::SeqCst), 1);
    }
}

/// The place behind the limit is given up, its flushers are released, and nobody's count is lost.
#[test]
fn a_flushed_item_that_waits_for_its_limit_is_cancelled() {
    let _watchdog = watchdog("a_flushed_item_that_waits_for_its_limit_is_cancelled");
    let engine = engine();
    for queue in [
        engine.queue("one").max_active(1).build().unwrap(),
        engine.queue("ordered").ordered().build().unwrap(),
        engine.queue("cpu").per_cpu().max_active(1).build().unwrap(),
    ] {
        for _ in 0..rounds(50) {
            let open = held(&queue);
            let (work, runs) = counting();
            assert_eq!(queue.queue(&work), Submit::Queued);
            std::thread::scope(|scope| {
                let flushers: Vec<_> = (0..3).map(|_| scope.spawn(|| work.flush().unwrap())).collect();
                std::thread::yield_now();
                let cancelled = work.cancel();
                if cancelled {
                    flushers.into_iter().for_each(|f| assert!(f.join().is_ok()));
                    open.open();
                } else {
                    // A per-CPU queue may have put it on another CPU.
                    open.open();
                }
                let after = queue.spawn(|| 7);
                assert_eq!(after.join().unwrap(), 7, "the next item starts");
                queue.flush().unwrap();
                assert_eq!(runs.load(Ordering::SeqCst), usize::from(!cancelled));
            });
        }
    }
}

/// Works that queue themselves, at once or later, here and there; any number of cancellers.
#[test]
fn cancellers_end_a_work_that_queues_itself() {
    let _watchdog = watchdog("cancellers_end_a_work_that_queues_itself");
    let engine = engine();
    let queues: Vec<Queue> = (0..3).map(|n| engine.queue(format!("q{n}")).build().unwrap()).collect();
    for round in 0..rounds(30) {
        let (again, inside) = (queues.clone(), Arc::new(AtomicBool::new(false)));
        let flag = Arc::clone(&inside);
        let mut turn = 0usize;
        let work = Work::new(move |me: &Work| {
            flag.store(true, Ordering::SeqCst);
            turn += 1;
            // Most cancellers come while it runs and has not queued itself.
            std::thread::sleep(Duration::from_micros(100));
            let queue = &again[turn % again.len()];
            let delay = Duration::from_micros(if turn.is_multiple_of(2) { 0 } else { 30 });
            let answer = queue.queue_delayed(me, delay);
            assert!(matches!(answer, Submit::Queued | Submit::Refused(Refusal::Disabled)), "{answer:?}");
            std::thread::sleep(Duration::from_micros(20));
            flag.store(false, Ordering::SeqCst);
        });
        assert_eq!(queues[0].queue(&work), Submit::Queued);
        std::thread::scope(|scope| {
            for _ in 0..1 + round % 8 {
                scope.spawn(|| {
                    work.cancel_sync().unwrap();
                    assert!(!inside.load(Ordering::SeqCst), "it runs after a cancel");
                });
            }
        });
        assert!(!work.is_pending() && !work.is_running() && !work.is_disabled());
    }
}

/// What the function refers to may be freed after a cancel.
#[test]
fn nothing_runs_after_a_cancel() {
    let _watchdog = watchdog("nothing_runs_after_a_cancel");
    let engine = engine();
    let (a, b) = (engine.queue("a").build().unwrap(), engine.queue("b").per_cpu().build().unwrap());
    let mut random = Random::new(7);
    for _ in 0..rounds(1_000) {
        let alive = Arc::new(AtomicBool::new(true));
        let seen = Arc::clone(&alive);
        let work = Work::new(move |_| {
            std::thread::sleep(Duration::from_micros(20));
            assert!(seen.load(Ordering::SeqCst), "used after it was freed");
        });
        for _ in 0..random.below(4) {
            let queue = if random.below(2) == 0 { &a } else { &b };
            let _ = queue.queue_delayed(&work, Duration::from_micros(random.below(3) * 20));
        }
        if random.below(2) == 0 {
            std::thread::sleep(Duration::from_micros(random.below(60)));
        }
        work.cancel_sync().unwrap();
        alive.store(false, Ordering::SeqCst);
    }
    a.flush().unwrap();
    b.flush().unwrap();
    assert_eq!(engine.stats().panics, 0);
}

#[test]
fn a_work_cannot_wait_for_itself() {
    let _watchdog = watchdog("a_work_cannot_wait_for_itself");
    let engine = engine();
    let queue = engine.queue("self").build().unwrap();
    let (tell, told) = channel();
    let work = Work::new(move |me: &Work| {
        tell.send((me.cancel_sync(), me.disable_sync(), me.is_disabled(), me.cancel())).unwrap();
    });
    assert_eq!(queue.queue(&work), Submit::Queued);
    let answers = told.recv().unwrap();
    let is_refused = |answer: &Result<bool, WaitError>| matches!(answer, Err(WaitError::WouldDeadlock(_)));
    assert!(is_refused(&answers.0) && is_refused(&answers.1), "{answers:?}");
    assert_eq!((answers.2, answers.3), (false, false));
}

#[test]
fn the_depth_survives_everything_but_enables() {
    let _watchdog = watchdog("the_depth_survives_everything_but_enables");
    let engine = engine();
    let queue = engine.queue("depth").build().unwrap();
    let (work, runs) = counting();
    assert_eq!(queue.queue_delayed(&work, LONG), Submit::Queued);
    assert!(work.disable(), "it takes the pending instance back");
    assert!(!work.disable());
    assert_eq!(work.disable_sync(), Ok(false));
    let disabled = Submit::Refused(Refusal::Disabled);
    let refuses = || {
        assert_eq!(queue.queue(&work), disabled);
        assert_eq!(queue.queue_delayed(&work, LONG), disabled);
        assert_eq!(queue.mod_delayed(&work, Duration::ZERO), Err(Refusal::Disabled));
        assert!(!work.cancel());
        assert_eq!(work.cancel_sync(), Ok(false));
        assert!(work.is_disabled() && !work.is_pending());
    };
    refuses();
    assert_eq!(work.enable(), Enable::StillDisabled);
    refuses();
    assert_eq!(queue.enable_and_queue(&work), None);
    refuses();
    assert_eq!(queue.enable_and_queue(&work), Some(Submit::Queued));
    work.flush().unwrap();
    assert_eq!(runs.load(Ordering::SeqCst), 1, "what was refused is not made up for");
    assert_eq!(work.enable(), Enable::WasEnabled);
    assert_eq!(queue.enable_and_queue(&work), None);
    assert_eq!(queue.queue(&work), Submit::Queued);
    work.flush().unwrap();
}

#[test]
fn a_disable_inside_the_function_ends_a_work_that_queues_itself() {
    let _watchdog = watchdog("a_disable_inside_the_function_ends_a_work_that_queues_itself");
    let engine = engine();
    let queue = engine.queue("self").build().unwrap();
    let (again, mut runs) = (queue.clone(), 0);
    let (tell, told) = channel();
    let work = Work::new(move |me: &Work| {
        runs += 1;
        assert_eq!(again.queue(me), Submit::Queued);
        if runs == 5 {
            assert!(me.disable(), "the next instance was pending");
            tell.send(again.queue(me)).unwrap();
        }
    });
    assert_eq!(queue.queue(&work), Submit::Queued);
    assert_eq!(told.recv().unwrap(), Submit::Refused(Refusal::Disabled));
    work.flush().unwrap();
    assert!(!work.is_pending());
}

#[test]
fn a_full_depth_is_refused() {
    let _watchdog = watchdog("a_full_depth_is_refused");
    let work = Work::new(|_| ());
    for _ in 0..u16::MAX {
        work.disable();
    }
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work.disable())).unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"a work was disabled 65536 times and not enabled"));
    for _ in 1..u16::MAX {
        assert_eq!(work.enable(), Enable::StillDisabled);
    }
    assert_eq!(work.enable(), Enable::Enabled);
}

/// A work that was last queued in an engine that is gone.
#[test]
fn cancelling_outlives_engines() {
    let _watchdog = watchdog("cancelling_outlives_engines");
    let (work, runs) = counting();
    for n in 1..=20 {
        let engine = engine();
        let queue = engine.queue("short").build().unwrap();
        assert_eq!(queue.queue(&work), Submit::Queued);
        let canceller = std::thread::spawn({
            let work = work.clone();
            move || (0..200).filter(|_| work.cancel()).count()
        });
        drop(queue);
        drop(engine);
        let cancelled = canceller.join().unwrap();
        assert!(!work.cancel() && !work.is_pending());
        assert!(runs.load(Ordering::SeqCst) + cancelled <= n);
        runs.store(n, Ordering::SeqCst);
    }
}
