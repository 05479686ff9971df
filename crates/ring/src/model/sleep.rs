//! Sleeping in the model.
//!
//! The kernel promises that a futex wait compares and goes to sleep in one step with regard to wakes of the same
//! word. The model's compare is a read-modify-write followed by no other operation of the model until the thread is
//! listed; a wake touches the word likewise, so that the exploration knows that the two depend on each other. Neither
//! orders anything else: only a thread that has really slept sees what its waker did before the wake. An eventfd's
//! token does order.

use super::{AtomicU32, AtomicU64};
use crate::{Bell, Futex, Rester, Sleep};
use core::sync::atomic::Ordering;
use core::time::Duration;
use loom::thread::{self, Thread, ThreadId};
use std::cell::RefCell;

thread_local! {
    // All threads of one exploration are coroutines of one thread of the system.
    static SLEEPERS: RefCell<Vec<(usize, Thread)>> = const { RefCell::new(Vec::new()) };
    static THREADS: RefCell<Vec<ThreadId>> = const { RefCell::new(Vec::new()) };
}

/// The mark of a word of a lock that inherits priority, for which somebody waits.
const WAITED_FOR: u32 = 1 << 31;

pub(super) fn forget_sleepers() {
    SLEEPERS.with_borrow_mut(Vec::clear);
    THREADS.with_borrow_mut(Vec::clear);
}

fn sleep_on(key: usize) {
    SLEEPERS.with_borrow_mut(|sleepers| sleepers.push((key, thread::current())));
    thread::park();
}

fn take_sleeper(key: usize) -> Option<Thread> {
    SLEEPERS.with_borrow_mut(|sleepers| {
        let at = sleepers.iter().position(|(of, _)| *of == key)?;
        Some(sleepers.remove(at).1)
    })
}

fn wake_on(key: usize, most: usize) {
    for _ in 0..most {
        let Some(sleeper) = take_sleeper(key) else { return };
        sleeper.unpark();
    }
}

/// The number of a thread of this exploration.
fn number_of(thread: ThreadId) -> u32 {
    THREADS.with_borrow_mut(|threads| {
        let at = threads.iter().position(|&known| known == thread).unwrap_or_else(|| {
            threads.push(thread);
            threads.len() - 1
        });
        at as u32 + 1
    })
}

fn key<T>(word: &T) -> usize {
    core::ptr::from_ref(word).addr()
}

/// Futexes of the model. A wait with a time-out ends at once: every moment at which the time-out could pass is a
/// moment at which the thread that waits could be scheduled.
#[derive(Debug)]
pub struct ModelFutex;

impl Futex for ModelFutex {
    fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>) {
        if word.newest() == expected && timeout.is_none() {
            sleep_on(key(word));
        }
    }

    fn wake_one(word: &AtomicU32) {
        word.newest();
        wake_on(key(word), 1);
    }

    fn wake_all(word: &AtomicU32) {
        word.newest();
        wake_on(key(word), usize::MAX);
    }

    fn thread_number() -> u32 {
        number_of(thread::current().id())
    }

    fn lock_inheriting(word: &AtomicU32) -> bool {
        let me = Self::thread_number();
        loop {
            let seen = word.newest();
            let next = if seen == 0 { me } else { seen | WAITED_FOR };
            // Ordering: the kernel's own exchanges order everything.
            if word.compare_exchange(seen, next, Ordering::AcqRel, Ordering::Acquire).is_err() {
                continue;
            }
            if seen == 0 {
                return true;
            }
            sleep_on(key(word));
            if word.newest() & !WAITED_FOR == me {
                return true;
            }
        }
    }

    fn unlock_inheriting(word: &AtomicU32) -> bool {
        let next = take_sleeper(key(word));
        let holder = next.as_ref().map_or(0, |next| number_of(next.id()) | WAITED_FOR);
        // Ordering: as above.
        word.swap(holder, Ordering::AcqRel);
        if let Some(next) = next {
            next.unpark();
        } else {
            // The kernel looks and writes in one step; who has come between the two here tries again.
            wake_on(key(word), usize::MAX);
        }
        true
    }
}

/// Sleeps while the upper half of the word has the value `expected`.
pub fn sleep_upper(word: &AtomicU64, expected: u32) {
    if (word.newest() >> 32) as u32 == expected {
        sleep_on(key(word));
    }
}

/// Wakes everybody who sleeps by [`sleep_upper`].
pub fn wake_upper(word: &AtomicU64) {
    word.newest();
    wake_on(key(word), usize::MAX);
}

/// An eventfd of the model: a count of tokens, all taken by the sleeper that finds some.
#[derive(Debug)]
pub struct Tokens(AtomicU32);

impl Tokens {
    /// No token.
    pub fn new() -> Self {
        Tokens(AtomicU32::new(0))
    }
}

impl Default for Tokens {
    fn default() -> Self {
        Tokens::new()
    }
}

impl Sleep for Tokens {
    fn sleep(&self, _word: &AtomicU32, _parked: u32, timeout: Option<Duration>) {
        if self.0.newest() == 0 {
            if timeout.is_some() {
                return;
            }
            sleep_on(key(&self.0));
        }
        // Ordering: the kernel reads and writes the count of an eventfd under one lock, which orders reader after
        // writer. The protocol needs that: a sleeper that took a token and still saw its word parked would sleep for
        // ever.
        self.0.swap(0, Ordering::AcqRel);
    }

    fn wake(&self, _word: &AtomicU32) {
        // Ordering: as above.
        self.0.fetch_add(1, Ordering::AcqRel);
        wake_on(key(&self.0), 1);
    }
}

impl Bell for Tokens {
    fn ring(&self, _rester: Rester) {
        Sleep::wake(self, &AtomicU32::new(0));
    }

    fn wait(&self, left: Option<Duration>) {
        self.sleep(&AtomicU32::new(0), 0, left);
    }

    fn clear(&self) {
        // Ordering: as in `sleep`.
        self.0.swap(0, Ordering::AcqRel);
    }
}
