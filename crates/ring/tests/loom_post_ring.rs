//! The completion ring: nothing is lost or held back, wherever a poster stops; order is kept; closing loses nothing.
#![cfg(cmwq_loom)]

use cmwq_core::completion::Owed;
use cmwq_ring::model::{Broken, Mutant, Tokens, all_are_caught, check, check_less, mutant};
use cmwq_ring::{Bell, Chain, Link, PostRing, Rester, Urgency};
use loom::cell::UnsafeCell;
use loom::thread;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

/// Who posted it, and as its how manyeth.
type Label = (usize, usize);

#[repr(align(16))]
struct Node {
    below: UnsafeCell<Option<NonNull<Node>>>,
    label: UnsafeCell<Label>,
}

// SAFETY: one field; the model finds accesses by two threads.
unsafe impl Link for Node {
    unsafe fn below(this: NonNull<Self>) -> Option<NonNull<Self>> {
        // SAFETY: valid, says the caller.
        let node = unsafe { this.as_ref() };
        // SAFETY: the model checks it.
        node.below.with(|below| unsafe { *below })
    }

    unsafe fn set_below(this: NonNull<Self>, below: Option<NonNull<Self>>) {
        // SAFETY: valid, says the caller.
        let node = unsafe { this.as_ref() };
        // SAFETY: the model checks it.
        node.below.with_mut(|link| unsafe { *link = below });
    }
}

impl Node {
    fn new(label: Label) -> NonNull<Node> {
        let node = Box::new(Node { below: UnsafeCell::new(None), label: UnsafeCell::new((0, 0)) });
        // SAFETY: the model checks it.
        node.label.with_mut(|place| unsafe { *place = label });
        NonNull::from(Box::leak(node))
    }

    fn open(node: NonNull<Node>) -> (Label, Option<NonNull<Node>>) {
        // SAFETY: taken, or given back.
        let below = unsafe { Node::below(node) };
        // SAFETY: as above, and made by `new`.
        let node = unsafe { Box::from_raw(node.as_ptr()) };
        // SAFETY: the model checks it.
        (node.label.with(|label| unsafe { *label }), below)
    }
}

/// Where a poster stops.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    Never,
    AfterPush,
    AfterRead,
    AfterBell,
}

struct Desk(PostRing<Node, Tokens>);

impl Desk {
    fn new() -> Arc<Desk> {
        Arc::new(Desk(PostRing::new(Tokens::new())))
    }

    /// Answers whether it was accepted.
    fn post(&self, label: Label, urgency: Urgency, stop: Stop) -> bool {
        // SAFETY: the taker frees it.
        let head = match unsafe { self.0.put(Chain::one(Node::new(label)), urgency) } {
            Ok(head) => head,
            Err(chain) => {
                assert_eq!(Node::open(chain.newest()).0, label, "what is refused comes back");
                return false;
            }
        };
        if stop == Stop::AfterPush {
            return true;
        }
        let Owed::Wake(parked) = self.0.owed(head) else { return true };
        if mutant("ring-marked-before-bell") {
            self.0.mark(parked);
        }
        if stop == Stop::AfterRead {
            return true;
        }
        self.0.bell().ring(Rester::Thread);
        if stop != Stop::AfterBell {
            self.0.mark(parked);
        }
        true
    }

    fn take(&self, got: &mut Vec<Label>) -> bool {
        let taken = self.0.take();
        let mut at = taken.nodes.map(|(oldest, _)| oldest);
        let before = got.len();
        while let Some(node) = at {
            let (label, newer) = Node::open(node);
            got.push(label);
            at = newer;
        }
        assert_eq!(got.len() - before, taken.count);
        taken.is_closed
    }

    /// Takes `count` messages in all, resting for as many as are missing.
    fn serve(&self, count: usize, left: Option<Duration>) -> Vec<Label> {
        let mut got = Vec::new();
        loop {
            let is_closed = self.take(&mut got);
            if got.len() == count || is_closed {
                return got;
            }
            self.0.rest((count - got.len()) as u32, left);
            if left.is_some() {
                thread::yield_now();
            }
        }
    }
}

fn assert_order(got: &[Label], counts: [usize; 2]) {
    for poster in [0, 1] {
        let mine: Vec<usize> = got.iter().filter(|(of, _)| *of == poster).map(|(_, nth)| *nth).collect();
        assert_eq!(mine, Vec::from_iter(0..counts[poster]), "each once, in order");
    }
}

