//! Random sequences of calls on several threads: every accepted submission runs once, and nothing hangs.
#![allow(clippy::let_underscore_future, reason = "to drop a handle is to detach its item")]

mod support;

use cmwq::{Engine, Queue, Scope, Submit, Work};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};
use support::{Random, watchdog, watchdog_for};

/// What the threads share. Queues are replaced while others use them.
struct World {
    engine: Engine,
    queues: Vec<RwLock<Queue>>,
    works: Vec<Work>,
    inside: Arc<Vec<AtomicBool>>,
    accepted: AtomicU64,
    runs: Arc<AtomicU64>,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let engine = Engine::builder()
            .idle_timeout(Duration::from_micros(200 + random.below(2000)))
            .help_wakeups(seed.is_multiple_of(2))
            .build()
            .unwrap();
        let queues = (0..4).map(|at| RwLock::new(new_queue(&engine, at))).collect();
        let runs = Arc::new(AtomicU64::new(0));
        let inside: Arc<Vec<_>> = Arc::new((0..6).map(|_| AtomicBool::new(false)).collect());
        let work = |at: usize| {
            let (runs, inside) = (Arc::clone(&runs), Arc::clone(&inside));
            let mut random = Random::new(seed + at as u64);
            Work::new(move |_| {
                assert!(!inside[at].swap(true, Relaxed), "twice at once");
                linger(random.below(40));
                inside[at].store(false, Relaxed);
                runs.fetch_add(1, Relaxed);
            })
        };
        let works = (0..6).map(work).collect();
        World { engine, queues, works, inside, accepted: AtomicU64::new(0), runs }
    }

    fn queue(&self, random: &mut Random) -> Queue {
        let at = random.below(self.queues.len() as u64) as usize;
        self.queues[at].read().unwrap().clone()
    }

    fn count(&self, accepted: bool) {
        self.accepted.fetch_add(u64::from(accepted), Relaxed);
    }

    fn spawn(&self, queue: &Queue, random: &mut Random) -> Option<cmwq::JoinHandle<()>> {
        let (runs, kind) = (Arc::clone(&self.runs), random.below(40));
        let handle = queue.try_spawn(move || {
            linger(kind);
            runs.fetch_add(1, Relaxed);
        });
        self.count(handle.is_ok());
        handle.ok()
    }

    /// One random call.
    fn act(&self, random: &mut Random) {
        let queue = self.queue(random);
        match random.below(100) {
            0..40 => {
                let work = &self.works[random.below(self.works.len() as u64) as usize];
                self.count(queue.queue(work) == Submit::Queued);
            }
            40..65 => drop(self.spawn(&queue, random)),
            65..75 => {
                if let Some(handle) = self.spawn(&queue, random) {
                    handle.join().unwrap();
                }
            }
            75..80 => queue.flush().unwrap(),
            80..85 => {
                let work = &self.works[random.below(self.works.len() as u64) as usize];
                let _ = work.flush().unwrap();
            }
            85..88 => queue.drain().unwrap(),
            88..92 => self.scoped(&queue),
            92..96 => {
                // A chain: an item that submits to another queue.
                let (next, runs) = (self.queue(random), Arc::clone(&self.runs));
                let first = queue.spawn(move || {
                    next.try_spawn(move || {
                        runs.fetch_add(1, Relaxed);
                    })
                    .is_ok()
                });
                self.count(first.join().unwrap_or(false));
            }
            _ => {
                let at = random.below(self.queues.len() as u64) as usize;
                let old =
                    std::mem::replace(&mut *self.queues[at].write().unwrap(), new_queue(&self.engine, at));
                if random.below(2) == 0 {
                    old.destroy().unwrap();
                }
            }
        }
    }

    fn scoped(&self, queue: &Queue) {
        let here = AtomicU64::new(0);
        let mut refused = 0;
        queue.scope(|scope| {
            let handles: Vec<_> = (0..3).map(|_| scope.spawn(|| here.fetch_add(1, Relaxed))).collect();
            refused = handles.into_iter().filter_map(|handle| handle.join().err()).count() as u64;
        });
        assert_eq!(here.into_inner() + refused, 3);
    }
}

fn new_queue(engine: &Engine, at: usize) -> Queue {
    match at {
        0 => engine.queue("unbound").scope(Scope::System),
        1 => engine.queue("one").scope(Scope::System).max_active(1),
        2 => engine.queue("per-cpu").per_cpu(),
        _ => engine.queue("strict").scope(Scope::Cpu).strict(true).max_active(3),
    }
    .build()
    .unwrap()
}

fn linger(kind: u64) {
    match kind {
        0 => std::thread::sleep(Duration::from_micros(50)),
        1 => cmwq::blocking(|| std::thread::sleep(Duration::from_micros(100))),
        2..5 => std::thread::yield_now(),
        _ => {}
    }
}

fn run(seed: u64, time: Duration) {
    let world = World::new(seed);
    let begun = Instant::now();
    std::thread::scope(|threads| {
        for thread in 0..4 {
            let world = &world;
            threads.spawn(move || {
                let mut random = Random::new(seed * 31 + thread);
                while begun.elapsed() < time {
                    world.act(&mut random);
                }
            });
        }
    });
    world.queues.iter().for_each(|queue| queue.read().unwrap().drain().unwrap());
    world.works.iter().for_each(|work| assert!(work.flush().is_ok(), "seed {seed}"));
    assert_eq!(world.runs.load(Relaxed), world.accepted.load(Relaxed), "seed {seed}");
    assert!(world.inside.iter().all(|inside| !inside.load(Relaxed)));
    assert_eq!(world.engine.stats().panics, 0, "seed {seed}");
}

#[test]
fn random_calls_lose_nothing() {
    let _watchdog = watchdog("random_calls_lose_nothing");
    for seed in 0..8 {
        run(seed, Duration::from_millis(250));
    }
}

#[test]
#[ignore = "takes minutes"]
fn random_calls_lose_nothing_for_long() {
    let _watchdog = watchdog_for("random_calls_lose_nothing_for_long", Duration::from_secs(900));
    for seed in 100..220 {
        run(seed, Duration::from_secs(2));
    }
}
