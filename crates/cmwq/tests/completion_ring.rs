//! Completion rings: what a post promises, whoever else has stopped.

mod support;

use cmwq::completion::{Capacity, PostRefusal, Receiver, RunEnd, SpawnIntoReason, Waited, ring};
use cmwq::{Engine, JoinError, Submit, Work};
use std::os::fd::{AsFd, AsRawFd};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};
use support::watchdog;

const SECOND: Duration = Duration::from_secs(1);

/// What a stopped poster has taken from the pool is its own; others find room.
#[test]
fn reserved_room_keeps_nobody_from_the_rest() {
    let (ring, mut receiver) = ring(Capacity::Bounded(2)).unwrap();
    let held = ring.reserve().unwrap();
    ring.post(1).unwrap();
    let refused = ring.post(2).unwrap_err();
    assert_eq!((refused.value, refused.refusal), (2, PostRefusal::Full));
    assert_eq!(receiver.try_take(), Some(1));
    ring.post(3).unwrap();
    held.post(4).unwrap();
    assert_eq!(receiver.by_ref().collect::<Vec<_>>(), [3, 4]);
    drop(ring.reserve().unwrap());
    ring.post_chain(&mut vec![5, 6]).unwrap();
    assert_eq!(receiver.by_ref().collect::<Vec<_>>(), [5, 6], "room that was given back is room");
}

#[test]
fn a_chain_is_posted_whole_or_not_at_all() {
    let (ring, mut receiver) = ring(Capacity::Bounded(4)).unwrap();
    let mut values = vec![1, 2, 3];
    ring.post_chain_lazy(&mut values).unwrap();
    assert!(values.is_empty());
    let mut values = vec![4, 5];
    assert_eq!(ring.post_chain(&mut values), Err(PostRefusal::Full));
    assert_eq!(values, [4, 5]);
    assert_eq!(receiver.wait(3, Some(Instant::now())), Waited::Ready);
    assert_eq!(receiver.by_ref().collect::<Vec<_>>(), [1, 2, 3]);
    receiver.close();
    assert_eq!(ring.post_chain(&mut values), Err(PostRefusal::Closed));
    assert_eq!(values, [4, 5], "in their order");
    assert_eq!(ring.post_chain(&mut Vec::new()), Ok(()), "nothing is always accepted");
}

#[test]
fn a_growing_ring_has_room() {
    let (ring, mut receiver) = ring(Capacity::Growing(2)).unwrap();
    for value in 0..100 {
        ring.post_lazy(value).unwrap();
    }
    assert_eq!(ring.length(), 100);
    assert!(receiver.by_ref().eq(0..100));
}

#[test]
fn a_wait_ends_by_count_by_force_by_deadline_and_by_close() {
    let _watchdog = watchdog("a_wait_ends_by_count_by_force_by_deadline_and_by_close");
    let (ring, mut receiver) = ring(Capacity::Bounded(16)).unwrap();
    let soon = || Some(Instant::now() + Duration::from_millis(5));
    ring.post_lazy(1).unwrap();
    assert_eq!(receiver.wait(2, soon()), Waited::TimedOut);
    assert_eq!(receiver.in_hand(), 1, "what is there counts in the next wait");
    ring.post_lazy(2).unwrap();
    assert_eq!(receiver.wait(2, soon()), Waited::Ready);
    assert!(receiver.by_ref().eq([1, 2]));
    ring.post(3).unwrap();
    assert_eq!(receiver.wait(9, None), Waited::Ready, "forced");
    assert_eq!(receiver.try_take(), Some(3));
    let closer = thread::spawn({
        let ring = ring.clone();
        move || {
            ring.post_lazy(4).unwrap();
            ring.close();
        }
    });
    while receiver.wait(9, None) != Waited::Closed {}
    closer.join().unwrap();
    assert_eq!(
        (receiver.take_blocking(), receiver.take_blocking()),
        (Some(4), None),
        "nothing that was queued is lost"
    );
}

#[test]
fn a_receiver_that_dies_is_told_of_and_its_values_can_be_had() {
    let (ring, receiver) = ring(Capacity::Bounded(16)).unwrap();
    for value in 0..4 {
        ring.post(value).unwrap();
    }
    assert!(ring.take_over().is_none(), "there is a receiver");
    let died = thread::spawn(move || {
        let mut receiver = receiver;
        assert_eq!(receiver.try_take(), Some(0));
        std::panic::resume_unwind(Box::new("dies with a batch in hand"));
    });
    assert!(died.join().is_err());
    let refused = ring.post(9).unwrap_err();
    assert_eq!((refused.value, refused.refusal), (9, PostRefusal::NoReceiver));
    assert!(refused.to_string().contains("receiver"), "{refused}");
    assert_eq!(ring.reserve().unwrap_err(), PostRefusal::NoReceiver);
    let mut heir = Receiver::from(ring.take_over().expect("the receiver is gone"));
    assert!(heir.by_ref().eq(1..4));
    assert_eq!(heir.wait(1, None), Waited::Closed);
}

/// Values that nobody takes are dropped once.
#[test]
fn a_ring_drops_what_is_left() {
    let counted = Arc::new(());
    let (ring, mut receiver) = ring(Capacity::Growing(1)).unwrap();
    for _ in 0..5 {
        ring.post(Arc::clone(&counted)).unwrap();
    }
    drop(receiver.try_take());
    let mut poster = ring.poster();
    poster.post(Arc::clone(&counted)).unwrap();
    drop((receiver, poster));
    drop(ring);
    assert_eq!(Arc::strong_count(&counted), 1);
}

