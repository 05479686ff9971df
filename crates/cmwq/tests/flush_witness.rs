//! Sixteen threads submit, flush, cancel, drain and destroy at random, and a witness knows what each flush owes.
#![allow(clippy::let_underscore_future, reason = "to drop a handle is to detach its item")]

mod support;

use cmwq::{Engine, Flushed, Queue, Scope, Submit, Work};
use std::collections::VecDeque;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, RwLock};
use std::task::{Context, Poll, Wake};
use std::thread::Thread;
use std::time::{Duration, Instant};
use support::{Random, watchdog_for};

const THREADS: usize = 16;
const QUEUES: usize = 4;

/// Set by the item it belongs to.
type Ticket = Arc<AtomicBool>;

/// A queue and the tickets of what was accepted by it, one list a submitting thread.
struct Watched {
    queue: Queue,
    tickets: Vec<Mutex<Vec<Ticket>>>,
}

impl Watched {
    fn new(engine: &Engine, at: usize) -> Arc<Watched> {
        let builder = match at {
            0 => engine.queue("unbound"),
            1 => engine.queue("one").scope(Scope::System).max_active(1),
            2 => engine.queue("per-cpu").per_cpu(),
            _ => engine.queue("ordered").ordered(),
        };
        let tickets = (0..THREADS).map(|_| Mutex::default()).collect();
        Arc::new(Watched { queue: builder.build().unwrap(), tickets })
    }

    fn submit(&self, thread: usize, chained: bool) {
        let ticket = Ticket::default();
        let (mine, queue) = (Arc::clone(&ticket), self.queue.clone());
        let body = move || {
            if chained {
                let _ = queue.try_spawn(std::thread::yield_now);
            }
            mine.store(true, Relaxed);
        };
        if self.queue.try_spawn(body).is_ok() {
            // Only what is here before a flush is called is owed: the list is written after the submission returned.
            self.tickets[thread].lock().unwrap().push(ticket);
        }
    }

    /// What a flush that is called from now on owes.
    fn owed(&self) -> Vec<Ticket> {
        let mut owed = Vec::new();
        for list in &self.tickets {
            let mut list = list.lock().unwrap();
            list.retain(|ticket| !ticket.load(Relaxed));
            owed.extend(list.iter().cloned());
        }
        owed
    }
}

/// A work that one thread submits and cancels, so that it knows how many instances have been queued and taken back.
struct Own {
    work: Work,
    runs: Arc<AtomicU64>,
    queued: u64,
    cancelled: u64,
}

