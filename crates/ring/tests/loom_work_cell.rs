//! The item word: one run for each claim, a refused submission is seen by the pending run, no waiter is forgotten.
#![cfg(cmwq_loom)]
#![allow(clippy::arc_with_non_send_sync, reason = "the model's threads are coroutines of one thread")]

use cmwq_core::work::{Ended, FlushTarget, HandOver, Submit, WorkWord};
use cmwq_ring::WorkCell;
use cmwq_ring::model::{Broken, Mutant, all_are_caught, check, mutant, sleep_upper, wake_upper};
use cmwq_ring::sync::{AtomicU32, Ordering};
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;

/// An item with what its protocol guards.
struct Work {
    word: WorkCell,
    /// Written by whoever owns PENDING.
    place: UnsafeCell<u32>,
    /// How often it ran.
    runs: UnsafeCell<u32>,
    /// The queue: whether the item lies in it.
    queued: AtomicU32,
}

impl Work {
    /// With one instance queued.
    fn queued() -> Arc<Work> {
        let (place, runs) = (UnsafeCell::new(0), UnsafeCell::new(0));
        Arc::new(Work { word: WorkCell::new(WorkWord::CLAIMED), place, runs, queued: AtomicU32::new(1) })
    }

    fn push(&self) {
        assert_eq!(self.queued.swap(1, Ordering::AcqRel), 0, "an item lies in one queue, once");
    }

    /// Whether it will run once more for this.
    fn submit(&self, place: u32) -> bool {
        let claim = self.word.submit();
        if matches!(claim, Submit::AlreadyPending | Submit::Disabled) {
            return false;
        }
        // SAFETY: the model checks it.
        self.place.with_mut(|p| unsafe { *p = place });
        if claim == Submit::HandOver && self.word.hand_over() == HandOver::Left {
            return true;
        }
        self.push();
        true
    }

    fn read_place(&self) -> u32 {
        // SAFETY: the model checks it.
        self.place.with(|place| unsafe { *place })
    }

    /// Runs it, if it is queued.
    fn serve(&self) -> bool {
        self.serve_with(|| ())
    }

    /// The same, with this as the function.
    fn serve_with(&self, function: impl Fn()) -> bool {
        if self.queued.swap(0, Ordering::AcqRel) == 0 {
            return false;
        }
        if !mutant("work-place-after-start") {
            self.read_place();
        }
        self.word.start();
        if mutant("work-place-after-start") {
            self.read_place();
        }
        // SAFETY: the model checks it.
        self.runs.with_mut(|runs| unsafe { *runs += 1 });
        function();
        let Ended { push, wake } = self.word.finish();
        if push && !mutant("work-handed-over-ignored") {
            self.read_place();
            self.push();
        }
        if wake && !mutant("work-waiters-forgotten") {
            wake_upper(self.word.sleep_word());
        }
        true
    }

    fn runs(&self) -> u32 {
        // SAFETY: the model checks it.
        self.runs.with(|runs| unsafe { *runs })
    }

    /// Waits until what is pending or runs has ended.
    fn flush(&self) {
        if let FlushTarget::Until(target) = self.word.flush_target() {
            self.wait_until(target);
        }
    }

    /// Takes back the pending instance, wherever it is.
    fn cancel(&self) -> bool {
        loop {
            let word = self.word.read();
            if !word.is_pending() {
                return false;
            }
            if word.is_handed() && self.word.take_back() || self.queued.swap(0, Ordering::AcqRel) == 1 {
                // The place is the canceller's until the next step.
                self.read_place();
                if self.word.cancel().wake {
                    wake_upper(self.word.sleep_word());
                }
                return true;
            }
            thread::yield_now();
        }
    }

    fn wait_until(&self, target: u32) {
        while let Some(ended) = self.word.announce_waiter(target) {
            sleep_upper(self.word.sleep_word(), ended);
        }
    }
}

