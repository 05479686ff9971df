//! A work that has been queued runs, once for each submission that was accepted, and never twice at once.
#![allow(clippy::let_underscore_future, reason = "to drop a handle is to detach its item")]

mod support;

use cmwq::{Engine, Queue, Refusal, Submit, Topology, Work};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};
use support::{held, until, watchdog};

fn queue(name: &str) -> Queue {
    Engine::builder().name(name).build().unwrap().queue(name).build().unwrap()
}

fn counting() -> (Work, Arc<AtomicU32>) {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&runs);
    (
        Work::new(move |_| {
            counted.fetch_add(1, Relaxed);
        }),
        runs,
    )
}

#[test]
fn a_queued_work_runs_once() {
    let _watchdog = watchdog("a_queued_work_runs_once");
    let queue = queue("once");
    let (work, runs) = counting();
    for round in 1..=100 {
        assert_eq!(queue.queue(&work), Submit::Queued);
        work.flush().unwrap();
        assert_eq!(runs.load(Relaxed), round);
    }
    assert!(!work.is_pending() && !work.is_running());
}

#[test]
fn queueing_a_pending_work_does_nothing() {
    let _watchdog = watchdog("queueing_a_pending_work_does_nothing");
    let engine = Engine::builder().workers_max(1).build().unwrap();
    let queue = engine.queue("pending").scope(cmwq::Scope::System).build().unwrap();
    let open = held(&queue);
    let (work, runs) = counting();
    assert_eq!(queue.queue(&work), Submit::Queued);
    assert!(work.is_pending());
    for _ in 0..10 {
        assert_eq!(queue.queue(&work), Submit::AlreadyPending);
    }
    open.open();
    queue.flush().unwrap();
    assert_eq!(runs.load(Relaxed), 1);
    assert!(!work.is_pending());
}

#[test]
fn a_pending_run_sees_what_was_stored_before_a_refused_submission() {
    let _watchdog = watchdog("a_pending_run_sees_what_was_stored_before_a_refused_submission");
    let queue = queue("stores");
    let stored: Arc<[AtomicU64; 3]> = Arc::default();
    let seen: Arc<[AtomicU64; 3]> = Arc::default();
    let (from, to) = (Arc::clone(&stored), Arc::clone(&seen));
    let work = Work::new(move |_| from.iter().zip(&*to).for_each(|(f, t)| t.store(f.load(Relaxed), Relaxed)));
    for round in 1..=2000 {
        std::thread::scope(|threads| {
            for cell in &*stored {
                let (work, queue) = (&work, &queue);
                threads.spawn(move || {
                    cell.store(round, Relaxed);
                    let _ = queue.queue(work);
                });
            }
        });
        work.flush().unwrap();
        assert!(seen.iter().all(|cell| cell.load(Relaxed) == round), "a store was not seen in round {round}");
    }
}

#[test]
fn a_work_never_runs_twice_at_once_whatever_queues_it_is_submitted_to() {
    let _watchdog = watchdog("a_work_never_runs_twice_at_once_whatever_queues_it_is_submitted_to");
    let queues = [queue("left"), queue("right"), queue("third")];
    let inside = Arc::new(AtomicU32::new(0));
    let runs = Arc::new(AtomicU64::new(0));
    let (inside2, runs2) = (Arc::clone(&inside), Arc::clone(&runs));
    let work = Work::new(move |_| {
        assert_eq!(inside2.fetch_add(1, Relaxed), 0, "twice at once");
        std::hint::spin_loop();
        inside2.fetch_sub(1, Relaxed);
        runs2.fetch_add(1, Relaxed);
    });
    let queued = AtomicU64::new(0);
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let (work, queued, queues) = (&work, &queued, &queues);
            threads.spawn(move || {
                for round in 0..5000 {
                    match queues[(thread + round) % queues.len()].queue(work) {
                        Submit::Queued => {
                            queued.fetch_add(1, Relaxed);
                        }
                        other => assert_eq!(other, Submit::AlreadyPending),
                    }
                }
            });
        }
    });
    queues.iter().for_each(|queue| queue.flush().unwrap());
    work.flush().unwrap();
    assert_eq!(runs.load(Relaxed), queued.load(Relaxed));
}

#[test]
fn a_work_may_queue_itself_again() {
    let _watchdog = watchdog("a_work_may_queue_itself_again");
    let queue = queue("again");
    let runs = Arc::new(AtomicU32::new(0));
    let (runs2, queue2) = (Arc::clone(&runs), queue.clone());
    let work = Work::new(move |work| {
        if runs2.fetch_add(1, Relaxed) < 999 {
            assert_eq!(queue2.queue(work), Submit::Queued);
            assert_eq!(queue2.queue(work), Submit::AlreadyPending);
        }
    });
    assert_eq!(queue.queue(&work), Submit::Queued);
    until("a thousand runs", || runs.load(Relaxed) == 1000);
    // The queue's handle in the function is dropped with the work.
    drop(work);
}

