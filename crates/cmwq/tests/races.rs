//! Six races of the workqueue, each a small program of a few threads whose end is judged.
//!
//! The runtime that is driven is the one that ships. Under `--cfg cmwq_shuttle` shuttle's scheduler chooses at each
//! operation on a shared word, and at each sleep and wake-up, which thread goes on, and when a time comes: thousands of
//! schedules of each program, half of them random and half by priorities with a few changes (PCT). A program that
//! hangs fails. Otherwise the threads are real, and the engine's are stopped at random at its named steps.

#[cfg(cmwq_shuttle)]
#[path = "races/explore.rs"]
mod explore;
#[cfg(not(cmwq_shuttle))]
#[path = "races/stops.rs"]
mod stops;
#[cfg(not(cmwq_shuttle))]
mod support;
#[path = "races/world.rs"]
mod world;

#[cfg(cmwq_shuttle)]
use explore::{engine, race, sometimes, toss};
#[cfg(not(cmwq_shuttle))]
use stops::{engine, race, sometimes, toss};

use cmwq::{Queue, Refusal, Scope, Submit, Work};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use world::{Gate, now, pause, sleep, thread};

/// A delay, of which a few are needed in each round.
const SOON: Duration = Duration::from_micros(200);

/// Counts, of which most threads add to some.
#[derive(Default)]
struct Count(AtomicU32);

impl Count {
    fn add(&self, yes: bool) {
        self.0.fetch_add(u32::from(yes), SeqCst);
    }

    fn get(&self) -> u32 {
        self.0.load(SeqCst)
    }
}

/// How many are inside, and how many were at most.
#[derive(Default)]
struct Inside {
    now: AtomicU32,
    most: AtomicU32,
    ended: Count,
}

impl Inside {
    fn run(&self, body: impl FnOnce()) {
        self.most.fetch_max(self.now.fetch_add(1, SeqCst) + 1, SeqCst);
        body();
        self.now.fetch_sub(1, SeqCst);
        self.ended.add(true);
    }
}

/// Sometimes the pools have workers that sleep when the race begins.
fn warm(queue: &Queue) {
    if toss() {
        let works = [0, 1].map(|cpu| {
            let work = Work::new(|_| ());
            assert_eq!(queue.queue_on(cpu, &work), Submit::Queued);
            work
        });
        queue.flush().unwrap();
        drop(works);
    }
}

/// Rule 22: after `cancel_sync` nothing of the work runs, though it queues itself, here and there, at once and later.
#[test]
fn a_work_that_queues_itself_against_cancel_sync() {
    race("a_work_that_queues_itself_against_cancel_sync", || {
        let engine = engine("node:1/core:2");
        let queue = engine.queue("self").scope(Scope::Cpu).build().unwrap();
        warm(&queue);
        let (queued, runs, late) =
            (Arc::<Count>::default(), Arc::<Count>::default(), Arc::<Count>::default());
        let (returned, begun) = (Arc::new(AtomicBool::new(false)), Arc::<Gate>::default());
        let work = Work::new({
            let (queue, queued, runs) = (queue.clone(), queued.clone(), runs.clone());
            let (late, returned, begun) = (late.clone(), returned.clone(), begun.clone());
            let (mut left, nth) = (3u32, if toss() { 1 } else { 2 + u32::from(toss()) });
            move |me: &Work| {
                runs.add(true);
                if left + nth == 4 {
                    begun.open();
                }
                late.add(returned.load(SeqCst));
                if left > 0 {
                    left -= 1;
                    let later = SOON * (left % 2);
                    queued.add(queue.queue_delayed_on(left / 2, me, later) == Submit::Queued);
                }
                pause();
                late.add(returned.load(SeqCst));
            }
        });
        queued.add(queue.queue(&work) == Submit::Queued);
        let taken = Count::default();
        if toss() {
            begun.pass();
        }
        let canceller = || {
            taken.add(work.cancel_sync().expect("not inside it"));
            returned.store(true, SeqCst);
            assert!(!work.is_running(), "it runs still");
            assert!(!work.is_pending(), "it will run");
        };
        thread::scope(|scope| {
            scope.spawn(canceller);
            canceller();
        });
        assert!(!work.is_disabled(), "every disable has been taken back");
        queue.flush().unwrap();
        assert_eq!(late.get(), 0, "it ran after a cancel_sync had returned");
        assert_eq!(runs.get() + taken.get(), queued.get(), "each instance ran or was taken back");
        sometimes("it is taken back", taken.get() > 0);
        sometimes("it has queued itself", queued.get() > 1);
    });
}

