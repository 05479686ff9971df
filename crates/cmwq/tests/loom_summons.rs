//! The manager's summons: whoever asks while the manager looks or goes to sleep is heard.
#![cfg(cmwq_loom)]

#[path = "../src/engine/summons.rs"]
mod summons;

use cmwq_core::time::Tick;
use cmwq_ring::model::{Broken, ModelFutex, Mutant, Tokens, all_are_caught, check, mutant};
use cmwq_ring::{FutexSleep, Sleep, WakeCell};
use loom::thread;
use std::sync::Arc;
use std::time::Duration;
use summons::{NEVER, Plan, Summons};

struct Manager<S> {
    wake: WakeCell<S>,
    plan: Plan,
    pool: Summons,
}

impl<S: Sleep + Send + Sync + 'static> Manager<S> {
    fn new(sleep: S) -> Arc<Self> {
        Arc::new(Manager { wake: WakeCell::new(sleep), plan: Plan::default(), pool: Summons::default() })
    }

    /// The manager's loop, until it has been called, and knows a time, if these are wanted.
    fn run(&self, want_call: bool, want_time: bool) {
        let (mut called, mut due) = (!want_call, NEVER);
        loop {
            if !mutant("summons-announced-late") {
                self.wake.announce();
            }
            if !mutant("summons-plan-begun-late") {
                self.plan.begin();
            }
            called |= self.pool.take_call();
            due = due.min(self.pool.next());
            if mutant("summons-plan-begun-late") {
                self.plan.begin();
            }
            self.plan.settle(due);
            if mutant("summons-announced-late") {
                self.wake.announce();
            }
            if called && (due != NEVER || !want_time) {
                return self.wake.resume();
            }
            // The time does not come meanwhile.
            self.wake.park(None, || Duration::ZERO);
        }
    }

    /// As a submission to a pool without workers does.
    fn call(&self) {
        self.pool.call();
        self.wake.wake(true);
    }

    /// As a worker that leaves a time does.
    fn ask_for(&self, at: Tick, cull: bool) {
        self.pool.note(at, cull);
        if self.plan.is_after(at) {
            self.wake.wake(true);
        }
    }
}

fn one_calls<S: Sleep + Send + Sync + 'static>(sleep: S) {
    let manager = Manager::new(sleep);
    let caller = thread::spawn({
        let manager = manager.clone();
        move || manager.call()
    });
    manager.run(true, false);
    caller.join().unwrap();
}

#[test]
fn a_caller_is_heard() {
    check(|| one_calls(FutexSleep::<ModelFutex>::default()));
    check(|| one_calls(Tokens::new()));
}

fn one_leaves_a_time<S: Sleep + Send + Sync + 'static>(sleep: S) {
    let manager = Manager::new(sleep);
    let worker = thread::spawn({
        let manager = manager.clone();
        move || manager.ask_for(Tick(5), true)
    });
    manager.run(false, true);
    worker.join().unwrap();
    assert!(!manager.pool.take_retry(Tick(9)) && !manager.pool.take_cull(Tick(4)), "nothing is due early");
    assert!(manager.pool.take_cull(Tick(5)) && manager.pool.next() == NEVER, "a time is due once");
}

#[test]
fn a_time_is_noted() {
    check(|| one_leaves_a_time(FutexSleep::<ModelFutex>::default()));
    check(|| one_leaves_a_time(Tokens::new()));
}

#[test]
fn a_call_and_a_time_do_not_hide_each_other() {
    check(|| {
        let manager = Manager::new(FutexSleep::<ModelFutex>::default());
        let caller = thread::spawn({
            let manager = manager.clone();
            move || manager.call()
        });
        let worker = thread::spawn({
            let manager = manager.clone();
            move || manager.ask_for(Tick(5), false)
        });
        manager.run(true, true);
        caller.join().unwrap();
        worker.join().unwrap();
    });
}

const fn site(function: &'static str, operation: &'static str, effect: &'static str) -> Broken {
    Broken::Site { file: "engine/summons.rs", function, operation, effect }
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        id: "summons-call-by-store",
        broken: site("call", "swap", "store"),
        what: "the call is a plain store",
        test: "a_caller_is_heard",
    },
    Mutant {
        id: "summons-call-without-acquire",
        broken: site("call", "swap", "release"),
        what: "the caller does not see the announcement",
        test: "a_caller_is_heard",
    },
    Mutant {
        id: "summons-take-without-release",
        broken: site("take_call", "swap", "acquire"),
        what: "the manager's look does not publish the announcement",
        test: "a_caller_is_heard",
    },
    Mutant {
        id: "summons-plan-by-store",
        broken: site("begin", "swap", "store"),
        what: "the plan is begun by a plain store",
        test: "a_time_is_noted",
    },
    Mutant {
        id: "summons-plan-without-release",
        broken: site("begin", "swap", "acquire"),
        what: "who sees the plan begun does not see the announcement",
        test: "a_time_is_noted",
    },
    Mutant {
        id: "summons-plan-settled-by-store",
        broken: site("settle", "swap", "store"),
        what: "the plan is settled by a plain store, over a worker that left its wake-up to another",
        test: "a_call_and_a_time_do_not_hide_each_other",
    },
    Mutant {
        id: "summons-plan-seen-by-load",
        broken: site("is_after", "fetch_add", "look"),
        what: "the plan is looked at by a plain load",
        test: "a_time_is_noted",
    },
    Mutant {
        id: "summons-announced-late",
        broken: Broken::Steps,
        what: "the manager looks before it announces its sleep",
        test: "a_caller_is_heard",
    },
    Mutant {
        id: "summons-plan-begun-late",
        broken: Broken::Steps,
        what: "the manager collects times before it begins its plan",
        test: "a_time_is_noted",
    },
];

#[test]
fn broken_variants_are_caught() {
    all_are_caught(env!("CARGO_MANIFEST_DIR"), MUTANTS);
}
