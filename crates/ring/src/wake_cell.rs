//! The wake cell: how one thread sleeps until another wants it awake.
//!
//! One protocol ([`WakeWord`]) over any way of sleeping: a futex on the word itself, or an eventfd. The owner
//! announces
//! its sleep, looks once more at whatever it waits for, and parks; a waker claims the wake-up, issues it, and marks
//! it
//! issued. A waker may be stopped between any two of these steps; whoever else depends on the owner sees the claim
//! and
//! issues the wake-up as well.

use crate::Futex;
use crate::sync::{AtomicU32, Ordering};
use cmwq_core::pool::{Claim, WakeWord};
use cmwq_core::step::Step;
use core::marker::PhantomData;
use core::time::Duration;

/// A way to sleep and to be woken. A wake-up that comes before the sleep makes the sleep return at once, either
/// because
/// the word has changed (futex) or because a token is left (eventfd). A sleep that took a token comes after the
/// wake-up
/// that left it: what the waker did before is seen.
pub trait Sleep {
    /// Sleeps while the word equals `parked`, at most `timeout`. May return early for no reason. Blocks.
    fn sleep(&self, word: &AtomicU32, parked: u32, timeout: Option<Duration>);
    /// Ends the sleep, or the next one. May be called by several threads for one sleep. Never blocks.
    fn wake(&self, word: &AtomicU32);
}

/// Sleeping by a futex on the wake word.
///
/// On kernels that can preempt inside a system call a preempted waker can hide the sleeper from later wakers; where
/// that must not happen use an eventfd.
#[derive(Debug)]
pub struct FutexSleep<F>(PhantomData<fn() -> F>);

impl<F> Default for FutexSleep<F> {
    fn default() -> Self {
        FutexSleep(PhantomData)
    }
}

impl<F: Futex> Sleep for FutexSleep<F> {
    fn sleep(&self, word: &AtomicU32, parked: u32, timeout: Option<Duration>) {
        F::wait(word, parked, timeout);
    }
    fn wake(&self, word: &AtomicU32) {
        F::wake_one(word);
    }
}

/// How a park ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wakened {
    /// Somebody claimed a wake-up.
    Called,
    /// The time-out passed and nobody had.
    TimedOut,
}

/// What a wake did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waked {
    /// The owner was awake or its wake-up had been issued.
    Nothing,
    /// This call claimed and issued the wake-up.
    Issued,
    /// This call issued a wake-up that another waker had claimed.
    Helped,
}

/// One sleeper's cell. The cell outlives every waker: it lies in memory that is not freed while a waker may hold it.
#[derive(Debug)]
pub struct WakeCell<S> {
    word: AtomicU32,
    sleep: S,
}

impl<S: Sleep> WakeCell<S> {
    /// A cell of an awake owner.
    pub fn new(sleep: S) -> Self {
        WakeCell { word: AtomicU32::new(WakeWord::RUN.bits()), sleep }
    }

    #[cfg_attr(cmwq_loom, track_caller)]
    fn update<A>(&self, transition: impl Fn(WakeWord) -> Step<WakeWord, A>) -> A {
        // Ordering: acquire, for transitions that keep: a helper that acts on a claim it saw.
        let mut bits = self.word.load(Ordering::Acquire);
        loop {
            match transition(WakeWord::from_bits(bits)) {
                Step::Keep(answer) => return answer,
                Step::Write(next, answer) => {
                    // Ordering: the owner's announce releases what it did before, the waker's claim acquires it and
                    // releases its own, and the owner's resume acquires that. Weaker: the owner wakes and does not
                    // see why.
                    match self.word.compare_exchange_weak(
                        bits,
                        next.bits(),
                        Ordering::AcqRel,
                        Ordering::Acquire,
                    ) {
                        Ok(_) => return answer,
                        Err(seen) => bits = seen,
                    }
                }
            }
        }
    }

    /// Owner: announces a sleep. Must precede whatever tells wakers about it. Never blocks.
    pub fn announce(&self) {
        self.update(WakeWord::announce);
    }

    /// Owner: takes the announcement back, with any wake-up that came meanwhile. Never blocks.
    pub fn resume(&self) {
        self.update(WakeWord::resume);
    }

    /// Whether the owner has announced a sleep and nobody has claimed its wake-up.
    pub fn is_parked(&self) -> bool {
        // Ordering: acquire pairs with `announce`.
        WakeWord::from_bits(self.word.load(Ordering::Acquire)).is_parked()
    }

    /// Owner, after [`WakeCell::announce`]: sleeps until a wake-up is claimed or the time-out has passed. Blocks.
    pub fn park(&self, timeout: Option<Duration>, now: impl Fn() -> Duration) -> Wakened {
        let until = timeout.map(|t| now() + t);
        loop {
            // Ordering: acquire pairs with the waker's claim.
            let word = WakeWord::from_bits(self.word.load(Ordering::Acquire));
            if !word.is_parked() {
                self.resume();
                return Wakened::Called;
            }
            let left = until.map(|u| u.saturating_sub(now()));
            if left == Some(Duration::ZERO) {
                let called = self.update(|w| {
                    let Step::Write(next, ()) = w.resume() else { unreachable!("a resume always writes") };
                    Step::Write(next, w.is_woken())
                });
                return if called { Wakened::Called } else { Wakened::TimedOut };
            }
            self.sleep.sleep(&self.word, word.bits(), left);
        }
    }

    /// Waker: sees to it that the owner wakes. With `help`, also issues a wake-up that another waker has claimed and
    /// perhaps not issued; without, relies on that waker. Never blocks.
    ///
    /// A wake-up that was owed already is not written again: what the caller did before must reach the owner by a
    /// word of its own, which both read and write in one step.
    pub fn wake(&self, help: bool) -> Waked {
        self.wake_stopping(help, || ())
    }

    /// The same, with a place in which a test can stop the thread that has claimed the wake-up, before it issues it.
    #[inline]
    pub fn wake_stopping(&self, help: bool, stop: impl FnOnce()) -> Waked {
        match self.claim() {
            Claim::Nothing => Waked::Nothing,
            Claim::Issue(claimed) => {
                stop();
                self.issue(claimed);
                Waked::Issued
            }
            Claim::Help(claimed) if help => {
                self.issue(claimed);
                Waked::Helped
            }
            Claim::Help(_) => Waked::Nothing,
        }
    }

    /// The first half of [`WakeCell::wake`]: whoever gets [`Claim::Issue`] owes [`WakeCell::issue`]. Never blocks.
    pub fn claim(&self) -> Claim {
        self.update(WakeWord::claim)
    }

    /// The second half: issues the wake-up, then marks it issued, in this order. Never blocks.
    pub fn issue(&self, claimed: WakeWord) {
        self.sleep.wake(&self.word);
        self.update(|w| w.issued(claimed));
    }
}