#[test]
fn every_cpu_of_the_engine_can_be_chosen_and_no_other() {
    let _watchdog = watchdog("every_cpu_of_the_engine_can_be_chosen_and_no_other");
    let engine = Engine::new().unwrap();
    let queue = engine.queue("on").per_cpu().build().unwrap();
    let cpus: Vec<u32> = engine.topology().cpus().iter().map(|cpu| cpu.0).collect();
    let ran_on = Arc::new(AtomicU32::new(u32::MAX));
    let ran = Arc::clone(&ran_on);
    let work = Work::new(move |_| {
        let own = cmwq_sys::affinity::current().unwrap();
        assert_eq!(own.len(), 1, "a worker of one CPU is bound to it");
        ran.store(own.first().unwrap().0, Relaxed);
    });
    for &cpu in &cpus {
        assert_eq!(queue.queue_on(cpu, &work), Submit::Queued);
        assert!(work.flush().is_ok());
        assert_eq!(ran_on.load(Relaxed), cpu);
    }
    for unknown in [cpus.last().unwrap() + 1, 100_000, u32::MAX] {
        assert_eq!(queue.queue_on(unknown, &work), Submit::Refused(Refusal::UnknownCpu));
    }
}

#[test]
fn gaps_in_the_numbers_of_cpus_are_refused_but_submissions_from_there_are_not() {
    let _watchdog = watchdog("gaps_in_the_numbers_of_cpus_are_refused_but_submissions_from_there_are_not");
    // A described machine: the caller may run on CPUs that it does not have.
    for spec in ["core:1", "core:64", "core:8/offline:2-4"] {
        let topology = Topology::synthetic(spec).unwrap();
        let cpus: Vec<u32> = topology.cpus().iter().map(|cpu| cpu.0).collect();
        let engine = Engine::builder().topology(topology).build().unwrap();
        for scope in [cmwq::Scope::Cpu, cmwq::Scope::System] {
            let queue = engine.queue("described").scope(scope).build().unwrap();
            let (work, runs) = counting();
            for cpu in 0..=cpus.last().unwrap() + 1 {
                let expected = match cpus.contains(&cpu) {
                    true => Submit::Queued,
                    false => Submit::Refused(Refusal::UnknownCpu),
                };
                assert_eq!(queue.queue_on(cpu, &work), expected, "{spec}: CPU {cpu}");
                work.flush().unwrap();
            }
            assert_eq!(queue.queue(&work), Submit::Queued);
            work.flush().unwrap();
            assert_eq!(runs.load(Relaxed) as usize, cpus.len() + 1);
        }
    }
}

struct SubmitAtExit(Queue, Work);

impl Drop for SubmitAtExit {
    fn drop(&mut self) {
        assert_eq!(self.0.queue(&self.1), Submit::Queued);
        self.1.flush().unwrap();
        assert_eq!(self.0.spawn(|| 7).join().unwrap(), 7);
    }
}

thread_local! {
    static AT_EXIT: RefCell<Option<SubmitAtExit>> = const { RefCell::new(None) };
}

#[test]
fn a_thread_may_submit_while_it_ends() {
    let _watchdog = watchdog("a_thread_may_submit_while_it_ends");
    let queue = queue("exit");
    for _ in 0..20 {
        let (work, runs) = counting();
        let parting = SubmitAtExit(queue.clone(), work);
        let thread = std::thread::spawn(move || AT_EXIT.with(|cell| *cell.borrow_mut() = Some(parting)));
        thread.join().unwrap();
        assert_eq!(runs.load(Relaxed), 1);
    }
}

#[test]
fn an_exit_handler_may_submit_and_wait() {
    let _watchdog = watchdog("an_exit_handler_may_submit_and_wait");
    if !support::is_alone() {
        let output = support::run_alone("an_exit_handler_may_submit_and_wait");
        let told = String::from_utf8_lossy(&output.stdout).contains("the handler has 42");
        assert!(output.status.success() && told, "{output:?}");
        return;
    }
    static QUEUE: std::sync::OnceLock<Queue> = std::sync::OnceLock::new();
    extern "C" fn handler() {
        println!("the handler has {}", QUEUE.get().unwrap().spawn(|| 42).join().unwrap());
    }
    QUEUE.get_or_init(|| queue("atexit")).spawn(|| ()).join().unwrap();
    // SAFETY: the handler is a plain function of this program.
    assert_eq!(unsafe { libc::atexit(handler) }, 0);
    std::process::exit(0);
}

#[test]
fn a_thousand_threads_submit() {
    let _watchdog = watchdog("a_thousand_threads_submit");
    let queue = queue("thousand");
    let runs = Arc::new(AtomicU32::new(0));
    let threads: Vec<_> = (0..1000)
        .map(|_| {
            let (queue, runs) = (queue.clone(), Arc::clone(&runs));
            std::thread::spawn(move || drop(queue.spawn(move || runs.fetch_add(1, Relaxed))))
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    queue.flush().unwrap();
    assert_eq!(runs.load(Relaxed), 1000);
}
