//! The measured part.

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use cmwq_sys::cycles::{self, Calibration};
use cmwq_sys::topology::CpuSet;
use cmwq_sys::{affinity, clock};

use super::cell::{Cell, Figures, Measured, Mode, Shape};
use super::systems::{CompletionRing, Counter, Crossbeam, MsgRing, MutexDeque, Post, Receive, System};
use crate::bench::figures;
use crate::output::Failure;

/// Of this many posts one is timed: a prime, so that these are not always the ones that fetch room for those to come.
const TIMED_EVERY: u64 = 61;
/// A producer looks at the clock after so many posts.
const POSTS_PER_LOOK: u64 = 64;
/// What is posted before it is taken, by one thread alone.
const BURST: u64 = 64;
/// Follows the last message.
const END: u64 = u64::MAX;
const SAMPLES_MAX: usize = 1 << 20;

/// Measures a cell.
pub(super) fn measure(cell: &Cell) -> Result<Measured, Failure> {
    match cell.shape {
        Shape::Ring => measure_in(cell, &CompletionRing::new(Counter::new()).map_err(Failure::input)?),
        Shape::Mutex => measure_in(cell, &MutexDeque::new(false, Counter::new()).map_err(Failure::input)?),
        Shape::MutexSwap => measure_in(cell, &MutexDeque::new(true, Counter::new()).map_err(Failure::input)?),
        Shape::Crossbeam => measure_in(cell, &Crossbeam::new()),
        Shape::MsgRing => measure_in(cell, &MsgRing::new(Counter::new())),
    }
}

fn measure_in<S: System>(cell: &Cell, system: &S) -> Result<Measured, Failure> {
    let measured = match cell.mode {
        Mode::Stream => stream(cell, system),
        Mode::Alone => alone(cell, system),
    };
    measured.map_err(Failure::input)
}

/// Posts and takes in turns.
fn alone<S: System>(cell: &Cell, system: &S) -> Result<Measured, String> {
    let (mut receiver, calibration) = (system.receiver()?, Calibration::measure(Duration::from_millis(20)));
    let mut poster = system.poster()?;
    let time = Duration::from_millis(cell.time_ms.unwrap_or(u64::MAX / 1_000_000));
    let (begin, cpu) = (clock::now(), clock::process_cpu_time());
    let (mut posted, mut taken, mut posting) = (0, 0, 0.0);
    while posted < cell.items && clock::now() - begin < time {
        let from = cycles::now();
        for message in posted..posted + BURST {
            if !poster.post(message, false) {
                return Err(format!("{} has no room for {BURST} messages", cell.shape.name()));
            }
        }
        posting += calibration.ns(cycles::now().saturating_sub(from));
        posted += BURST;
        while taken < posted {
            receiver.wait(1);
            receiver.drain(|_| taken += 1);
        }
    }
    let (seconds, cpu) = ((clock::now() - begin).as_secs_f64(), clock::process_cpu_time() - cpu);
    drop(poster);
    let count = posted.max(1) as f64;
    let per = |value: Option<u64>| value.map(|value| value as f64 / count);
    let figures = Figures {
        messages_per_s: count / seconds.max(1e-9),
        post_ns: posting / count,
        messages_per_take: None,
        post_p99_ns: None,
        wakes_per_message: per(system.wakes()),
        calls_per_post: per(system.calls()),
        cpu_s_per_million: cpu.as_secs_f64() * 1e6 / count,
    };
    Ok(Measured { figures, messages: posted, seconds, bound: false, line_round_trip_ns: None })
}

/// What a producer brings back.
struct Back {
    posted: u64,
    sum: u64,
    samples: Vec<u32>,
    bound: bool,
}

/// What the receiver brings back.
struct Received {
    count: u64,
    sum: u64,
    /// Takes that found something.
    takes: u64,
    bound: bool,
}

