//! What a completion ring does when something is refused, gone or too much: nothing is lost, and nothing leaks.

mod support;

use cmwq::completion::{Capacity, PostError, PostRefusal, Receiver, Ring, Waited, ring};
use cmwq_core::completion::HeadWord;
use std::fmt::Debug;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use support::watchdog;

/// The refused value, and that it was refused for this.
fn given_back<T: Debug>(refused: Result<(), PostError<T>>, refusal: PostRefusal) -> T {
    let error = refused.expect_err("it is refused");
    assert_eq!(error.refusal, refusal);
    error.value
}

#[test]
fn a_closed_ring_gives_values_back() {
    let value = Arc::new(7);
    for capacity in [Capacity::Bounded(8), Capacity::Growing(1)] {
        let (ring, mut receiver) = ring(capacity).unwrap();
        let mut poster = ring.poster();
        let reserved = ring.reserve().unwrap();
        ring.post_lazy(Arc::clone(&value)).unwrap();
        ring.close();
        assert!(ring.is_closed());
        let another = || Arc::clone(&value);
        let back = [
            given_back(ring.post(another()), PostRefusal::Closed),
            given_back(ring.post_lazy(another()), PostRefusal::Closed),
            given_back(poster.post(another()), PostRefusal::Closed),
            given_back(poster.post_lazy(another()), PostRefusal::Closed),
            given_back(reserved.post(another()), PostRefusal::Closed),
        ];
        assert!(back.iter().all(|back| Arc::ptr_eq(back, &value)));
        let mut chain = vec![another(), another()];
        assert_eq!(ring.post_chain(&mut chain), Err(PostRefusal::Closed));
        assert_eq!(chain.len(), 2);
        assert_eq!(ring.reserve().unwrap_err(), PostRefusal::Closed);
        assert_eq!(Arc::strong_count(&value), 1 + 1 + back.len() + chain.len(), "no copy is anywhere else");
        assert_eq!(receiver.wait(1, None), Waited::Ready);
        assert_eq!(receiver.by_ref().count(), 1, "what was accepted before the close is there");
        assert_eq!(receiver.take_blocking(), None);
    }
    assert_eq!(Arc::strong_count(&value), 1);
}

/// What one poster keeps: sixteen, of a large ring one in 64, and never more than 64. What is in a receiver's hands is
/// room again 32, or as many of a large ring, at a time.
#[test]
fn who_keeps_room_keeps_a_small_part_of_it() {
    for (capacity, kept, freed) in
        [(100, 16, 32), (1024, 16, 32), (2560, 40, 40), (4096, 64, 64), (10_000, 64, 64)]
    {
        let (ring, mut receiver) = ring(Capacity::Bounded(capacity)).unwrap();
        let mut poster = ring.poster();
        poster.post_lazy(0).unwrap();
        let others = (0..).take_while(|n| ring.post_lazy(*n).is_ok()).count();
        assert_eq!(others, (capacity - kept) as usize, "of {capacity}");
        for _ in 1..freed {
            receiver.try_take().expect("there are more");
            assert_eq!(given_back(ring.post_lazy(0), PostRefusal::Full), 0);
        }
        receiver.try_take().expect("there are more");
        let again = (0..).take_while(|n| ring.post_lazy(*n).is_ok()).count();
        assert_eq!(again, freed, "of {capacity}");
    }
}

#[test]
fn a_full_ring_gives_values_back_and_has_room_again() {
    let value = Arc::new(7);
    let (ring, mut receiver) = ring(Capacity::Bounded(3)).unwrap();
    let another = || Arc::clone(&value);
    for round in 0..3 {
        let mut poster = ring.poster();
        poster.post_lazy(another()).unwrap();
        // A poster keeps what room it has found; of its room another has nothing.
        given_back(ring.post(another()), PostRefusal::Full);
        drop(poster);
        let mut chain = vec![another(), another(), another()];
        assert_eq!(ring.post_chain(&mut chain), Err(PostRefusal::Full), "of three there is room for two");
        assert_eq!(chain.len(), 3);
        chain.pop();
        ring.post_chain(&mut chain).unwrap();
        assert!(Arc::ptr_eq(&given_back(ring.post_lazy(another()), PostRefusal::Full), &value));
        assert_eq!(Arc::strong_count(&value), 4, "round {round}");
        assert_eq!(receiver.by_ref().count(), 3);
    }
    assert_eq!(Arc::strong_count(&value), 1);
}

/// Posts until the ring refuses; what is refused must be the value, and the reason that the receiver is gone or, in
/// between, that the ring is closed.
fn post_until_refused(ring: &Ring<Arc<()>>, value: &Arc<()>) -> u64 {
    let mut poster = ring.poster();
    let mut posted = 0;
    loop {
        let refused = match posted % 3 {
            0 => ring.post(Arc::clone(value)),
            1 => poster.post(Arc::clone(value)),
            _ => poster.post_lazy(Arc::clone(value)),
        };
        match refused {
            Ok(()) => posted += 1,
            Err(PostError { refusal: PostRefusal::Full, .. }) => thread::yield_now(),
            Err(PostError { refusal, value: back }) => {
                assert!(matches!(refusal, PostRefusal::NoReceiver | PostRefusal::Closed), "{refusal}");
                assert!(Arc::ptr_eq(&back, value));
                return posted;
            }
        }
    }
}