#[test]
fn an_event_loop_sleeps_on_the_descriptor() {
    let _watchdog = watchdog("an_event_loop_sleeps_on_the_descriptor");
    let (ring, mut receiver) = ring(Capacity::Bounded(64)).unwrap();
    let poster = thread::spawn(move || {
        for value in 0..20 {
            thread::sleep(Duration::from_millis(1));
            ring.post_lazy(value).unwrap();
        }
    });
    let (mut got, mut sleeps) = (Vec::new(), 0);
    loop {
        let waited = receiver.arm(5);
        if waited.is_none() {
            let mut poll =
                libc::pollfd { fd: receiver.as_fd().as_raw_fd(), events: libc::POLLIN, revents: 0 };
            // SAFETY: one descriptor, which is open.
            assert_eq!(unsafe { libc::poll(&raw mut poll, 1, 10_000) }, 1);
            receiver.disarm();
            sleeps += 1;
        }
        got.extend(receiver.by_ref());
        if waited == Some(Waited::Closed) {
            break;
        }
    }
    poster.join().unwrap();
    assert!(got.into_iter().eq(0..20));
    assert!((1..=10).contains(&sleeps), "{sleeps} sleeps for 20 lazy values in fives");
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

#[test]
fn a_task_awaits_values() {
    let _watchdog = watchdog("a_task_awaits_values");
    let (ring, mut receiver) = ring(Capacity::Bounded(4)).unwrap();
    let poster = thread::spawn(move || {
        for value in 0..50 {
            while ring.post(value).is_err() {
                thread::yield_now();
            }
        }
    });
    let task = async {
        let mut got = Vec::new();
        while let Some(value) = receiver.next_value().await {
            got.push(value);
        }
        got
    };
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut task = pin!(task);
    let got = loop {
        match task.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(got) => break got,
            Poll::Pending => thread::park(),
        }
    };
    poster.join().unwrap();
    assert!(got.into_iter().eq(0..50));
}

#[test]
fn a_queue_delivers_into_a_ring() {
    let _watchdog = watchdog("a_queue_delivers_into_a_ring");
    let engine = Engine::new().unwrap();
    let queue = engine.queue("deliver").build().unwrap();
    let (ring, mut receiver) = ring(Capacity::Bounded(10)).unwrap();
    for n in 0..10 {
        queue.spawn_into(&ring, move || if n == 5 { panic!("five") } else { n }).unwrap();
    }
    let full = queue.spawn_into(&ring, || 77).unwrap_err();
    assert_eq!(full.reason, SpawnIntoReason::Ring(PostRefusal::Full));
    assert_eq!((full.closure)(), 77, "the closure comes back");
    let mut results = Vec::new();
    while results.len() < 10 {
        assert_eq!(receiver.wait(10 - results.len() as u32, None), Waited::Ready);
        results.extend(receiver.by_ref());
    }
    let (good, bad): (Vec<_>, Vec<_>) = results.into_iter().partition(Result::is_ok);
    let mut good: Vec<i32> = good.into_iter().flatten().collect();
    good.sort_unstable();
    assert_eq!(good, [0, 1, 2, 3, 4, 6, 7, 8, 9]);
    let Some(Err(JoinError::Panicked(payload))) = bad.into_iter().next() else { panic!("one has panicked") };
    assert_eq!(payload.downcast_ref(), Some(&"five"));
    queue.flush().unwrap();
    assert_eq!(engine.stats().panics, 1, "the engine counts the panic");
    // A queue that refuses gives the closure back, and the room.
    let name = String::from("kept");
    queue.clone().destroy_within(SECOND).unwrap();
    let refused = queue.spawn_into(&ring, move || name.len() as i32).unwrap_err();
    assert!(matches!(refused.reason, SpawnIntoReason::Queue(_)), "{refused}");
    assert_eq!((refused.closure)(), 4);
    for value in 0..10 {
        ring.post(Ok(value)).expect("all the room is back");
    }
}

#[test]
fn results_are_waited_for_in_numbers() {
    let _watchdog = watchdog("results_are_waited_for_in_numbers");
    let queue = Engine::new().unwrap().queue("numbers").build().unwrap();
    let (ring, mut receiver) = ring(Capacity::Bounded(10)).unwrap();
    queue.spawn_into(&ring, || 1).unwrap();
    queue.flush().unwrap();
    let soon = Instant::now() + Duration::from_millis(20);
    assert_eq!(receiver.wait(2, Some(soon)), Waited::TimedOut, "one result is not two");
    queue.spawn_into(&ring, || 2).unwrap();
    assert_eq!(receiver.wait(2, None), Waited::Ready);
    let results: Vec<i32> = receiver.by_ref().map(Result::unwrap).collect();
    assert_eq!(results, [1, 2]);
}

#[test]
fn a_work_posts_the_ends_of_its_runs() {
    let _watchdog = watchdog("a_work_posts_the_ends_of_its_runs");
    let queue = Engine::new().unwrap().queue("hook").build().unwrap();
    let (ring, mut receiver) = ring(Capacity::Bounded(4)).unwrap();
    let mut run = 0;
    let function = move |_: &Work| {
        run += 1;
        assert!(run != 2, "the second run panics");
    };
    let work = Work::with_hook(function, move |_, end| ring.post(end).unwrap());
    for expected in [RunEnd::Returned, RunEnd::Panicked, RunEnd::Returned] {
        assert_eq!(queue.queue(&work), Submit::Queued);
        assert_eq!(receiver.take_blocking(), Some(expected));
        let _ = work.flush();
    }
    drop(work);
    queue.flush().unwrap();
    assert_eq!(receiver.take_blocking(), None, "the hook, and the ring in it, are gone with the work");
}