fn stream<S: System>(cell: &Cell, system: &S) -> Result<Measured, String> {
    let calibration = Calibration::measure(Duration::from_millis(20));
    let cpus = affinity::current().map_err(|error| format!("the CPUs of this process: {error}"))?;
    let (is_there, there) = mpsc::channel();
    let (go, gone) = mpsc::channel();
    // How many messages there are in all, once that is known.
    let total = AtomicU64::new(u64::MAX);
    let start = Barrier::new(cell.producers as usize + 1);
    thread::scope(|scope| {
        let receiver = scope.spawn({
            let (total, cpus) = (&total, &cpus);
            move || receive(cell, system, cpus, (&is_there, &gone), total)
        });
        there.recv().map_err(|_| "the receiver is gone".to_owned())??;
        let posters = (0..=cell.producers).map(|_| system.poster()).collect::<Result<Vec<_>, _>>();
        // Without a go the receiver leaves.
        let go = go;
        let mut posters = posters?;
        go.send(()).map_err(|_| "the receiver is gone".to_owned())?;
        let mut last = posters.pop().ok_or("no poster")?;
        let threads: Vec<_> = posters
            .into_iter()
            .zip(0..)
            .map(|(poster, index)| {
                let (start, calibration, cpus) = (&start, &calibration, &cpus);
                scope.spawn(move || produce(cell, index, poster, cpus, start, calibration))
            })
            .collect();
        start.wait();
        let (begin, cpu) = (clock::now(), clock::process_cpu_time());
        let back: Vec<Back> =
            threads.into_iter().map(|thread| thread.join().expect("a producer's result")).collect();
        let (posted, sum) = back
            .iter()
            .fold((0, 0_u64), |(posted, sum), back| (posted + back.posted, sum.wrapping_add(back.sum)));
        total.store(posted, Ordering::Release);
        // Not all can be told that a message is not lazy: so as many as it takes.
        while !receiver.is_finished() {
            last.post(END, false);
            thread::yield_now();
        }
        let received = receiver.join().expect("the receiver's result");
        let (end, cpu) = (clock::now(), clock::process_cpu_time() - cpu);
        if (received.count, received.sum) != (posted, sum) {
            return Err(format!("{posted} messages were posted, {} received, or others", received.count));
        }
        let bound = received.bound && back.iter().all(|back| back.bound);
        Ok(summary(system, back, &received, (end - begin, cpu), &calibration, bound))
    })
}

fn summary<S: System>(
    system: &S,
    back: Vec<Back>,
    received: &Received,
    (time, cpu): (Duration, Duration),
    calibration: &Calibration,
    bound: bool,
) -> Measured {
    let mut samples: Vec<u32> = back.into_iter().flat_map(|back| back.samples).collect();
    let [p50, p99] = figures::percentiles(&mut samples, [50, 99]).map(|units| calibration.ns(units.into()));
    let (seconds, count) = (time.as_secs_f64(), received.count.max(1) as f64);
    let per = |value: Option<u64>| value.map(|value| value as f64 / count);
    let figures = Figures {
        messages_per_s: count / seconds.max(1e-9),
        post_ns: p50,
        messages_per_take: Some(count / received.takes.max(1) as f64),
        post_p99_ns: Some(p99),
        wakes_per_message: per(system.wakes()),
        calls_per_post: per(system.calls()),
        cpu_s_per_million: cpu.as_secs_f64() * 1e6 / count,
    };
    Measured { figures, messages: received.count, seconds, bound, line_round_trip_ns: None }
}

fn bind(cpus: &CpuSet, index: usize) -> bool {
    let cpu: CpuSet = cpus.iter().nth(index % cpus.len().max(1)).into_iter().collect();
    affinity::set_current(&cpu).is_ok()
}

fn receive<S: System>(
    cell: &Cell,
    system: &S,
    cpus: &CpuSet,
    (is_there, go): (&mpsc::Sender<Result<(), String>>, &mpsc::Receiver<()>),
    total: &AtomicU64,
) -> Received {
    let mut received =
        Received { count: 0, sum: 0, takes: 0, bound: bind(cpus, cpus.len().saturating_sub(1)) };
    let mut receiver = match system.receiver() {
        Ok(receiver) => receiver,
        Err(why) => {
            _ = is_there.send(Err(why));
            return received;
        }
    };
    _ = is_there.send(Ok(()));
    if go.recv().is_err() {
        return received;
    }
    while received.count < total.load(Ordering::Acquire) {
        receiver.wait(cell.need);
        let before = received.count;
        receiver.drain(|message| {
            if message != END {
                received.count += 1;
                received.sum = received.sum.wrapping_add(message);
            }
        });
        received.takes += u64::from(received.count > before);
    }
    received
}

fn produce<P: Post>(
    cell: &Cell,
    index: u64,
    mut poster: P,
    cpus: &CpuSet,
    start: &Barrier,
    calibration: &Calibration,
) -> Back {
    let bound = bind(cpus, index as usize);
    let mut back = Back { posted: 0, sum: 0, samples: Vec::with_capacity(SAMPLES_MAX), bound };
    let is_lazy = cell.is_lazy();
    start.wait();
    let time = cell.time_ms.map_or(u64::MAX, |time| calibration.units(Duration::from_millis(time)));
    let until = cycles::now().saturating_add(time);
    while back.posted < cell.items {
        let message = index << 48 | back.posted;
        let from = back.posted.is_multiple_of(TIMED_EVERY).then(cycles::now);
        while !poster.post(message, is_lazy) {
            thread::yield_now();
        }
        if let Some(from) = from
            && back.samples.len() < SAMPLES_MAX
        {
            back.samples.push(u32::try_from(cycles::now().saturating_sub(from)).unwrap_or(u32::MAX));
        }
        back.posted += 1;
        back.sum = back.sum.wrapping_add(message);
        if back.posted.is_multiple_of(POSTS_PER_LOOK) && cycles::now() >= until {
            break;
        }
    }
    back
}
