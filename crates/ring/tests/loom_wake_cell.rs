//! The wake cell: no wake-up is lost, by either back-end, wherever a waker stops.
#![cfg(cmwq_loom)]

use cmwq_core::pool::Claim;
use cmwq_ring::model::{Broken, ModelFutex, Mutant, Tokens, all_are_caught, check, check_less, mutant};
use cmwq_ring::sync::{AtomicU32, Ordering};
use cmwq_ring::{FutexSleep, Sleep, WakeCell, Waked, Wakened};
use loom::cell::UnsafeCell;
use loom::thread;
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

type ByFutex = FutexSleep<ModelFutex>;

/// A sleeper that waits for bits of a word.
struct Desk<S> {
    wake: WakeCell<S>,
    posted: AtomicU32,
}

impl<S: Sleep> Desk<S> {
    fn new(sleep: S) -> Arc<Self> {
        Arc::new(Desk { wake: WakeCell::new(sleep), posted: AtomicU32::new(0) })
    }

    fn post(&self, bit: u32) {
        self.posted.fetch_or(bit, Ordering::AcqRel);
    }

    fn serve(&self, all: u32) {
        let mut seen = 0;
        loop {
            self.wake.announce();
            seen |= self.posted.swap(0, Ordering::AcqRel);
            if seen == all {
                return self.wake.resume();
            }
            self.wake.park(None, || Duration::ZERO);
        }
    }
}

fn two_wakers<S: Sleep + Send + Sync + 'static>(sleep: S, help: bool) {
    let desk = Desk::new(sleep);
    let wakers = [1, 2].map(|bit| {
        let desk = desk.clone();
        thread::spawn(move || {
            desk.post(bit);
            desk.wake.wake(help);
        })
    });
    desk.serve(3);
    for waker in wakers {
        waker.join().unwrap();
    }
}

#[test]
fn two_wakers_lose_nothing() {
    check(|| two_wakers(ByFutex::default(), true));
    check(|| two_wakers(Tokens::new(), true));
}

/// The claimer is not stopped, so nobody needs to help.
#[test]
fn without_help_nothing_is_lost_either() {
    check(|| two_wakers(ByFutex::default(), false));
    check(|| two_wakers(Tokens::new(), false));
}

fn sees_why<S: Sleep + Send + Sync + 'static>(sleep: S) {
    let shared = Arc::new((WakeCell::new(sleep), UnsafeCell::new(0)));
    shared.0.announce();
    let waker = thread::spawn({
        let shared = shared.clone();
        move || {
            // SAFETY: the model checks it.
            shared.1.with_mut(|why| unsafe { *why = 7 });
            assert_eq!(shared.0.wake(true), Waked::Issued);
        }
    });
    assert_eq!(shared.0.park(None, || Duration::ZERO), Wakened::Called);
    // SAFETY: the model checks it.
    assert_eq!(shared.1.with(|why| unsafe { *why }), 7);
    waker.join().unwrap();
}

#[test]
fn the_woken_sees_why() {
    check(|| sees_why(ByFutex::default()));
    check(|| sees_why(Tokens::new()));
}

fn time_out<S: Sleep + Send + Sync + 'static>(sleep: S) {
    let desk = Desk::new(sleep);
    desk.wake.announce();
    let waker = thread::spawn({
        let desk = desk.clone();
        move || desk.wake.wake(true)
    });
    let looks = Cell::new(0);
    let now = || Duration::from_secs(looks.replace(looks.get() + 1));
    let ended = desk.wake.park(Some(Duration::from_millis(1500)), now);
    let waked = waker.join().unwrap();
    assert_eq!(ended == Wakened::Called, waked == Waked::Issued, "a claim is answered or was not made");
}

#[test]
fn a_time_out_drops_no_claim() {
    check(|| time_out(ByFutex::default()));
    check(|| time_out(Tokens::new()));
}

thread_local! {
    /// While set, wake-ups do not reach the back-end: their waker has stopped before them.
    static IS_STOPPED: Cell<bool> = const { Cell::new(false) };
}

