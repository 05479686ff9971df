//! The inbox and the sleep of its taker: nothing is lost, order is kept, a push that replaces the mark wakes.
#![cfg(cmwq_loom)]

use cmwq_core::id::{PwqId, Sleeper, WorkerId};
use cmwq_core::pool::Claim;
use cmwq_ring::model::{Broken, ModelFutex, Mutant, Tokens, all_are_caught, check, check_less, mutant};
use cmwq_ring::{FutexSleep, Inbox, Link, Lock, Received, Sleep, WakeCell};
use loom::cell::UnsafeCell;
use loom::thread;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

/// Who submitted it, and as its how manyeth.
type Label = (usize, usize);

struct Item {
    below: UnsafeCell<Option<NonNull<Item>>>,
    label: UnsafeCell<Label>,
}

// SAFETY: one field; the model finds accesses by two threads.
unsafe impl Link for Item {
    unsafe fn below(this: NonNull<Self>) -> Option<NonNull<Self>> {
        // SAFETY: valid, says the caller.
        let item = unsafe { this.as_ref() };
        // SAFETY: the model checks it.
        item.below.with(|below| unsafe { *below })
    }

    unsafe fn set_below(this: NonNull<Self>, below: Option<NonNull<Self>>) {
        // SAFETY: valid, says the caller.
        let item = unsafe { this.as_ref() };
        // SAFETY: the model checks it.
        item.below.with_mut(|link| unsafe { *link = below });
    }
}

const PWQ: PwqId = PwqId(0);
const TAKER: Sleeper = Sleeper::Worker(WorkerId(0));

struct Pool<S> {
    inbox: Inbox<Item>,
    wake: WakeCell<S>,
}

impl<S: Sleep> Pool<S> {
    fn new(sleep: S) -> Arc<Self> {
        Arc::new(Pool { inbox: Inbox::new(TAKER), wake: WakeCell::new(sleep) })
    }

    /// Answers whether a wake-up is owed.
    fn push(&self, label: Label) -> bool {
        self.push_of(PWQ, label)
    }

    fn push_of(&self, pwq: PwqId, label: Label) -> bool {
        let item = Item { below: UnsafeCell::new(None), label: UnsafeCell::new((0, 0)) };
        // SAFETY: the model checks it.
        item.label.with_mut(|place| unsafe { *place = label });
        // SAFETY: the taker frees it.
        unsafe { self.inbox.push(NonNull::from(Box::leak(Box::new(item))), pwq) }.is_some()
    }

    fn submit(&self, label: Label) {
        if self.push(label) {
            self.wake.wake(true);
        }
    }

    fn take(&self, got: &mut Vec<Label>) {
        let Received::Items(first) = self.inbox.take() else { return };
        let mut at = Some(first);
        while let Some(item) = at {
            // SAFETY: taken.
            at = unsafe { Item::below(item) };
            // SAFETY: taken, and made by `push`.
            let item = unsafe { Box::from_raw(item.as_ptr()) };
            // SAFETY: the model checks it.
            got.push(item.label.with(|label| unsafe { *label }));
        }
    }

    /// Takes `count` items, sleeping by the protocol.
    fn serve(&self, count: usize) -> Vec<Label> {
        let mut got = Vec::new();
        loop {
            self.take(&mut got);
            if got.len() == count {
                return got;
            }
            if !mutant("inbox-announce-late") {
                self.wake.announce();
            }
            let stands = self.inbox.stand_by(TAKER) || mutant("inbox-park-without-look");
            if mutant("inbox-announce-late") {
                self.wake.announce();
            }
            if stands {
                self.wake.park(None, || Duration::ZERO);
            } else {
                self.wake.resume();
            }
        }
    }
}

fn producers<S: Sleep + Send + Sync + 'static>(sleep: S, counts: [usize; 2]) {
    let pool = Pool::new(sleep);
    let threads = [0, 1].map(|producer| {
        let pool = pool.clone();
        thread::spawn(move || (0..counts[producer]).for_each(|nth| pool.submit((producer, nth))))
    });
    let got = pool.serve(counts[0] + counts[1]);
    for producer in [0, 1] {
        let mine: Vec<usize> = got.iter().filter(|(of, _)| *of == producer).map(|(_, nth)| *nth).collect();
        assert_eq!(mine, Vec::from_iter(0..counts[producer]), "each once, in order");
    }
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn nothing_is_lost_by_a_futex() {
    check(|| producers(FutexSleep::<ModelFutex>::default(), [1, 1]));
    check_less(1, || producers(FutexSleep::<ModelFutex>::default(), [2, 1]));
}

