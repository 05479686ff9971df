//! A poster that stops at any of its steps, and for how long it likes, holds back no message of another.
//!
//! Nothing here is left to the scheduler: the steps of the stopped poster are called one by one.

mod support;

use cmwq_core::completion::{HeadWord, Owed, RestWord};
use cmwq_ring::sync::AtomicU32;
use cmwq_ring::{Bell, Chain, Futex, Link, PostRing, Rester, Urgency};
use cmwq_sys::eventfd::EventFd;
use cmwq_sys::futex::LinuxFutex;
use std::cell::UnsafeCell;
use std::fmt;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr::NonNull;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use support::{Gate, gate, pass, watchdog};

/// A receiver that has not been woken after this is held back.
const HELD_BACK: Duration = Duration::from_secs(10);

#[repr(C, align(16))]
#[derive(Debug)]
struct Note {
    below: UnsafeCell<Option<NonNull<Note>>>,
    text: u32,
}

// SAFETY: one field, accessed by nobody else; the alignment is 16.
unsafe impl Link for Note {
    unsafe fn below(this: NonNull<Self>) -> Option<NonNull<Self>> {
        // SAFETY: valid.
        let place = unsafe { this.as_ref() }.below.get();
        // SAFETY: the caller's.
        unsafe { *place }
    }
    unsafe fn set_below(this: NonNull<Self>, below: Option<NonNull<Self>>) {
        // SAFETY: valid.
        let place = unsafe { this.as_ref() }.below.get();
        // SAFETY: the caller's.
        unsafe { *place = below };
    }
}

fn note(text: u32) -> Chain<Note> {
    Chain::one(NonNull::from(Box::leak(Box::new(Note { below: UnsafeCell::new(None), text }))))
}

fn take<S: Sleeps>(notes: &Notes<S>) -> Vec<u32> {
    let mut texts = Vec::new();
    let mut at = notes.take().nodes.map(|(oldest, _)| oldest);
    while let Some(node) = at {
        // SAFETY: taken.
        at = unsafe { Note::below(node) };
        // SAFETY: taken, and made by `note`.
        texts.push(unsafe { Box::from_raw(node.as_ptr()) }.text);
    }
    texts
}

/// How a receiver sleeps.
trait Sleeps: Bell + Send + Sync + 'static {
    fn new() -> Self;
    fn sleep(&self);
}

/// A token and a futex. What the kernel does inside its wake-up is not at issue here, so it will do.
struct FutexBell(AtomicU32);

impl Bell for FutexBell {
    fn ring(&self, _rester: Rester) {
        self.0.store(1, Ordering::SeqCst);
        LinuxFutex::wake_one(&self.0);
    }

    fn wait(&self, left: Option<Duration>) {
        while self.0.swap(0, Ordering::SeqCst) == 0 {
            LinuxFutex::wait(&self.0, 0, left);
        }
    }

    fn clear(&self) {
        self.0.store(0, Ordering::SeqCst);
    }
}

impl Sleeps for FutexBell {
    fn new() -> Self {
        FutexBell(AtomicU32::new(0))
    }

    fn sleep(&self) {
        self.wait(None);
    }
}

/// As the ring itself waits.
impl Sleeps for EventFd {
    fn new() -> Self {
        EventFd::new().expect("a descriptor")
    }

    fn sleep(&self) {
        self.wait(None);
    }
}

/// As an event loop waits for the armed descriptor: it polls, and disarms by clearing.
struct Polled(EventFd);

impl Bell for Polled {
    fn ring(&self, rester: Rester) {
        self.0.ring(rester);
    }

    fn wait(&self, left: Option<Duration>) {
        self.0.wait(left);
    }

    fn clear(&self) {
        self.0.clear();
    }
}

impl Sleeps for Polled {
    fn new() -> Self {
        Polled(<EventFd as Sleeps>::new())
    }

    fn sleep(&self) {
        let mut poll = libc::pollfd { fd: self.0.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one descriptor, which is open.
        while unsafe { libc::poll(&raw mut poll, 1, -1) } != 1 {}
        self.clear();
    }
}

/// What a poster has done when it stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// Nothing that others see.
    BeforePush,
    /// P1.
    Pushed,
    /// P2, and whatever else comes before the wake-up: it is inside the call that is to issue it.
    Ringing,
    /// P3 without P4: the receiver has been woken, and nobody told.
    Rung,
}

const STOPS: [Stop; 4] = [Stop::BeforePush, Stop::Pushed, Stop::Ringing, Stop::Rung];
const URGENCIES: [Urgency; 2] = [Urgency::Lazy, Urgency::Forced];

/// Where the next who rings is to stop, whom it tells, and what it waits for.
type Trap = (Stop, Sender<()>, Receiver<()>);