fn posters(counts: [usize; 2], urgency: Urgency) {
    let desk = Desk::new();
    let threads = [0, 1].map(|poster| {
        let desk = desk.clone();
        thread::spawn(move || {
            for nth in 0..counts[poster] {
                assert!(desk.post((poster, nth), urgency, Stop::Never));
            }
        })
    });
    let got = desk.serve(counts[0] + counts[1], None);
    assert_order(&got, counts);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn nothing_is_lost() {
    check(|| posters([1, 1], Urgency::Forced));
    check_less(1, || posters([2, 1], Urgency::Forced));
}

#[test]
fn lazy_posts_wake_together() {
    check(|| posters([1, 1], Urgency::Lazy));
    check_less(1, || posters([2, 1], Urgency::Lazy));
}

/// One poster stops for ever, with a message in the ring; the next post is handled all the same.
fn stopped(stop: Stop) {
    let desk = Desk::new();
    let posters = [(0, stop), (1, Stop::Never)].map(|(poster, stop)| {
        let desk = desk.clone();
        thread::spawn(move || desk.post((poster, 0), Urgency::Forced, stop))
    });
    let mut got = Vec::new();
    loop {
        desk.take(&mut got);
        if got.contains(&(1, 0)) {
            break;
        }
        desk.0.rest(1, None);
    }
    posters.into_iter().for_each(|poster| assert!(poster.join().unwrap()));
    desk.take(&mut got);
    assert_order(&got, [1, 1]);
}

#[test]
fn a_poster_that_stops_after_its_push_holds_nothing_back() {
    check(|| stopped(Stop::AfterPush));
}

#[test]
fn a_poster_that_stops_after_reading_the_state_holds_nothing_back() {
    check(|| stopped(Stop::AfterRead));
}

#[test]
fn a_poster_that_stops_after_the_write_holds_nothing_back() {
    check(|| stopped(Stop::AfterBell));
}

/// The mark of the first rest comes during the second, whose first poster has stopped after its push: the next post
/// wakes.
#[test]
fn a_late_mark_does_not_silence_the_next_rest() {
    check(|| {
        let desk = Desk::new();
        // The first rest, and a poster that has seen it and rung.
        assert!(desk.0.arm(1, Rester::Thread));
        // SAFETY: taken below.
        let head = unsafe { desk.0.put(Chain::one(Node::new((0, 0))), Urgency::Forced) }.ok().unwrap();
        let Owed::Wake(first) = desk.0.owed(head) else { panic!("parked and due") };
        desk.0.bell().ring(Rester::Thread);
        desk.0.bell().wait(None);
        desk.0.resume();
        let mut got = Vec::new();
        desk.take(&mut got);
        // The second.
        let late = thread::spawn({
            let desk = desk.clone();
            move || desk.0.mark(first)
        });
        let poster = thread::spawn({
            let desk = desk.clone();
            move || desk.post((1, 0), Urgency::Forced, Stop::Never)
        });
        while got.len() < 2 {
            desk.0.rest(1, None);
            desk.take(&mut got);
        }
        late.join().unwrap();
        poster.join().unwrap();
    });
}

#[test]
fn a_deadline_loses_nothing() {
    check_less(1, || {
        let desk = Desk::new();
        let poster = thread::spawn({
            let desk = desk.clone();
            move || desk.post((0, 0), Urgency::Forced, Stop::Never)
        });
        desk.0.rest(1, Some(Duration::from_secs(1)));
        let mut got = Vec::new();
        desk.take(&mut got);
        got.extend(desk.serve(1 - got.len(), None));
        assert_eq!(got, [(0, 0)]);
        poster.join().unwrap();
    });
}

/// What was accepted before the close is received, what was not has come back, and the receiver wakes.
#[test]
fn closing_loses_nothing_and_wakes() {
    check(|| {
        let desk = Desk::new();
        let poster = thread::spawn({
            let desk = desk.clone();
            move || desk.post((0, 0), Urgency::Lazy, Stop::Never)
        });
        let closer = thread::spawn({
            let desk = desk.clone();
            move || desk.0.close()
        });
        let got = desk.serve(5, None);
        let is_accepted = poster.join().unwrap();
        assert_eq!(got.len(), usize::from(is_accepted));
        assert!(!desk.post((1, 0), Urgency::Forced, Stop::Never));
        closer.join().unwrap();
    });
}

const fn site(function: &'static str, operation: &'static str, effect: &'static str) -> Broken {
    Broken::Site { file: "completion/post_ring.rs", function, operation, effect }
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        id: "ring-look-by-reading",
        broken: site("look", "fetch_or", "look"),
        what: "the second look is a load",
        test: "nothing_is_lost",
    },
    Mutant {
        id: "ring-look-without-release",
        broken: site("look", "fetch_or", "acquire"),
        what: "the second look does not publish PARKED",
        test: "nothing_is_lost",
    },
    Mutant {
        id: "ring-put-without-acquire",
        broken: site("put", "compare_exchange", "release"),
        what: "a post may read an older rest word",
        test: "nothing_is_lost",
    },
    Mutant {
        id: "ring-put-without-release",
        broken: site("put", "compare_exchange", "acquire"),
        what: "a post does not publish its node",
        test: "nothing_is_lost",
    },
    Mutant {
        id: "ring-take-without-acquire",
        broken: site("take_newest_first", "fetch_and", "relaxed"),
        what: "a take does not see the nodes",
        test: "nothing_is_lost",
    },
    Mutant {
        id: "ring-take-in-two-steps",
        broken: site("take_newest_first", "fetch_and", "store"),
        what: "a take loses what is posted between its two steps",
        test: "nothing_is_lost",
    },
    Mutant {
        id: "ring-close-in-two-steps",
        broken: site("close", "fetch_or", "store"),
        what: "a close loses what is posted between its two steps",
        test: "closing_loses_nothing_and_wakes",
    },
    Mutant {
        id: "ring-mark-ignores-epoch",
        broken: site("mark", "compare_exchange", "store"),
        what: "a late mark is taken for one of the next rest",
        test: "a_late_mark_does_not_silence_the_next_rest",
    },
    Mutant {
        id: "ring-marked-before-bell",
        broken: Broken::Steps,
        what: "marks the rest, then stops before it rings: a claim",
        test: "a_poster_that_stops_after_reading_the_state_holds_nothing_back",
    },
];

#[test]
fn broken_variants_are_caught() {
    all_are_caught(env!("CARGO_MANIFEST_DIR"), MUTANTS);
}