/// Rule 29: a drain returns when everything has ended, also what items of the queue chain meanwhile, of which nothing
/// is refused; strangers are refused.
#[test]
fn chained_submissions_against_a_drain() {
    race("chained_submissions_against_a_drain", || {
        let engine = engine("node:1/core:2");
        let queue = engine.queue("drained").scope(Scope::Cpu).build().unwrap();
        warm(&queue);
        let (ended, refused) = (Arc::<Count>::default(), Arc::<Count>::default());
        let (begun, meanwhile) = (Arc::<AtomicBool>::default(), Arc::<Count>::default());
        let started = Arc::<Gate>::default();
        const LINKS: u32 = 4;
        let link = |next: Option<Work>, at: u32| {
            let (queue, ended, refused) = (queue.clone(), ended.clone(), refused.clone());
            let (begun, meanwhile, started) = (begun.clone(), meanwhile.clone(), started.clone());
            Work::new(move |_| {
                started.open();
                pause();
                if let Some(next) = &next {
                    meanwhile.add(begun.load(SeqCst));
                    refused.add(queue.queue_on(at % 2, next) != Submit::Queued);
                }
                ended.add(true);
            })
        };
        let head = (0..LINKS).fold(None, |next, at| Some(link(next, at)));
        let strange = Arc::<Count>::default();
        let stranger = Work::new({
            let strange = strange.clone();
            move |_| strange.add(true)
        });
        let before = AtomicBool::new(false);
        assert_eq!(queue.queue(head.as_ref().unwrap()), Submit::Queued);
        let submit = || match queue.queue_on(1, &stranger) {
            Submit::Refused(Refusal::Draining) => {
                assert!(begun.load(SeqCst), "refused by an open queue");
                false
            }
            answer => {
                assert_eq!(answer, Submit::Queued);
                before.store(!begun.load(SeqCst), SeqCst);
                true
            }
        };
        let accepted = thread::scope(|scope| {
            let submitter = scope.spawn(submit);
            if toss() {
                started.pass();
            }
            begun.store(true, SeqCst);
            queue.drain().unwrap();
            assert_eq!(ended.get(), LINKS, "something of the queue had not ended");
            assert!(!before.load(SeqCst) || strange.get() == 1, "something accepted before had not ended");
            submitter.join().unwrap()
        });
        assert_eq!(refused.get(), 0, "a chained submission was refused");
        queue.flush().unwrap();
        assert_eq!(strange.get(), u32::from(accepted), "what was accepted has run, once");
        assert_eq!(queue.queue(&stranger), Submit::Queued, "the drain is over");
        queue.flush().unwrap();
        sometimes("the stranger is refused", !accepted);
        sometimes("all are chained while the drain waits", meanwhile.get() == LINKS - 1);
    });
}

/// Rules 24 and 25: an arming ends by one run or is taken back once, and what was set last counts.
#[test]
fn a_firing_timer_against_mod_delayed() {
    race("a_firing_timer_against_mod_delayed", || {
        let engine = engine("node:1/core:2");
        let queue = engine.queue("modified").scope(Scope::Cpu).build().unwrap();
        warm(&queue);
        let starts = Arc::new(Mutex::new(Vec::new()));
        let work = Work::new({
            let starts = starts.clone();
            move |_| {
                let now = now();
                starts.lock().unwrap().push(now);
                pause();
            }
        });
        let (armed, taken) = (Count::default(), Count::default());
        armed.add(queue.queue_delayed_on(0, &work, SOON) == Submit::Queued);
        let modify = |cpu: u32, times: u32| {
            let (before, delay) = (now(), SOON * times);
            let was_pending = queue.mod_delayed_on(cpu, &work, delay).expect("nothing refuses it");
            taken.add(was_pending);
            armed.add(true);
            (before + delay, was_pending)
        };
        thread::scope(|scope| {
            scope.spawn(|| modify(1, 1));
            modify(0, 2);
        });
        if toss() {
            // As long as the timer that is armed now, or that was before.
            sleep(SOON * 2);
        }
        let (set, was_pending) = modify(1, 2);
        while work.is_pending() || work.is_running() {
            sleep(SOON);
        }
        let starts = starts.lock().unwrap();
        let ends = starts.len() as u32 + taken.get();
        assert_eq!(ends, armed.get(), "an arming ran twice, or neither ran nor was taken back");
        assert!(*starts.last().expect("the last one runs") >= set, "it ran before the time set last");
        sometimes("the last modification finds it pending", was_pending);
        sometimes("an arming runs before the time is set anew", starts.len() > 1);
    });
}