impl Own {
    fn new() -> Own {
        let runs = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&runs);
        let work = Work::new(move |_| {
            counted.fetch_add(1, Relaxed);
        });
        Own { work, runs, queued: 0, cancelled: 0 }
    }

    fn assert_ended(&self, what: &str) {
        assert_eq!(
            self.runs.load(Relaxed) + self.cancelled,
            self.queued,
            "{what} left an instance of a work"
        );
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Awaits a flush, or drops it after a few polls; answers whether it ended.
fn flush_async(queue: &Queue, polls_max: u64) -> bool {
    let waker = Arc::new(Unpark(std::thread::current())).into();
    let mut context = Context::from_waker(&waker);
    let mut flush = pin!(queue.flush_async());
    for _ in 0..polls_max {
        match flush.as_mut().poll(&mut context) {
            Poll::Ready(()) => return true,
            // Without a time-out: a waker that is not woken hangs here.
            Poll::Pending => std::thread::park(),
        }
    }
    flush.as_mut().poll(&mut context).is_ready()
}

/// Flushes that a thread has begun and awaits later, so that more cuts are outstanding than there are slots.
#[derive(Default)]
struct Held(VecDeque<(Pin<Box<Flushed>>, Vec<Ticket>)>);

impl Held {
    const MAX: usize = 3;

    fn begin(&mut self, watched: &Watched) {
        let owed = watched.owed();
        self.0.push_back((Box::pin(watched.queue.flush_async()), owed));
        if self.0.len() > Held::MAX {
            self.end_one();
        }
    }

    fn end_one(&mut self) {
        let Some((mut flush, owed)) = self.0.pop_front() else { return };
        let waker = Arc::new(Unpark(std::thread::current())).into();
        let mut context = Context::from_waker(&waker);
        while flush.as_mut().poll(&mut context).is_pending() {
            std::thread::park();
        }
        assert_none_left("a flush that was begun before", &owed);
    }
}

fn assert_none_left(what: &str, owed: &[Ticket]) {
    let left = owed.iter().filter(|ticket| !ticket.load(Relaxed)).count();
    assert_eq!(left, 0, "{what} returned before {left} of {} items that it owed", owed.len());
}

struct World {
    begun: Instant,
    engine: Engine,
    queues: Vec<RwLock<Arc<Watched>>>,
    flushes: AtomicU64,
    owed: AtomicU64,
}

impl World {
    fn watched(&self, at: usize) -> Arc<Watched> {
        Arc::clone(&self.queues[at].read().unwrap())
    }

    /// Waits in one of the ways, and looks whether all that was owed has ended.
    fn wait(&self, watched: &Watched, how: u64, random: &mut Random) -> bool {
        let owed = watched.owed();
        let (what, ended) = match how {
            0 => ("a drain", watched.queue.drain().is_ok()),
            1 => ("an awaited flush", flush_async(&watched.queue, u64::MAX)),
            2 => ("a flush polled a few times", flush_async(&watched.queue, random.below(3))),
            _ => ("a flush", watched.queue.flush().is_ok()),
        };
        if ended {
            self.flushes.fetch_add(1, Relaxed);
            self.owed.fetch_add(owed.len() as u64, Relaxed);
            assert_none_left(what, &owed);
        }
        ended
    }

    /// Every other quarter of a second all threads are at one queue.
    fn any_queue(&self, random: &mut Random) -> usize {
        let season = self.begun.elapsed().as_millis() as usize / 250;
        if season.is_multiple_of(2) { random.below(QUEUES as u64) as usize } else { season / 2 % QUEUES }
    }

    fn act(&self, thread: usize, own: &mut Own, held: &mut Held, random: &mut Random) {
        let at = self.any_queue(random);
        let watched = self.watched(at);
        match random.below(1000) {
            0..500 => watched.submit(thread, random.below(8) == 0),
            500..650 => self.act_on_own(own, random),
            650..750 => held.begin(&watched),
            750..850 => drop(self.wait(&watched, 9, random)),
            850..920 => drop(self.wait(&watched, 1, random)),
            920..960 => drop(self.wait(&watched, 2, random)),
            960..990 => drop(self.wait(&watched, 0, random)),
            _ => {
                let next = Watched::new(&self.engine, at);
                let old = std::mem::replace(&mut *self.queues[at].write().unwrap(), next);
                let owed = old.owed();
                old.queue.clone().destroy().unwrap();
                assert!(owed.iter().all(|ticket| ticket.load(Relaxed)), "a destruction left owed items");
            }
        }
    }

    /// All of a thread's own instances go to whichever queue is there; a flush of that one covers them.
    fn act_on_own(&self, own: &mut Own, random: &mut Random) {
        let watched = self.watched(self.any_queue(random));
        for _ in 0..=random.below(3) {
            own.queued += u64::from(watched.queue.queue(&own.work) == Submit::Queued);
        }
        if random.below(3) == 0 {
            own.cancelled += u64::from(own.work.cancel());
        }
        let how = 1 + 8 * random.below(2);
        assert!(self.wait(&watched, how, random));
        own.assert_ended("a flush");
    }
}

/// For `CMWQ_FLUSH_SECONDS`, or else two.
#[test]
fn nothing_owed_is_unfinished_when_a_flush_returns() {
    let seconds = std::env::var("CMWQ_FLUSH_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(2);
    let time = Duration::from_secs(seconds);
    let name = "nothing_owed_is_unfinished_when_a_flush_returns";
    let _watchdog = watchdog_for(name, time + Duration::from_secs(60));
    let engine = Engine::builder().name("witness").build().unwrap();
    let queues = (0..QUEUES).map(|at| RwLock::new(Watched::new(&engine, at))).collect();
    let begun = Instant::now();
    let world = World { begun, engine, queues, flushes: AtomicU64::new(0), owed: AtomicU64::new(0) };
    std::thread::scope(|threads| {
        for thread in 0..THREADS {
            let world = &world;
            threads.spawn(move || {
                let (mut random, mut own) = (Random::new(thread as u64 + 1), Own::new());
                let mut held = Held::default();
                while begun.elapsed() < time {
                    world.act(thread, &mut own, &mut held, &mut random);
                }
                while !held.0.is_empty() {
                    held.end_one();
                }
            });
        }
    });
    let (flushes, owed) = (world.flushes.load(Relaxed), world.owed.load(Relaxed));
    eprintln!("{flushes} flushes owed {owed} items");
    assert!(flushes > 100 && owed > 100, "{flushes} flushes owed {owed} items: too few to show anything");
    assert_eq!(world.engine.stats().panics, 0);
}