#[test]
fn the_pending_run_sees_what_a_refused_submission_stored() {
    check(|| {
        let shared = Arc::new((WorkCell::new(WorkWord::CLAIMED), AtomicU32::new(0)));
        let submitter = thread::spawn({
            let shared = shared.clone();
            move || {
                shared.1.store(1, Ordering::Relaxed);
                shared.0.submit()
            }
        });
        shared.0.start();
        let seen = shared.1.load(Ordering::Relaxed);
        let _ = shared.0.finish();
        if submitter.join().unwrap() == Submit::AlreadyPending {
            assert_eq!(seen, 1, "a refused submission's store is seen by the pending run");
        }
    });
}

#[test]
fn each_claim_is_one_run() {
    check(|| {
        let work = Work::queued();
        let submitters = [1, 2].map(|place| {
            let work = work.clone();
            thread::spawn(move || work.submit(place))
        });
        work.serve();
        work.serve();
        let queued = submitters.map(|submitter| u32::from(submitter.join().unwrap()));
        while work.serve() {}
        assert_eq!(work.runs(), 1 + queued[0] + queued[1]);
    });
}

#[test]
fn runs_of_two_workers_exclude_each_other() {
    check(|| {
        let work = Work::queued();
        let submitter = thread::spawn({
            let work = work.clone();
            move || u32::from(work.submit(1))
        });
        let worker = thread::spawn({
            let work = work.clone();
            move || {
                work.serve();
            }
        });
        work.serve();
        let queued = submitter.join().unwrap();
        worker.join().unwrap();
        while work.serve() {}
        assert_eq!(work.runs(), 1 + queued);
    });
}

#[test]
fn a_flush_returns_when_its_instance_has_ended() {
    check(|| {
        let work = Work::queued();
        let submitter = thread::spawn({
            let work = work.clone();
            move || {
                work.submit(1);
                while work.serve() {}
            }
        });
        let worker = thread::spawn({
            let work = work.clone();
            move || while work.serve() {}
        });
        // The first instance, or the second behind it, or the second alone.
        work.flush();
        submitter.join().unwrap();
        worker.join().unwrap();
    });
}

#[test]
fn a_flush_sees_the_work_of_its_instance() {
    check(|| {
        let work = Work::queued();
        let worker = thread::spawn({
            let work = work.clone();
            move || work.serve()
        });
        work.flush();
        assert_eq!(work.runs(), 1);
        worker.join().unwrap();
    });
}

#[test]
fn a_cancel_releases_the_waiters() {
    check(|| {
        let work = Work::queued();
        let canceller = thread::spawn({
            let work = work.clone();
            move || {
                work.queued.swap(0, Ordering::AcqRel);
                if work.word.cancel().wake {
                    wake_upper(work.word.sleep_word());
                }
                work.submit(1)
            }
        });
        work.wait_until(1);
        assert!(canceller.join().unwrap(), "a cancelled item can be queued again");
    });
}

#[test]
fn the_next_instance_is_taken_back_or_runs() {
    check(|| {
        let work = Work::queued();
        let submitter = thread::spawn({
            let work = work.clone();
            move || {
                let queued = u32::from(work.submit(1));
                queued.wrapping_sub(u32::from(work.cancel()))
            }
        });
        work.serve();
        let left = submitter.join().unwrap();
        while work.serve() {}
        assert_eq!(work.runs(), 1u32.wrapping_add(left));
        assert!(!work.word.read().is_pending());
    });
}

#[test]
fn nothing_runs_after_a_disable_a_cancel_and_a_wait() {
    check(|| {
        let work = Work::queued();
        let worker = thread::spawn({
            let work = work.clone();
            // Queues itself, and would not end.
            move || {
                for _ in 0..2 {
                    work.serve_with(|| {
                        work.submit(1);
                    });
                }
            }
        });
        if !mutant("work-cancel-without-disable") {
            assert!(work.word.disable());
        }
        work.cancel();
        if let Some(target) = work.word.read().running_target() {
            work.wait_until(target);
        }
        // A race with a run would be seen by the model.
        assert!(work.runs() <= 2);
        let word = work.word.read();
        assert!(!word.is_pending() && !word.is_running());
        worker.join().unwrap();
    });
}