/// Rule 11: no place that one pwq of a node leaves to another is lost, and the limit is kept.
#[test]
fn two_pwqs_of_a_node_hand_one_place_to_each_other() {
    race("two_pwqs_of_a_node_hand_one_place_to_each_other", || {
        let engine = engine("node:1/core:2");
        let queue = engine.queue("shared").scope(Scope::Cpu).max_active(1).build().unwrap();
        warm(&queue);
        let inside = Arc::<Inside>::default();
        const EACH: u32 = 2;
        let starts = Arc::new(Mutex::new(Vec::new()));
        let works: Vec<Work> = (0..2 * EACH)
            .map(|at| {
                let (inside, starts) = (inside.clone(), starts.clone());
                Work::new(move |_| {
                    inside.run(|| {
                        starts.lock().unwrap().push(at % 2);
                        pause();
                    });
                })
            })
            .collect();
        let submit = |cpu: u32| {
            for work in works.iter().skip(cpu as usize).step_by(2) {
                assert_eq!(queue.queue_on(cpu, work), Submit::Queued);
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| submit(1));
            submit(0);
        });
        queue.flush().unwrap();
        assert_eq!(inside.ended.get(), 2 * EACH, "each has run");
        assert_eq!(inside.most.load(SeqCst), 1, "the limit was not kept");
        let handed = starts.lock().unwrap().windows(2).filter(|two| two[0] != two[1]).count();
        sometimes("the place goes to and fro", handed > 1);
    });
}

/// Rule 14: an item that waits for its limit is flushed, and cancelled: the flusher returns, and no place is freed.
#[test]
fn a_flush_against_the_cancel_of_an_item_that_waits_for_its_limit() {
    race("a_flush_against_the_cancel_of_an_item_that_waits_for_its_limit", || {
        let engine = engine("core:2");
        let one = engine.queue("one");
        let queue = if toss() { one.ordered() } else { one.max_active(1) }.build().unwrap();
        warm(&queue);
        let (inside, gate) = (Arc::<Inside>::default(), Arc::<Gate>::default());
        let blocker = Work::new({
            let (inside, gate) = (inside.clone(), gate.clone());
            move |_| inside.run(|| gate.pass())
        });
        let other = || {
            let inside = inside.clone();
            Work::new(move |_| inside.run(pause))
        };
        let (flushed, after) = (other(), other());
        assert_eq!(queue.queue(&blocker), Submit::Queued);
        assert_eq!(queue.queue(&flushed), Submit::Queued);
        assert_eq!(queue.queue(&after), Submit::Queued);
        let mut cancelled = false;
        thread::scope(|scope| {
            let flusher = scope.spawn(|| flushed.flush().expect("no circle"));
            cancelled = flushed.cancel();
            assert!(cancelled, "it waits behind one that has not ended");
            // Released though the place is taken still.
            sometimes("the flusher comes before the cancel", flusher.join().unwrap());
            scope.spawn(|| gate.open());
            after.flush().unwrap();
        });
        queue.flush().unwrap();
        assert_eq!(inside.ended.get(), 2, "the others have run");
        assert_eq!(inside.most.load(SeqCst), 1, "its cancel freed a place");
    });
}

/// An item that its waiter may run, against the pool's workers, a canceller, who queues it again, and a rival of the
/// same limit.
#[test]
fn a_waiter_that_may_run_the_item_against_a_worker_and_a_canceller() {
    race("a_waiter_that_may_run_the_item_against_a_worker_and_a_canceller", || {
        let engine = engine("node:1/core:2");
        let max = 1 + u32::from(toss());
        let parts =
            engine.queue("parts").scope(Scope::System).max_active(max).run_on_wait(true).build().unwrap();
        let wholes = engine.queue("wholes").scope(Scope::System).build().unwrap();
        warm(&parts);
        let (inside, queued, taken) = (Arc::<Inside>::default(), Arc::<Count>::default(), Count::default());
        let ran_on = Arc::<Mutex<Option<thread::ThreadId>>>::default();
        let part = |ran_on: Option<Arc<Mutex<_>>>| {
            let inside = inside.clone();
            Work::new(move |_| {
                inside.run(pause);
                if let Some(ran_on) = &ran_on {
                    *ran_on.lock().unwrap() = Some(thread::current().id());
                }
            })
        };
        let (awaited, rival) = (part(Some(ran_on.clone())), part(None));
        let is_here = Arc::new(AtomicBool::new(false));
        let whole = Work::new({
            let (parts, awaited, queued) = (parts.clone(), awaited.clone(), queued.clone());
            let is_here = is_here.clone();
            move |_| {
                queued.add(parts.queue(&awaited) == Submit::Queued);
                let _ = awaited.flush().expect("nobody waits for the waiter");
                is_here.store(*ran_on.lock().unwrap() == Some(thread::current().id()), SeqCst);
            }
        });
        assert_eq!(wholes.queue(&whole), Submit::Queued);
        thread::scope(|scope| {
            scope.spawn(|| queued.add(parts.queue(&rival) == Submit::Queued));
            taken.add(awaited.cancel());
            queued.add(parts.queue(&awaited) == Submit::Queued);
        });
        whole.flush().unwrap();
        parts.drain().unwrap();
        assert_eq!(inside.ended.get() + taken.get(), queued.get(), "each instance ran or was taken back");
        assert!(inside.most.load(SeqCst) <= max, "more than max_active ran");
        sometimes("it is taken back", taken.get() > 0);
        sometimes("the waiter runs it", is_here.load(SeqCst));
    });
}