#[test]
fn nothing_is_lost_by_an_eventfd() {
    check(|| producers(Tokens::new(), [1, 1]));
}

#[test]
fn one_producer_keeps_its_order() {
    check(|| {
        let pool = Pool::new(Tokens::new());
        let producer = thread::spawn({
            let pool = pool.clone();
            move || (0..3).for_each(|nth| pool.submit((0, nth)))
        });
        assert_eq!(pool.serve(3), [(0, 0), (0, 1), (0, 2)]);
        producer.join().unwrap();
    });
}

/// Two workers and the lock between them. Each leaves the mark to itself; the last one to leave it is woken by the
/// push,
/// and wakes the other when everything has been taken.
struct Crew {
    inbox: Inbox<Item>,
    wakes: [WakeCell<FutexSleep<ModelFutex>>; 2],
    taken: Lock<usize, ModelFutex>,
}

impl Crew {
    fn take(&self) -> usize {
        let Received::Items(item) = self.inbox.take() else { return 0 };
        // SAFETY: taken, made by the test, and alone.
        let item = unsafe { Box::from_raw(item.as_ptr()) };
        // SAFETY: the model checks it.
        assert_eq!(item.label.with(|label| unsafe { *label }), (0, 0));
        1
    }

    fn serve(&self, me: u32) {
        let wake = &self.wakes[me as usize];
        loop {
            self.inbox.has_items();
            let mut taken = self.taken.lock();
            *taken += self.take();
            if *taken == 1 {
                drop(taken);
                self.wakes[1 - me as usize].wake(true);
                return;
            }
            wake.announce();
            let stands = self.inbox.stand_by(Sleeper::Worker(WorkerId(me)));
            drop(taken);
            if stands {
                wake.park(None, || Duration::ZERO);
            } else {
                wake.resume();
            }
        }
    }
}

#[test]
fn a_mark_passes_between_workers() {
    check(|| {
        let wakes = [(); 2].map(|()| WakeCell::new(FutexSleep::default()));
        let crew = Arc::new(Crew { inbox: Inbox::new(TAKER), wakes, taken: Lock::new(0) });
        let other = thread::spawn({
            let crew = crew.clone();
            move || crew.serve(1)
        });
        let producer = thread::spawn({
            let crew = crew.clone();
            move || {
                let item = Item { below: UnsafeCell::new(None), label: UnsafeCell::new((0, 0)) };
                // SAFETY: whoever takes it frees it.
                let owed = unsafe { crew.inbox.push(NonNull::from(Box::leak(Box::new(item))), PWQ) };
                if let Some(Sleeper::Worker(worker)) = owed {
                    crew.wakes[worker.index()].wake(true);
                }
            }
        });
        crew.serve(0);
        other.join().unwrap();
        producer.join().unwrap();
    });
}

/// A leaseholder takes single items without the lock, another worker everything under it, while this many are
/// pushed by
/// each of the producers, the second of which belongs to another pwq.
fn leased(counts: &[usize]) {
    let pool = Pool::new(Tokens::new());
    let taken = |received| if let Received::Items(first) = received { Some(first) } else { None };
    assert!(taken(pool.inbox.take()).is_none() && pool.inbox.lease(PWQ));
    let other = thread::spawn({
        let pool = pool.clone();
        move || taken(pool.inbox.take())
    });
    let producers = counts.iter().zip(0..).map(|(&count, producer)| {
        let pool = pool.clone();
        thread::spawn(move || {
            for nth in 0..count {
                pool.push_of(PwqId(producer), (producer as usize, nth));
            }
        })
    });
    let producers: Vec<_> = producers.collect();
    let mut heads = vec![pool.inbox.take_one(PWQ), pool.inbox.take_one(PWQ)];
    // Back at the lock, where the other is not.
    heads.push(other.join().unwrap());
    heads.push(taken(pool.inbox.take()));
    for producer in producers {
        producer.join().unwrap();
    }
    heads.push(taken(pool.inbox.take()));
    let mut items = Vec::new();
    for (which, head) in heads.into_iter().enumerate() {
        let mut at = head;
        while let Some(item) = at {
            items.push(item);
            // SAFETY: taken. What the leaseholder takes is alone.
            at = if which < 2 { None } else { unsafe { Item::below(item) } };
        }
    }
    items.sort_unstable();
    items.dedup();
    assert_eq!(items.len(), counts.iter().sum::<usize>(), "each item is taken once");
    for item in items {
        // SAFETY: taken once, and made by `push_of`.
        let item = unsafe { Box::from_raw(item.as_ptr()) };
        // SAFETY: the model checks it.
        item.label.with(|_| ());
    }
}

