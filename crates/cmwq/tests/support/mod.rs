//! What the tests share: hangs become failures, conditions are waited for, threads are counted.
#![allow(dead_code, reason = "every test target uses a part of it")]

use cmwq::{Queue, Work};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How long a test may hang before it is ended.
pub(crate) const HANG: Duration = Duration::from_secs(60);

/// Ends the process when the test of this name is not over in time.
pub(crate) struct Watchdog(#[allow(dead_code, reason = "its drop tells that the test is over")] Sender<()>);

/// To be kept until the end of the test.
#[must_use]
pub(crate) fn watchdog(test: &'static str) -> Watchdog {
    watchdog_for(test, HANG)
}

/// The same, for a test that takes longer.
#[must_use]
pub(crate) fn watchdog_for(test: &'static str, time: Duration) -> Watchdog {
    let (over, watched) = channel::<()>();
    std::thread::spawn(move || {
        if watched.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
            // Not by `eprintln`, which the test harness captures and would lose.
            let _ = writeln!(std::io::stderr(), "{test} hangs");
            std::process::abort();
        }
    });
    Watchdog(over)
}

/// Waits until something holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < HANG / 2, "{what}: not within {:?}", HANG / 2);
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Keeps something from happening until it is opened.
pub(crate) struct Gate(Sender<()>);

/// A gate, and what is to wait at it.
pub(crate) fn gate() -> (Gate, Receiver<()>) {
    let (open, closed) = channel();
    (Gate(open), closed)
}

impl Gate {
    pub(crate) fn open(self) {
        drop(self);
    }
}

/// Waits until the gate is open.
pub(crate) fn pass(gate: &Receiver<()>) {
    let _ = gate.recv();
}

/// The calling thread, as the system shows it.
pub(crate) fn this_thread() -> PathBuf {
    Path::new("/proc").join(fs::read_link("/proc/thread-self").expect("the system shows its threads"))
}

/// Waits until a thread sleeps and goes on sleeping, as it does not for a lock, or is gone.
pub(crate) fn until_asleep(thread: &Path) {
    let mut before = None;
    until("it sleeps", || {
        let Ok(status) = fs::read_to_string(thread.join("status")) else { return true };
        let field = |key| status.lines().find(|line| line.starts_with(key)).map(str::to_owned);
        let sleeps = field("State:").is_some_and(|state| state.contains("S (sleeping)"));
        let slept = sleeps.then(|| field("voluntary_ctxt_switches:")).flatten();
        let goes_on = slept.is_some() && slept == before;
        before = slept;
        goes_on
    });
}

/// Keeps a worker of the queue inside an item until the gate is opened; the item has started. It
/// counts as submitted where this is called.
#[track_caller]
pub(crate) fn held(queue: &Queue) -> Gate {
    let (open, closed) = gate();
    let (started, begun) = gate();
    drop(queue.spawn(move || {
        started.open();
        pass(&closed);
    }));
    pass(&begun);
    open
}

/// A work, and how often it has run.
pub(crate) fn counting() -> (Work, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&runs);
    let work = Work::new(move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
    });
    (work, runs)
}

/// Says that a test cannot run here.
pub(crate) fn skip(reason: &str) {
    let line = format!("skipped: {reason}");
    let _ = writeln!(std::io::stderr(), "{line}");
    if let Some(path) = std::env::var_os("CMWQ_SKIPS") {
        let file = fs::OpenOptions::new().create(true).append(true).open(path);
        let _ = file.and_then(|mut file| writeln!(file, "{line}"));
    }
}

/// How often a body is repeated: `CMWQ_ROUNDS`, or else this.
pub(crate) fn rounds(default: usize) -> usize {
    std::env::var("CMWQ_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// The names of this process's threads that begin so.
pub(crate) fn threads_named(prefix: &str) -> Vec<String> {
    let tasks = fs::read_dir("/proc/self/task").expect("the system lists threads");
    let names = tasks.filter_map(|task| fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.map(|name| name.trim_end().to_owned()).filter(|name| name.starts_with(prefix)).collect()
}

/// A line of the calling thread's status, without its key.
pub(crate) fn own_status(key: &str) -> String {
    let status = fs::read_to_string("/proc/thread-self/status").expect("the system tells a thread's status");
    let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
    line.unwrap_or_else(|| panic!("no {key} in the status")).trim().to_owned()
}

/// Runs one test of this very binary in a process of its own, with a variable set that tells it so.
pub(crate) fn run_alone(test: &str) -> std::process::Output {
    let this = std::env::current_exe().expect("the test binary has a path");
    let mut child = std::process::Command::new(this);
    child.args([test, "--exact", "--nocapture", "--include-ignored"]).env("CMWQ_ALONE", "1");
    child.output().expect("the test binary can be run again")
}

/// Whether this process is one made by [`run_alone`].
pub(crate) fn is_alone() -> bool {
    std::env::var_os("CMWQ_ALONE").is_some()
}

/// Random numbers from a seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 11) % bound
    }
}
