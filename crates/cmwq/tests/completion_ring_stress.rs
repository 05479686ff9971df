//! Many messages through eight posters, with random urgencies, chains, needs, deadlines, stops and closes: each is
//! delivered once, in the order of its poster. `CMWQ_MESSAGES` says how many; what was counted is printed.

mod support;

use cmwq_ring::{Bell, Capacity, PostError, PostRefusal, Poster, Receiver, Rester, Waited, ring};
use cmwq_sys::eventfd::EventFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use support::watchdog_for;

const POSTERS: u64 = 8;

fn messages() -> u64 {
    let default = if cfg!(miri) { 400 } else { 200_000 };
    std::env::var("CMWQ_MESSAGES").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Small, fast and good enough to choose what to do next.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Poster and number.
type Message = (u64, u64);

/// An eventfd that counts how often it is rung.
struct Counting {
    eventfd: EventFd,
    rung: Arc<AtomicU64>,
}

impl Bell for Counting {
    fn ring(&self, rester: Rester) {
        self.rung.fetch_add(1, Ordering::Relaxed);
        self.eventfd.ring(rester);
    }

    fn wait(&self, left: Option<Duration>) {
        self.eventfd.wait(left);
    }

    fn clear(&self) {
        self.eventfd.clear();
    }
}

/// What has been received.
#[derive(Default)]
struct Counts {
    /// By poster: the number that comes next.
    expected: [u64; POSTERS as usize],
    received: u64,
    out_of_order: u64,
}

/// Posts from `next` on until `end` or until the ring is closed; answers what comes next.
fn post_all(poster: &mut Poster<Message, Counting>, me: u64, mut next: u64, end: u64) -> u64 {
    let mut chance = Chance(me * 7919 + next + 1);
    let mut chain = Vec::new();
    while next < end {
        let refusal = match chance.below(64) {
            0 => {
                chain.extend((next..end.min(next + chance.below(8))).map(|number| (me, number)));
                let count = chain.len() as u64;
                let posted = poster.ring().post_chain(&mut chain);
                assert_eq!(chain.len() as u64, if posted.is_ok() { 0 } else { count });
                chain.clear();
                posted.map(|()| next += count)
            }
            1 => match poster.ring().reserve() {
                Ok(place) if chance.below(2) == 0 => {
                    place.post((me, next)).map(|()| next += 1).map_err(|error| error.refusal)
                }
                reserved => reserved.map(drop),
            },
            2 => {
                // Stops for a while, with nodes in hand.
                if chance.below(16) == 0 {
                    thread::sleep(Duration::from_micros(50))
                } else {
                    thread::yield_now()
                };
                Ok(())
            }
            kind => {
                let posted = if kind < 24 { poster.post((me, next)) } else { poster.post_lazy((me, next)) };
                posted.map(|()| next += 1).map_err(|PostError { value, refusal }| {
                    assert_eq!(value, (me, next), "what is refused comes back");
                    refusal
                })
            }
        };
        match refusal {
            Ok(()) => {}
            Err(PostRefusal::Full) => thread::yield_now(),
            Err(_) => return next,
        }
    }
    next
}

/// Receives until the ring is closed and empty.
fn receive(mut receiver: Receiver<Message, Counting>, counts: &mut Counts, close_after: u64) {
    let mut chance = Chance(close_after | 1);
    let close_at = counts.received.saturating_add(close_after);
    loop {
        let deadline = Instant::now() + Duration::from_micros(chance.below(200));
        let left = || Some(deadline.saturating_duration_since(Instant::now()));
        let waited = receiver.wait(chance.below(40) as u32, left);
        let most = if waited == Waited::Closed { u64::MAX } else { chance.below(100) };
        for (poster, number) in receiver.by_ref().take(most as usize) {
            let expected = &mut counts.expected[poster as usize];
            counts.out_of_order += u64::from(number != *expected);
            *expected = number + 1;
            counts.received += 1;
        }
        if waited == Waited::Closed {
            return;
        }
        if counts.received >= close_at {
            receiver.close();
        }
    }
}

#[test]
fn each_message_arrives_once_and_in_order() {
    let total = messages();
    let _watchdog =
        watchdog_for("each_message_arrives_once_and_in_order", Duration::from_secs(120 + total / 100_000));
    let each = total / POSTERS;
    let mut counts = Counts::default();
    let rung = Arc::new(AtomicU64::new(0));
    let mut sent = vec![0; POSTERS as usize];
    let mut chance = Chance(total + 1);
    let mut generation = 0;
    // Each generation is a ring that is closed at some moment; what it refused goes into the next one.
    while sent.iter().any(|&next| next < each) {
        let capacity =
            [Capacity::Bounded(300), Capacity::Growing(300), Capacity::Bounded(4096)][generation % 3];
        let eventfd = EventFd::new().expect("a descriptor");
        let (ring, receiver) = ring(capacity, Counting { eventfd, rung: Arc::clone(&rung) });
        sent = thread::scope(|scope| {
            let posters: Vec<_> = (0..POSTERS)
                .map(|me| {
                    let (mut poster, next) = (ring.poster(), sent[me as usize]);
                    scope.spawn(move || post_all(&mut poster, me, next, each))
                })
                .collect();
            drop(ring);
            let close_after = if chance.below(4) == 0 { u64::MAX } else { 1 + chance.below(1 + total / 4) };
            receive(receiver, &mut counts, close_after);
            posters.into_iter().map(|poster| poster.join().unwrap()).collect()
        });
        generation += 1;
        assert_eq!(sent, counts.expected, "ring {generation}: what was accepted has arrived, no more");
    }
    let (posted, Counts { received, out_of_order, .. }) = (sent.iter().sum::<u64>(), counts);
    let (wakes, lost) = (rung.load(Ordering::Relaxed), posted.abs_diff(received));
    eprintln!(
        "posted {posted}, received {received}, wakes {wakes}, lost {lost}, out of order {out_of_order}; \
         {generation} rings"
    );
    assert_eq!((lost, out_of_order), (0, 0));
}