#[test]
fn a_lease_ends_or_takes_one() {
    check(|| leased(&[2]));
    check_less(1, || leased(&[1, 1]));
}

#[test]
fn a_leaseholder_sees_the_item() {
    check(|| {
        let pool = Pool::new(Tokens::new());
        pool.take(&mut Vec::new());
        assert!(pool.inbox.lease(PWQ));
        let producer = thread::spawn({
            let pool = pool.clone();
            move || pool.push((0, 7))
        });
        let mut got = Vec::new();
        if let Some(item) = pool.inbox.take_one(PWQ) {
            // SAFETY: taken, and made by `push`.
            let item = unsafe { Box::from_raw(item.as_ptr()) };
            // SAFETY: the model checks it.
            got.push(item.label.with(|label| unsafe { *label }));
        }
        assert!(!producer.join().unwrap(), "under a lease nobody sleeps");
        pool.take(&mut got);
        assert_eq!(got, [(0, 7)]);
    });
}

/// Where a submitter stops for ever.
#[derive(Clone, Copy)]
enum Stop {
    AfterPush,
    AfterClaim,
}

/// The steps of a submitter that stops, then those of one that comes by and helps.
fn stopped<S: Sleep + Send + Sync + 'static>(sleep: S, stop: Stop) {
    let pool = Pool::new(sleep);
    let submitters = thread::spawn({
        let pool = pool.clone();
        move || {
            if pool.push((0, 0)) && matches!(stop, Stop::AfterClaim) {
                let (Claim::Issue(_) | Claim::Help(_) | Claim::Nothing) = pool.wake.claim();
            }
            pool.push((1, 0));
            pool.wake.wake(!mutant("inbox-second-does-not-help"));
        }
    });
    assert_eq!(pool.serve(2).len(), 2);
    submitters.join().unwrap();
}

#[test]
fn a_stopped_submitter_is_helped() {
    for stop in [Stop::AfterPush, Stop::AfterClaim] {
        check(move || stopped(FutexSleep::<ModelFutex>::default(), stop));
        check(move || stopped(Tokens::new(), stop));
    }
}

const fn site(function: &'static str, operation: &'static str, effect: &'static str) -> Broken {
    Broken::Site { file: "inbox.rs", function, operation, effect }
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        id: "inbox-take-one-without-acquire",
        broken: site("take_one", "compare_exchange", "release"),
        what: "the leaseholder does not see the item",
        test: "a_leaseholder_sees_the_item",
    },
    Mutant {
        id: "inbox-take-one-blind",
        broken: site("take_one", "compare_exchange", "store"),
        what: "the lease is stored over what ended it",
        test: "a_lease_ends_or_takes_one",
    },
    Mutant {
        id: "inbox-stand-by-blind",
        broken: site("stand_by", "compare_exchange", "store"),
        what: "the mark is stored over a list",
        test: "nothing_is_lost_by_a_futex",
    },
    Mutant {
        id: "inbox-stand-by-relaxed",
        broken: site("stand_by", "compare_exchange", "relaxed"),
        what: "the mark does not publish the announcement",
        test: "nothing_is_lost_by_a_futex",
    },
    Mutant {
        id: "inbox-push-without-release",
        broken: site("push", "compare_exchange", "acquire"),
        what: "the push does not publish the item",
        test: "nothing_is_lost_by_an_eventfd",
    },
    Mutant {
        id: "inbox-push-relaxed",
        broken: site("push", "compare_exchange", "relaxed"),
        what: "the push orders nothing",
        test: "nothing_is_lost_by_a_futex",
    },
    Mutant {
        id: "inbox-push-without-acquire",
        broken: site("push", "compare_exchange", "release"),
        what: "the waker does not see the announcement",
        test: "nothing_is_lost_by_an_eventfd",
    },
    Mutant {
        id: "inbox-take-without-acquire",
        broken: site("take", "swap", "release"),
        what: "the taker does not see the item",
        test: "one_producer_keeps_its_order",
    },
    Mutant {
        id: "inbox-park-without-look",
        broken: Broken::Steps,
        what: "parks although the mark could not be left",
        test: "nothing_is_lost_by_an_eventfd",
    },
    Mutant {
        id: "inbox-announce-late",
        broken: Broken::Steps,
        what: "leaves the mark before it announces its sleep",
        test: "nothing_is_lost_by_an_eventfd",
    },
    Mutant {
        id: "inbox-second-does-not-help",
        broken: Broken::Steps,
        what: "a wake-up claimed by a stopped submitter is left to it",
        test: "a_stopped_submitter_is_helped",
    },
];

#[test]
fn broken_variants_are_caught() {
    all_are_caught(env!("CARGO_MANIFEST_DIR"), MUTANTS);
}