/// A bell that stops who rings it.
struct Hooked<S> {
    bell: S,
    trap: Mutex<Option<Trap>>,
}

impl<S: Sleeps> Bell for Hooked<S> {
    fn ring(&self, rester: Rester) {
        let Some((stop, reached, gate)) = self.trap.lock().unwrap().take() else {
            return self.bell.ring(rester);
        };
        if stop == Stop::Rung {
            self.bell.ring(rester);
        }
        drop(reached);
        pass(&gate);
        if stop == Stop::Ringing {
            self.bell.ring(rester);
        }
    }

    fn wait(&self, left: Option<Duration>) {
        self.bell.wait(left);
    }

    fn clear(&self) {
        self.bell.clear();
    }
}

type Notes<S> = PostRing<Note, Hooked<S>>;

fn notes<S: Sleeps>() -> Arc<Notes<S>> {
    Arc::new(Notes::new(Hooked { bell: S::new(), trap: Mutex::new(None) }))
}

/// A poster that has stopped.
enum Stopped {
    BeforePush(Chain<Note>, Urgency),
    Pushed(HeadWord),
    /// In the bell; its post was due.
    AtBell(Gate, JoinHandle<()>),
    /// Its post was not due, and it has ended.
    Ended,
}

fn put<S: Sleeps>(notes: &Notes<S>, chain: Chain<Note>, urgency: Urgency) -> HeadWord {
    // SAFETY: made by `note`; who takes it frees it.
    unsafe { notes.put(chain, urgency) }.expect("the ring is open")
}

impl Stopped {
    /// Posts as far as `stop`. Answers the head that its push made, too.
    fn at<S: Sleeps>(stop: Stop, notes: &Arc<Notes<S>>, urgency: Urgency, need: u32) -> (Stopped, HeadWord) {
        if stop == Stop::BeforePush {
            return (Stopped::BeforePush(note(1), urgency), HeadWord::default());
        }
        let head = put(notes, note(1), urgency);
        if stop == Stop::Pushed {
            return (Stopped::Pushed(head), head);
        }
        if !head.is_due(need) {
            notes.settle(head);
            return (Stopped::Ended, head);
        }
        let ((open, closed), (reached, is_there)) = (gate(), channel());
        *notes.bell().trap.lock().unwrap() = Some((stop, reached, closed));
        let notes = Arc::clone(notes);
        let poster = thread::spawn(move || notes.settle(head));
        pass(&is_there);
        (Stopped::AtBell(open, poster), head)
    }

    /// Does what is left, however late. Answers whether it may have rung now.
    fn go_on<S: Sleeps>(self, stop: Stop, notes: &Notes<S>, need: u32) -> bool {
        match self {
            Stopped::BeforePush(chain, urgency) => {
                let head = put(notes, chain, urgency);
                notes.settle(head);
                head.is_due(need)
            }
            Stopped::Pushed(head) => {
                notes.settle(head);
                head.is_due(need)
            }
            Stopped::AtBell(gate, poster) => {
                gate.open();
                poster.join().unwrap();
                stop == Stop::Ringing
            }
            Stopped::Ended => false,
        }
    }
}

/// A receiver in a thread of its own, which rests once for each need it is sent.
struct Resting {
    needs: Sender<u32>,
    /// Whether it was armed.
    armed: Receiver<bool>,
    /// What it has taken after its rest.
    woken: Receiver<Vec<u32>>,
}

impl Resting {
    fn new<S: Sleeps>(notes: &Arc<Notes<S>>) -> Resting {
        let ((needs, wanted), (says, armed), (takes, woken)) = (channel(), channel(), channel());
        let notes = Arc::clone(notes);
        thread::spawn(move || {
            for need in wanted {
                let is_armed = notes.arm(need, Rester::Thread);
                let _ = says.send(is_armed);
                if is_armed {
                    notes.bell().bell.sleep();
                    notes.resume();
                }
                let _ = takes.send(take(&notes));
            }
        });
        Resting { needs, armed, woken }
    }

    /// Lets it rest; answers whether it does.
    fn arm(&self, need: u32) -> bool {
        self.needs.send(need).expect("the receiver lives");
        self.armed.recv_timeout(HELD_BACK).expect("arming waits for nobody")
    }

    fn taken(&self, case: &dyn fmt::Debug) -> Vec<u32> {
        self.woken.recv_timeout(HELD_BACK).unwrap_or_else(|_| panic!("held back: {case:?}"))
    }
}

/// Posts 2, 3 and so on to a receiver that rests, until one is due. Answers which was.
fn post_until_due<S: Sleeps>(notes: &Notes<S>, need: u32, urgency: Urgency) -> u32 {
    for text in 2..=1 + need {
        let head = put(notes, note(text), urgency);
        if is_due(head, need) {
            notes.settle(head);
            return text;
        }
        assert_eq!(notes.owed(head), Owed::Nothing, "{} of {need}: the receiver sleeps on", head.length());
    }
    unreachable!("as many posts as are needed are due");
}

