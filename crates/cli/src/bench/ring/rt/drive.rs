//! The measured part.
//!
//! A real-time sender posts every 500 us to a real-time receiver on another CPU. On the sender's CPU three threads of
//! normal priority post to it every 200 us, and one of a priority between runs in bursts of 20 us to 1 ms.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use cmwq_ring::{Capacity, Poster, Receiver, Ring, ring};
use cmwq_sys::topology::CpuSet;
use cmwq_sys::{affinity, clock, policy, thread as threads};

use super::Cell;
use super::late::{LATE, Lateness, Message, Span};
use super::rule::{Rule, RuleBell, has_issued, stretch};
use crate::bench::ring::systems::{Counter, MsgRing, Post, Receive, System};
use crate::output::Failure;

pub(super) const PERIOD: Duration = Duration::from_micros(500);
const LOW_PERIOD: Duration = Duration::from_micros(200);
const LOW_POSTERS: u64 = 3;
/// The sender comes before the bursts: they share a CPU.
const SENDER: u8 = 60;
const RECEIVER: u8 = 60;
const BURST: u8 = 50;
const CAPACITY: u32 = 1 << 14;
const LOW: u64 = u64::MAX;
const END: u64 = u64::MAX - 1;

/// A ring with a rule.
struct RuleRing {
    ring: Ring<u64, RuleBell>,
    receiver: Mutex<Option<Receiver<u64, RuleBell>>>,
}

impl System for RuleRing {
    type Poster = Poster<u64, RuleBell>;
    type Receiver = Receiver<u64, RuleBell>;

    fn receiver(&self) -> Result<Self::Receiver, String> {
        let receiver = self.receiver.lock().unwrap_or_else(PoisonError::into_inner).take();
        receiver.ok_or_else(|| "there is one receiver".to_owned())
    }

    fn poster(&self) -> Result<Self::Poster, String> {
        Ok(self.ring.poster())
    }

    fn wakes(&self) -> Option<u64> {
        None
    }

    fn calls(&self) -> Option<u64> {
        None
    }
}

/// Measures a cell.
pub(super) fn measure(cell: &Cell) -> Result<Lateness, Failure> {
    if cell.rule == Rule::MsgRing {
        return measure_in(cell, &MsgRing::new(Counter::none())).map_err(Failure::input);
    }
    let bell = RuleBell::new(cell.rule).map_err(Failure::input)?;
    let (ring, receiver) = ring(Capacity::Bounded(CAPACITY), bell);
    let system = RuleRing { ring, receiver: Mutex::new(Some(receiver)) };
    measure_in(cell, &system).map_err(Failure::input)
}

fn measure_in<S: System>(cell: &Cell, system: &S) -> Result<Lateness, String> {
    let cpus = affinity::current().map_err(|error| error.to_string())?;
    let one = |index: usize| -> CpuSet { cpus.iter().nth(index).into_iter().collect() };
    if cpus.len() < 2 {
        return Err("this takes two CPUs".to_owned());
    }
    let (senders, receivers) = (one(0), one(cpus.len() - 1));
    let handled: Vec<AtomicU64> = (0..cell.messages).map(|_| AtomicU64::new(0)).collect();
    let ends = AtomicBool::new(false);
    let (is_there, there) = mpsc::channel();
    thread::scope(|scope| {
        let receiver = scope.spawn(|| receive(system, &receivers, &handled, &is_there));
        there.recv().map_err(|_| "the receiver is gone")??;
        let mut last = system.poster()?;
        let lows: Result<Vec<_>, String> = (0..LOW_POSTERS).map(|_| system.poster()).collect();
        let (lows, high) = (lows?, system.poster()?);
        let (senders, ends) = (&senders, &ends);
        let window = Duration::from_micros(cell.window_us);
        let lows: Vec<_> = lows
            .into_iter()
            .map(|poster| scope.spawn(move || post_low(poster, senders, window, ends)))
            .collect();
        let burst = scope.spawn(|| run_in_bursts(senders, ends));
        let sender = scope.spawn(|| send(cell, high, senders));
        let sent = sender.join().unwrap_or_else(|_| Err("the sender panicked".to_owned()));
        ends.store(true, Ordering::Release);
        let spans = lows.into_iter().flat_map(|low| low.join().unwrap_or_default()).collect();
        let bursts = burst.join().unwrap_or_else(|_| Err("the bursts panicked".to_owned()));
        // Without this the receiver does not end, and the process is killed.
        while !last.post(END, false) {
            thread::yield_now();
        }
        receiver.join().map_err(|_| "the receiver panicked")?;
        bursts?;
        let mut messages = sent?;
        for (message, handled) in messages.iter_mut().zip(&handled) {
            let at = handled.load(Ordering::Relaxed);
            message.handled = (at != 0).then(|| Duration::from_nanos(at));
            // Whoever sends a message from io_uring to io_uring does not learn whether it has woken the receiver.
            message.skipped |= cell.rule == Rule::MsgRing;
        }
        Ok(Lateness::of(&messages, spans))
    })
}