struct Stoppable<S>(S);

impl<S: Sleep> Sleep for Stoppable<S> {
    fn sleep(&self, word: &AtomicU32, parked: u32, timeout: Option<Duration>) {
        self.0.sleep(word, parked, timeout);
    }
    fn wake(&self, word: &AtomicU32) {
        if !IS_STOPPED.get() {
            self.0.wake(word);
        }
    }
}

/// The steps of a waker that stops between claim and wake-up, then those of one that comes by and helps.
fn stopped<S: Sleep + Send + Sync + 'static>(sleep: S) {
    let desk = Desk::new(Stoppable(sleep));
    let wakers = thread::spawn({
        let desk = desk.clone();
        move || {
            desk.post(1);
            let claim = desk.wake.claim();
            if let Claim::Issue(claimed) = claim
                && mutant("wake-marked-before-issued")
            {
                IS_STOPPED.set(true);
                desk.wake.issue(claimed);
                IS_STOPPED.set(false);
            }
            desk.wake.wake(!mutant("wake-claim-is-not-helped"));
        }
    });
    desk.serve(1);
    wakers.join().unwrap();
}

#[test]
fn a_stopped_waker_is_helped() {
    check(|| stopped(ByFutex::default()));
    check(|| stopped(Tokens::new()));
}

/// A waker of the first sleep marks it issued during the second, whose own claimer has stopped: who comes by still
/// helps.
fn late_mark<S: Sleep + Send + Sync + 'static>(sleep: S) {
    let desk = Desk::new(sleep);
    desk.wake.announce();
    let late = thread::spawn({
        let desk = desk.clone();
        move || {
            if let Claim::Issue(claimed) = desk.wake.claim() {
                desk.wake.issue(claimed);
            }
        }
    });
    let owner = thread::spawn({
        let desk = desk.clone();
        move || {
            desk.wake.resume();
            desk.serve(1);
        }
    });
    let others = thread::spawn(move || {
        desk.post(1);
        let (Claim::Issue(_) | Claim::Help(_) | Claim::Nothing) = desk.wake.claim();
        desk.wake.wake(true);
    });
    for thread in [late, owner, others] {
        thread.join().unwrap();
    }
}

#[test]
fn a_late_mark_does_not_silence_the_next_sleep() {
    check(|| late_mark(ByFutex::default()));
    check_less(1, || late_mark(Tokens::new()));
}

const fn site(function: &'static str, operation: &'static str, effect: &'static str) -> Broken {
    Broken::Site { file: "wake_cell.rs", function, operation, effect }
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        id: "wake-epoch-ignored",
        broken: site("announce", "compare_exchange", "mask=3"),
        what: "sleeps are not told apart",
        test: "a_late_mark_does_not_silence_the_next_sleep",
    },
    Mutant {
        id: "wake-claim-is-not-helped",
        broken: Broken::Steps,
        what: "a claimed wake-up is left to its claimer, who has stopped",
        test: "a_stopped_waker_is_helped",
    },
    Mutant {
        id: "wake-marked-before-issued",
        broken: Broken::Steps,
        what: "marks the wake-up issued, then stops before it is",
        test: "a_stopped_waker_is_helped",
    },
    Mutant {
        id: "wake-time-out-drops-claim",
        broken: site("park", "compare_exchange", "store"),
        what: "a time-out overwrites a claim",
        test: "a_time_out_drops_no_claim",
    },
    Mutant {
        id: "wake-claim-without-release",
        broken: site("claim", "compare_exchange", "acquire"),
        what: "the claim does not publish what it is for",
        test: "the_woken_sees_why",
    },
    Mutant {
        id: "wake-token-orders-nothing",
        broken: Broken::Site {
            file: "model/sleep.rs",
            function: "wake",
            operation: "fetch_add",
            effect: "relaxed",
        },
        what: "an eventfd whose token does not order its reader after its writer",
        test: "two_wakers_lose_nothing",
    },
];

#[test]
fn broken_variants_are_caught() {
    all_are_caught(env!("CARGO_MANIFEST_DIR"), MUTANTS);
}