/// By the promise, not by the code under test.
fn is_due(head: HeadWord, need: u32) -> bool {
    head.is_forced() || head.length() >= need
}

/// The low poster is stopped; the high one posts, and the receiver is awake. Then the low one goes on, during another
/// rest, and the receiver can be woken from that too.
fn stopped<S: Sleeps>(need: u32, low: Urgency, high: Urgency, stop: Stop) {
    let case = (need, low, high, stop);
    let notes = notes::<S>();
    let receiver = Resting::new(&notes);
    assert!(receiver.arm(need), "{case:?}: nothing is there");
    let (low, head) = Stopped::at(stop, &notes, low, need);
    let mut first = if stop == Stop::BeforePush { 2 } else { 1 };
    if stop == Stop::Rung && is_due(head, need) {
        // The first rest is over; the next one must not be taken for it.
        assert_eq!(receiver.taken(&case), [1]);
        assert!(receiver.arm(need), "{case:?}");
        first = 2;
    }
    let last = post_until_due(&notes, need, high);
    let got = receiver.taken(&case);
    assert!(got.iter().copied().eq(first..=last), "{case:?}: {got:?}");

    assert!(receiver.arm(need), "{case:?}");
    let mut expected = if stop == Stop::BeforePush { vec![1] } else { Vec::new() };
    if low.go_on(stop, &notes, need) {
        assert_eq!(receiver.taken(&case), expected, "a wake-up that comes late ends a rest early");
        expected.clear();
        assert!(receiver.arm(need), "{case:?}");
    }
    notes.settle(put(&notes, note(9), Urgency::Forced));
    expected.push(9);
    assert_eq!(receiver.taken(&case), expected, "{case:?}");
}

fn each_stop<S: Sleeps>() {
    for need in 1..=3 {
        for (low, high) in URGENCIES.iter().flat_map(|low| URGENCIES.map(|high| (*low, high))) {
            for stop in STOPS {
                stopped::<S>(need, low, high, stop);
            }
        }
    }
}

#[test]
fn a_stopped_poster_holds_nothing_back_from_a_receiver_on_an_eventfd() {
    let _watchdog = watchdog("a_stopped_poster_holds_nothing_back_from_a_receiver_on_an_eventfd");
    each_stop::<EventFd>();
}

#[test]
fn a_stopped_poster_holds_nothing_back_from_an_event_loop() {
    let _watchdog = watchdog("a_stopped_poster_holds_nothing_back_from_an_event_loop");
    each_stop::<Polled>();
}

#[test]
fn a_stopped_poster_holds_nothing_back_from_a_receiver_on_a_futex() {
    let _watchdog = watchdog("a_stopped_poster_holds_nothing_back_from_a_receiver_on_a_futex");
    each_stop::<FutexBell>();
}

/// What has been posted before a receiver rests wakes nobody: the receiver has to find it.
#[test]
fn who_arms_looks_again() {
    let _watchdog = watchdog("who_arms_looks_again");
    for need in 1..=3 {
        for urgency in URGENCIES {
            for posted in 1..=need {
                let notes = notes::<EventFd>();
                let receiver = Resting::new(&notes);
                let heads: Vec<HeadWord> =
                    (1..=posted).map(|text| put(&notes, note(text), urgency)).collect();
                heads.iter().for_each(|head| assert_eq!(notes.owed(*head), Owed::Nothing, "it is awake"));
                let is_due = is_due(heads[posted as usize - 1], need);
                let case = (need, urgency, posted);
                assert_eq!(receiver.arm(need), !is_due, "{case:?}");
                let mut last = posted;
                while !is_due && last < need {
                    last += 1;
                    notes.settle(put(&notes, note(last), urgency));
                }
                assert!(receiver.taken(&case).into_iter().eq(1..=last), "{case:?}");
            }
        }
    }
}

/// A poster that has read an earlier rest and woken it marks that one, or nothing.
#[test]
fn a_late_mark_does_not_reach_another_rest() {
    let notes = notes::<EventFd>();
    let forced = put(&notes, note(1), Urgency::Forced);
    take(&notes);
    let mut earlier: Option<RestWord> = None;
    for _ in 0..3 {
        assert!(notes.arm(1, Rester::Thread));
        let Owed::Wake(parked) = notes.owed(forced) else { panic!("it rests") };
        if let Some(earlier) = earlier {
            notes.mark(earlier);
            assert_eq!(notes.owed(forced), Owed::Wake(parked), "no wake-up of this rest has returned");
        }
        notes.mark(parked);
        assert_eq!(notes.owed(forced), Owed::Nothing, "its own mark is one");
        earlier = Some(parked);
        notes.resume();
    }
}
