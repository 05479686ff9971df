//! Who sleeps, on what and until when, and the thread that lets time pass.

use core::future::poll_fn;
use core::task::{Poll, Waker};
use core::time::Duration;
use shuttle::future::block_on;
use shuttle::rand::{Rng, thread_rng};
use std::cell::RefCell;

struct Sleeper {
    number: u64,
    key: usize,
    until: Option<Duration>,
    waker: Option<Waker>,
}

#[derive(Default)]
struct Sleepers {
    now: Duration,
    /// Numbers given out.
    last: u64,
    /// In the order in which they went to sleep.
    asleep: Vec<Sleeper>,
    /// The time keeper, while it has no sleep to end.
    keeper: Option<Waker>,
    over: bool,
}

thread_local! {
    // All threads of one schedule are coroutines of one thread of the system, which are switched nowhere below.
    static SLEEPERS: RefCell<Sleepers> = RefCell::default();
}

/// No word has this address.
const NO_KEY: usize = 0;

/// Time since the schedule's start.
pub(super) fn now() -> Duration {
    SLEEPERS.with_borrow(|sleepers| sleepers.now)
}

/// Sleeps until woken by this key or until the time has passed.
pub(super) fn sleep_on(key: usize, timeout: Option<Duration>) {
    let (number, keeper) = SLEEPERS.with_borrow_mut(|sleepers| {
        sleepers.last += 1;
        let until = timeout.map(|timeout| sleepers.now.saturating_add(timeout));
        sleepers.asleep.push(Sleeper { number: sleepers.last, key, until, waker: None });
        (sleepers.last, until.and_then(|_| sleepers.keeper.take()))
    });
    keeper.into_iter().for_each(Waker::wake);
    block_on(poll_fn(|context| {
        SLEEPERS.with_borrow_mut(|sleepers| {
            match sleepers.asleep.iter_mut().find(|sleeper| sleeper.number == number) {
                None => Poll::Ready(()),
                Some(sleeper) => {
                    sleeper.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
    }));
}

/// Sleeps until the time has passed.
pub(super) fn sleep(time: Duration) {
    sleep_on(NO_KEY, Some(time));
}

/// Ends the sleep of the first so many that sleep on this key.
pub(super) fn wake(key: usize, most: usize) {
    for _ in 0..most {
        let woken = SLEEPERS.with_borrow_mut(|sleepers| {
            let at = sleepers.asleep.iter().position(|sleeper| sleeper.key == key)?;
            Some(sleepers.asleep.remove(at))
        });
        let Some(sleeper) = woken else { return };
        sleeper.waker.into_iter().for_each(Waker::wake);
    }
}

/// A schedule with time: `body` runs, and while threads sleep with a time-out another thread, which the scheduler
/// chooses when it likes, ends the sleep that ends first. So a time may come before any step of the others or after all
/// of them, but never out of order.
pub fn with_time(body: impl FnOnce()) {
    SLEEPERS.take();
    let keeper = shuttle::thread::spawn(keep_time);
    body();
    let idle = SLEEPERS.with_borrow_mut(|sleepers| {
        sleepers.over = true;
        sleepers.keeper.take()
    });
    idle.into_iter().for_each(Waker::wake);
    let _ = keeper.join();
}

fn keep_time() {
    while !rest() {
        // Mostly soon, sometimes late.
        for _ in 0..1 << thread_rng().gen_range(0..LATE) {
            shuttle::thread::yield_now();
        }
        end_first();
    }
}

/// So often is the longest wait doubled.
const LATE: u32 = 7;

/// Waits until somebody sleeps with a time-out. `true`: the schedule is over.
fn rest() -> bool {
    block_on(poll_fn(|context| {
        SLEEPERS.with_borrow_mut(|sleepers| {
            if sleepers.over || sleepers.asleep.iter().any(|sleeper| sleeper.until.is_some()) {
                return Poll::Ready(sleepers.over);
            }
            sleepers.keeper = Some(context.waker().clone());
            Poll::Pending
        })
    }))
}

/// Ends the sleep that ends first.
fn end_first() {
    let ended = SLEEPERS.with_borrow_mut(|sleepers| {
        let timed = sleepers.asleep.iter().enumerate().filter_map(|(at, sleeper)| Some((sleeper.until?, at)));
        let (until, at) = timed.min()?;
        sleepers.now = sleepers.now.max(until);
        Some(sleepers.asleep.remove(at))
    });
    ended.and_then(|sleeper| sleeper.waker).into_iter().for_each(Waker::wake);
}
