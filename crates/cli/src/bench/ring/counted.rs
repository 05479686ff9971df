//! Read-modify-writes and system calls of a post and of a message at the receiver, counted instruction by instruction.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::cell::Shape;
use super::systems::{CompletionRing, Counter, Crossbeam, MsgRing, MutexDeque, Post, Receive, System};
use crate::bench::stepped;
use crate::output::Failure;

/// Messages that are counted together.
const BURST: u64 = 64;
/// Bursts before that, so that no room is used for the first time.
const BURSTS_BEFORE: u64 = 600;
/// A receiver without messages is asleep by then.
const ASLEEP_WITHIN: Duration = Duration::from_secs(20);

/// What is counted of a shape in one process.
#[derive(Serialize, Deserialize)]
pub(super) struct Counted {
    shape: Shape,
    part: Part,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Part {
    /// Posts for which nobody waits.
    Post,
    /// Taking messages that are there.
    Take,
    /// A post to a receiver that sleeps.
    Wake,
}

/// What is counted of each shape.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Counts {
    /// A post for which nobody waits.
    pub(super) post: Each,
    /// A message that is there, at its receiver.
    pub(super) take: Each,
    /// A post to a receiver that sleeps.
    pub(super) wake: Each,
}

/// For each message.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Each {
    pub(super) rmw: f64,
    pub(super) calls: f64,
}

impl Counts {
    /// Counts in fresh processes. An error says why that is not to be had.
    pub(super) fn of(shape: Shape) -> Result<Counts, String> {
        let each = |part, messages: u64| {
            let counts = stepped::count("ring-counted", &Counted { shape, part })?;
            let per = |count: u64| count as f64 / messages as f64;
            Ok::<Each, String>(Each { rmw: per(counts.atomics), calls: per(counts.calls) })
        };
        Ok(Counts {
            post: each(Part::Post, BURST)?,
            take: each(Part::Take, BURST)?,
            wake: each(Part::Wake, 1)?,
        })
    }
}

/// In the fresh process.
pub(super) fn answer(counted: &Counted) -> Result<(), Failure> {
    let none = Counter::none;
    match counted.shape {
        Shape::Ring => answer_in(counted, &CompletionRing::new(none()).map_err(Failure::input)?),
        Shape::Mutex => answer_in(counted, &MutexDeque::new(false, none()).map_err(Failure::input)?),
        Shape::MutexSwap => answer_in(counted, &MutexDeque::new(true, none()).map_err(Failure::input)?),
        Shape::Crossbeam => answer_in(counted, &Crossbeam::new()),
        Shape::MsgRing => answer_in(counted, &MsgRing::new(none())),
    }
}

fn answer_in<S: System>(counted: &Counted, system: &S) -> Result<(), Failure> {
    let answered = match counted.part {
        Part::Post => alone(system, true),
        Part::Take => alone(system, false),
        Part::Wake => wake(system),
    };
    answered.map_err(Failure::input)
}

/// The posts or the taking of a burst.
fn alone<S: System>(system: &S, is_post: bool) -> Result<(), String> {
    let mut receiver = system.receiver()?;
    let mut poster = system.poster()?;
    let mut has_room = true;
    let mut post = || (0..BURST).for_each(|message| has_room &= poster.post(message, false));
    let mut take = || {
        let mut taken = 0;
        while taken < BURST {
            receiver.wait(1);
            receiver.drain(|_| taken += 1);
        }
    };
    for _ in 0..BURSTS_BEFORE {
        post();
        take();
    }
    let counted = if is_post {
        stepped::counted(post)
    } else {
        post();
        stepped::counted(take)
    };
    if !has_room {
        return Err(format!("no room for {BURST} messages"));
    }
    counted.map_err(|error| error.to_string())
}

/// A post to a receiver that sleeps, on another thread.
fn wake<S: System>(system: &S) -> Result<(), String> {
    let (is_there, there) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || receive(system, &is_there));
        let receiver = there.recv().map_err(|_| "the receiver is gone".to_owned())??;
        let mut poster = system.poster()?;
        // The first post fetches room for those that follow.
        poster.post(0, false);
        wait_for_sleep(&receiver)?;
        // With this process, whose counter ends it, the receiver ends.
        stepped::counted(|| _ = poster.post(1, false)).map_err(|error| error.to_string())
    })
}

fn receive<S: System>(system: &S, is_there: &mpsc::Sender<Result<PathBuf, String>>) {
    let place = fs::read_link("/proc/thread-self").map_err(|error| format!("this thread's name: {error}"));
    let receiver = place.and_then(|place| Ok((place, system.receiver()?)));
    let mut receiver = match receiver {
        Ok((place, receiver)) => {
            _ = is_there.send(Ok(place));
            receiver
        }
        Err(why) => {
            _ = is_there.send(Err(why));
            return;
        }
    };
    loop {
        receiver.wait(1);
        receiver.drain(|_| ());
    }
}

/// Waits until a thread sleeps for some time. `thread` is its place below `/proc`.
fn wait_for_sleep(thread: &Path) -> Result<(), String> {
    let stat = Path::new("/proc").join(thread).join("stat");
    let until = Instant::now() + ASLEEP_WITHIN;
    let mut seen = 0;
    while seen < 3 {
        if Instant::now() > until {
            return Err("the receiver does not sleep".to_owned());
        }
        thread::sleep(Duration::from_millis(2));
        let text = fs::read_to_string(&stat).map_err(|error| format!("the receiver's state: {error}"))?;
        // The name before it may hold anything, parentheses, too.
        let sleeps = text.rsplit_once(')').is_some_and(|(_, state)| state.trim_start().starts_with('S'));
        seen = if sleeps { seen + 1 } else { 0 };
    }
    Ok(())
}
