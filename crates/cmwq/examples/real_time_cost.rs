//! What real time costs: wake-ups and time an item, against ordinary queues, by how items come. Runs in turn; medians
//! of five: `cargo run --release -p cmwq --example real_time_cost`.

#![forbid(unsafe_code)]

use cmwq::{CoverPolicy, Engine, Queue, SchedPolicy, Scope, WaitPolicy};
use std::error::Error;
use std::thread;
use std::time::{Duration, Instant};

const ITEMS: usize = 20_000;
const RUNS: usize = 5;

/// How items come.
type Load = fn(&Queue);

/// The next one when the last one has ended.
fn one_by_one(queue: &Queue) {
    for _ in 0..ITEMS {
        queue.spawn(|| ()).join().expect("it runs");
    }
}

fn bursts(queue: &Queue, items: usize, work: Duration) {
    for _ in 0..ITEMS / items {
        let handles: Vec<_> = (0..items).map(|_| queue.spawn(move || busy(work))).collect();
        handles.into_iter().for_each(|handle| handle.join().expect("it runs"));
    }
}

fn busy(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        std::hint::spin_loop();
    }
}

fn bursts_of_short(queue: &Queue) {
    bursts(queue, 64, Duration::ZERO);
}

fn bursts_of_long(queue: &Queue) {
    bursts(queue, 64, Duration::from_micros(20));
}

/// From four threads as fast as they can.
fn dense(queue: &Queue) {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..ITEMS / 4).for_each(|_| drop(queue.spawn(|| ()))));
        }
    });
    queue.flush().expect("no item waits for it");
}

const LOADS: [(&str, Load); 4] = [
    ("one by one", one_by_one),
    ("bursts of 64, empty", bursts_of_short),
    ("bursts of 64, 20 us", bursts_of_long),
    ("four threads, dense", dense),
];

#[derive(Clone, Copy)]
enum Kind {
    Ordinary,
    /// Like real time in what it does not save: nobody spins or watches.
    Parking,
    RealTime,
}

const KINDS: [(&str, Kind); 3] =
    [("ordinary", Kind::Ordinary), ("ordinary, parking", Kind::Parking), ("real time", Kind::RealTime)];

struct Cost {
    wakes: f64,
    submitted: f64,
    ns: f64,
}

fn run(kind: Kind, load: Load) -> Result<Cost, Box<dyn Error>> {
    let builder = Engine::builder();
    let engine = match kind {
        Kind::Parking => builder.wait(WaitPolicy::Park).cover(CoverPolicy::Eager),
        _ => builder,
    }
    .build()?;
    let queue = engine.queue("cost").scope(Scope::System).max_active(2);
    let queue = match kind {
        Kind::RealTime => queue.real_time(SchedPolicy::Fifo(1)).build()?,
        _ => queue.build()?,
    };
    queue.spawn(|| ()).join()?;
    let before = engine.stats().pools[0].clone();
    let begun = Instant::now();
    load(&queue);
    let ns = begun.elapsed().as_nanos() as f64;
    let after = engine.stats().pools[0].clone();
    let items = (after.started - before.started) as f64;
    Ok(Cost {
        wakes: (after.wakes - before.wakes) as f64 / items,
        submitted: (after.submit_wakes - before.submit_wakes) as f64 / items,
        ns: ns / items,
    })
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() -> Result<(), Box<dyn Error>> {
    let policy = Engine::new()?.queue("asked").real_time(SchedPolicy::Fifo(1)).build()?.real_time();
    match policy.and_then(|policy| policy.refused) {
        Some(why) => println!("real-time threads are refused ({why}): ordinary ones stand in"),
        None => println!("real-time threads are {}", SchedPolicy::Fifo(1)),
    }
    println!("{:<22}{:<20}{:>12}{:>16}{:>10}", "load", "queue", "wakes/item", "by submission", "ns/item");
    for (load_name, load) in LOADS {
        let mut costs: [Vec<Cost>; 3] = [const { Vec::new() }; 3];
        for _ in 0..RUNS {
            for (costs, (_, kind)) in costs.iter_mut().zip(KINDS) {
                costs.push(run(kind, load)?);
            }
        }
        for (costs, (kind, _)) in costs.iter().zip(KINDS) {
            let of = |part: fn(&Cost) -> f64| median(costs.iter().map(part).collect());
            let (wakes, submitted, ns) =
                (of(|cost| cost.wakes), of(|cost| cost.submitted), of(|cost| cost.ns));
            println!("{load_name:<22}{kind:<20}{wakes:>12.3}{submitted:>16.3}{ns:>10.0}");
        }
    }
    Ok(())
}