const fn site(function: &'static str, operation: &'static str, effect: &'static str) -> Broken {
    Broken::Site { file: "work_cell.rs", function, operation, effect }
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        id: "work-refusal-by-load",
        broken: site("submit", "compare_exchange", "look"),
        what: "a refusal does not write",
        test: "the_pending_run_sees_what_a_refused_submission_stored",
    },
    Mutant {
        id: "work-submit-without-release",
        broken: site("submit", "compare_exchange", "acquire"),
        what: "a refusal does not publish",
        test: "the_pending_run_sees_what_a_refused_submission_stored",
    },
    Mutant {
        id: "work-start-relaxed",
        broken: site("start", "compare_exchange", "relaxed"),
        what: "the start does not acquire",
        test: "the_pending_run_sees_what_a_refused_submission_stored",
    },
    Mutant {
        id: "work-start-without-release",
        broken: site("start", "compare_exchange", "acquire"),
        what: "the next claimer may write the place while it is read",
        test: "each_claim_is_one_run",
    },
    Mutant {
        id: "work-submit-without-acquire",
        broken: site("submit", "compare_exchange", "release"),
        what: "a claim does not see that the place is free",
        test: "each_claim_is_one_run",
    },
    Mutant {
        id: "work-submit-blind",
        broken: site("submit", "compare_exchange", "store"),
        what: "a claim is a load and a store",
        test: "each_claim_is_one_run",
    },
    Mutant {
        id: "work-hand-over-relaxed",
        broken: site("hand_over", "compare_exchange", "acquire"),
        what: "the finisher does not see where the next instance goes",
        test: "each_claim_is_one_run",
    },
    Mutant {
        id: "work-hand-over-blind",
        broken: site("hand_over", "compare_exchange", "store"),
        what: "a hand-over is stored over the end of the run",
        test: "each_claim_is_one_run",
    },
    Mutant {
        id: "work-finish-without-release",
        broken: site("finish", "compare_exchange", "acquire"),
        what: "the next run does not see this one's work",
        test: "runs_of_two_workers_exclude_each_other",
    },
    Mutant {
        id: "work-read-relaxed",
        broken: site("announce_waiter", "load", "relaxed"),
        what: "a flush that finds its instance ended does not acquire",
        test: "a_flush_sees_the_work_of_its_instance",
    },
    Mutant {
        id: "work-announce-blind",
        broken: site("announce_waiter", "compare_exchange", "store"),
        what: "a waiter's bit is stored over the end of the run",
        test: "a_flush_sees_the_work_of_its_instance",
    },
    Mutant {
        id: "work-take-back-blind",
        broken: site("take_back", "compare_exchange", "store"),
        what: "an instance is taken back by a store over the end of the run",
        test: "the_next_instance_is_taken_back_or_runs",
    },
    Mutant {
        id: "work-disable-blind",
        broken: site("disable", "compare_exchange", "store"),
        what: "a disable is stored over what happened since the look",
        test: "nothing_runs_after_a_disable_a_cancel_and_a_wait",
    },
    Mutant {
        id: "work-cancel-without-disable",
        broken: Broken::Steps,
        what: "a function queues its own item while it is cancelled",
        test: "nothing_runs_after_a_disable_a_cancel_and_a_wait",
    },
    Mutant {
        id: "work-handed-over-ignored",
        broken: Broken::Steps,
        what: "the finisher does not push what was handed over",
        test: "each_claim_is_one_run",
    },
    Mutant {
        id: "work-waiters-forgotten",
        broken: Broken::Steps,
        what: "the finisher does not wake",
        test: "a_flush_returns_when_its_instance_has_ended",
    },
    Mutant {
        id: "work-place-after-start",
        broken: Broken::Steps,
        what: "the place is read after PENDING has been given up",
        test: "each_claim_is_one_run",
    },
];

#[test]
fn broken_variants_are_caught() {
    all_are_caught(env!("CARGO_MANIFEST_DIR"), MUTANTS);
}