#[test]
fn a_receiver_that_is_dropped_while_others_post_leaks_nothing() {
    let _watchdog = watchdog("a_receiver_that_is_dropped_while_others_post_leaks_nothing");
    let value = Arc::new(());
    for round in 0..30 {
        let capacity = if round % 2 == 0 { Capacity::Bounded(64) } else { Capacity::Growing(16) };
        let (ring, mut receiver) = ring(capacity).unwrap();
        let (posted, taken) = thread::scope(|scope| {
            let posters: Vec<_> = (0..4).map(|_| scope.spawn(|| post_until_refused(&ring, &value))).collect();
            let mut taken = 0;
            while taken < 10 * (round + 1) {
                let _ = receiver.wait(4, None);
                // A batch may be left in its hand.
                taken += receiver.by_ref().take(7).count() as u64;
            }
            drop(receiver);
            (posters.into_iter().map(|poster| poster.join().unwrap()).sum::<u64>(), taken)
        });
        let left = Arc::strong_count(&value) as u64 - 1;
        assert_eq!(left, posted - taken, "what was accepted is in the ring, and nothing else is");
        if round % 3 == 0 {
            let heir = Receiver::from(ring.take_over().expect("the receiver is gone"));
            assert_eq!(heir.count() as u64, left);
        }
        drop(ring);
        assert_eq!(Arc::strong_count(&value), 1, "round {round}");
    }
}

/// Calls that it got; panics at each, with a payload that panics when it is dropped.
struct Panics(AtomicUsize);

struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a payload that panics, as the test wants it");
    }
}

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
        std::panic::resume_unwind(Box::new(Bomb));
    }
}

struct Counts(AtomicUsize);

impl Wake for Counts {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_waker_that_panics_leaves_ring_and_posters_as_they_were() {
    let (ring, mut receiver) = ring(Capacity::Bounded(2)).unwrap();
    let (panics, counts) = (Arc::new(Panics(AtomicUsize::new(0))), Arc::new(Counts(AtomicUsize::new(0))));
    let (bad, good) = (Waker::from(Arc::clone(&panics)), Waker::from(Arc::clone(&counts)));
    for round in 0..4 {
        assert_eq!(receiver.poll_next(&mut Context::from_waker(&bad)), Poll::Pending);
        ring.post(round).expect("the message is posted, whatever its waker does");
        assert_eq!(panics.0.load(Ordering::SeqCst), round + 1);
        ring.post(round + 100).expect("so is the next, which calls no waker");
        assert_eq!(panics.0.load(Ordering::SeqCst), round + 1, "a waker is called once");
        given_back(ring.post(7), PostRefusal::Full);
        for expected in [round, round + 100] {
            let next = receiver.poll_next(&mut Context::from_waker(&bad));
            assert_eq!(next, Poll::Ready(Some(expected)));
        }
        assert_eq!(receiver.poll_next(&mut Context::from_waker(&good)), Poll::Pending);
        ring.post(round).unwrap();
        assert_eq!(counts.0.load(Ordering::SeqCst), round + 1, "a good waker is called as ever");
        assert_eq!(receiver.poll_next(&mut Context::from_waker(&good)), Poll::Ready(Some(round)));
    }
    assert_eq!(receiver.poll_next(&mut Context::from_waker(&bad)), Poll::Pending);
    ring.close();
    assert_eq!(panics.0.load(Ordering::SeqCst), 5, "a close is a post, in this too");
    assert_eq!(receiver.poll_next(&mut Context::from_waker(&good)), Poll::Ready(None));
}

fn is_readable(receiver: &Receiver<u32>) -> bool {
    let mut poll = libc::pollfd { fd: receiver.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one descriptor, which is open.
    let count = unsafe { libc::poll(&raw mut poll, 1, 0) };
    count == 1
}

#[test]
fn a_length_that_saturates_is_due_and_loses_nothing() {
    const MOST: u32 = HeadWord::LENGTH_MAX;
    let (ring, mut receiver) = ring(Capacity::Bounded(MOST + 3)).unwrap();
    let mut poster = ring.poster();
    assert_eq!(receiver.arm(u32::MAX), None);
    for value in 1..MOST {
        poster.post_lazy(value).unwrap();
    }
    assert!(!is_readable(&receiver), "one is missing of the most that can be told apart");
    poster.post_lazy(MOST).unwrap();
    assert!(is_readable(&receiver));
    for value in MOST + 1..=MOST + 3 {
        poster.post_lazy(value).unwrap();
        assert_eq!(ring.length(), MOST, "that many, or more");
    }
    receiver.disarm();
    assert!(receiver.by_ref().eq(1..=MOST + 3));
    assert_eq!(receiver.arm(2), None);
    poster.post_lazy(1).unwrap();
    assert!(!is_readable(&receiver), "counting goes on from zero");
    poster.post_lazy(2).unwrap();
    assert!(is_readable(&receiver));
}