fn settle(cpus: &CpuSet, priority: u8) -> Result<(), String> {
    affinity::set_current(cpus).map_err(|error| format!("no CPU of its own: {error}"))?;
    threads::sleep_exactly();
    policy::set_fifo(priority).map_err(|error| format!("no SCHED_FIFO: {error}"))
}

fn receive<S: System>(
    system: &S,
    cpus: &CpuSet,
    handled: &[AtomicU64],
    is_there: &mpsc::Sender<Result<(), String>>,
) {
    let receiver = system.receiver().and_then(|receiver| settle(cpus, RECEIVER).map(|()| receiver));
    let mut receiver = match receiver {
        Ok(receiver) => receiver,
        Err(why) => return is_there.send(Err(why)).unwrap_or_default(),
    };
    _ = is_there.send(Ok(()));
    let mut ended = false;
    while !ended {
        receiver.wait(1);
        receiver.drain(|message| match message {
            END => ended = true,
            LOW => {}
            index => {
                let now = u64::try_from(clock::now().as_nanos()).unwrap_or(u64::MAX);
                handled[index as usize].store(now, Ordering::Relaxed);
            }
        });
    }
}

fn send<P: Post>(cell: &Cell, mut poster: P, cpus: &CpuSet) -> Result<Vec<Message>, String> {
    settle(cpus, SENDER)?;
    let mut messages = Vec::with_capacity(cell.messages as usize);
    let mut next = clock::now();
    for index in 0..cell.messages {
        next = (next + PERIOD).max(clock::now());
        thread::sleep(next.saturating_sub(clock::now()));
        has_issued();
        let sent = clock::now();
        // No room: it is lost, and counted.
        poster.post(index, false);
        messages.push(Message { sent, handled: None, skipped: !has_issued() });
    }
    Ok(messages)
}

fn post_low<P: Post>(mut poster: P, cpus: &CpuSet, window: Duration, ends: &AtomicBool) -> Vec<Span> {
    let mut spans = Vec::new();
    if settle(cpus, 0).is_err() {
        return spans;
    }
    stretch(window);
    while !ends.load(Ordering::Acquire) {
        thread::sleep(LOW_PERIOD);
        let from = clock::now();
        poster.post(LOW, false);
        let span = Span { from, to: clock::now() };
        if span.to - span.from >= LATE / 2 {
            spans.push(span);
        }
    }
    spans
}

fn run_in_bursts(cpus: &CpuSet, ends: &AtomicBool) -> Result<(), String> {
    settle(cpus, BURST)?;
    let mut chance = 0x9e37_79b9_7f4a_7c15_u64;
    while !ends.load(Ordering::Acquire) {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        thread::sleep(Duration::from_micros(200 + chance % 1500));
        let until = clock::now() + Duration::from_micros(20 + (chance >> 32) % 980);
        while clock::now() < until {
            std::hint::spin_loop();
        }
    }
    Ok(())
}
