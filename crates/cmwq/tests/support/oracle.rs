//! A sequential oracle: one thread's calls on works and queues of its own, beside a plain model that says what each
//! call must answer and what must have run.
//!
//! Runs are under the thread's control, so that the model knows the state between any two calls: what runs in the wide
//! queue stays inside its function until it is released, and the narrow queue is either held by a blocker or lets items
//! run through. What happens between is the engine's: hand-overs, timers, batches, leases, and other threads' items.

use cmwq::{Enable, Engine, Queue, Refusal, Scope, Submit, Work};
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

const LONG: Duration = Duration::from_secs(36_000);
const HANG: Duration = Duration::from_secs(30);
const ITEMS: usize = 6;
const LIMIT_MAX: usize = 4;

#[derive(Default)]
struct Inside {
    /// The next run stays until it is released.
    stay: bool,
    is_released: bool,
    started: u64,
    ended: u64,
}

/// How the thread controls and observes the runs of one item.
#[derive(Default)]
struct Control {
    inside: Mutex<Inside>,
    changed: Condvar,
}

impl Control {
    fn run(&self) {
        let mut inside = self.inside.lock().unwrap();
        inside.started += 1;
        self.changed.notify_all();
        if std::mem::take(&mut inside.stay) {
            inside = self.changed.wait_while(inside, |i| !i.is_released).unwrap();
            inside.is_released = false;
        }
        inside.ended += 1;
        self.changed.notify_all();
    }

    fn wait(&self, what: &str, until: impl Fn(&Inside) -> bool) {
        let mut inside = self.inside.lock().unwrap();
        // Second by second: a process that has been stopped meanwhile has not hung.
        for _ in 0..HANG.as_secs() {
            let second = Duration::from_secs(1);
            let (after, timeout) = self.changed.wait_timeout_while(inside, second, |i| !until(i)).unwrap();
            if !timeout.timed_out() {
                return;
            }
            inside = after;
        }
        panic!("{what}: not within {HANG:?}");
    }
}

/// One of the thread's queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Narrow,
    Wide,
}

/// Where a pending instance is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Timer(At),
    /// Behind the item's own run.
    Behind(At),
    /// In the queue, behind its limit.
    Waiting(At),
}

struct Item {
    work: Work,
    control: Arc<Control>,
    pending: Option<Place>,
    is_running: bool,
    /// What is pending was left to the end of a run.
    is_late: bool,
    depth: u32,
    runs: u64,
}

/// The calls of one thread, and what they must do.
pub(crate) struct Oracle {
    narrow: Queue,
    wide: Queue,
    items: Vec<Item>,
    blocker: Option<Arc<Control>>,
    limit: usize,
    waiting: VecDeque<usize>,
    /// What was done last, for who looks at a failure.
    trace: VecDeque<String>,
}

impl Oracle {
    pub(crate) fn new(engine: &Engine, ordered: bool) -> Oracle {
        let narrow = engine.queue("narrow").scope(Scope::System);
        let narrow = if ordered { engine.queue("ordered").ordered() } else { narrow.max_active(1) };
        let wide = engine.queue("wide").scope(Scope::System).max_active(LIMIT_MAX as u32);
        let item = || {
            let control = Arc::new(Control::default());
            let inside = Arc::clone(&control);
            let work = Work::new(move |_| inside.run());
            Item { work, control, pending: None, is_running: false, is_late: false, depth: 0, runs: 0 }
        };
        Oracle {
            narrow: narrow.build().unwrap(),
            wide: wide.build().unwrap(),
            items: (0..ITEMS).map(|_| item()).collect(),
            blocker: None,
            limit: LIMIT_MAX,
            waiting: VecDeque::new(),
            trace: VecDeque::new(),
        }
    }

    /// One call, chosen by a number; then everything is compared.
    pub(crate) fn step(&mut self, code: u32) {
        let n = (code >> 8) as usize % ITEMS;
        let at = if code >> 16 & 1 == 0 { At::Narrow } else { At::Wide };
        let zero = code >> 17 & 1 == 0;
        self.trace.push_back(format!("{} item {n} {at:?} zero {zero}", code % 24));
        if self.trace.len() > 40 {
            self.trace.pop_front();
        }
        match code % 24 {
            0..3 => self.submit(n, at),
            3 | 4 => self.submit_later(n, at),
            5 => self.submit_soon(n, at),
            6..9 => self.modify(n, at, zero),
            9 | 10 => self.cancel(n),
            11 => self.cancel_sync(n),
            12 => self.disable(n, zero),
            13 | 14 => self.enable(n),
            15 => self.enable_and_queue(n, at),
            16 => self.flush(n),
            17..20 => self.release(n),
            20 => self.hold(),
            21 => self.open(),
            22 => self.limit(1 + (code >> 18) as usize % LIMIT_MAX),
            _ => self.wait_for_queue(at, zero),
        }
        self.check();
    }

    /// Ends what is left, and compares for the last time.
    pub(crate) fn finish(mut self) {
        self.open();
        for n in 0..ITEMS {
            self.items[n].control.inside.lock().unwrap().stay = false;
            self.cancel(n);
        }
        (0..ITEMS).for_each(|n| self.release(n));
        self.check();
        self.wide.clone().destroy().unwrap();
        self.narrow.clone().destroy().unwrap();
    }

    fn queue(&self, at: At) -> Queue {
        match at {
            At::Narrow => self.narrow.clone(),
            At::Wide => self.wide.clone(),
        }
    }

    fn fail(&self, what: &str) -> ! {
        panic!("{what}; the last calls:\n{}", Vec::from(self.trace.clone()).join("\n"));
    }

    fn equal<T: PartialEq + std::fmt::Debug>(&self, what: &str, got: &T, wanted: &T) {
        if got != wanted {
            self.fail(&format!("{what}: {got:?}, and not {wanted:?}"));
        }
    }

    fn nr_running(&self) -> usize {
        self.items.iter().filter(|i| i.is_running).count()
    }

    // ---- what the model does ----

    /// What a claim must answer.
    fn claim(&self, n: usize) -> Submit {
        let item = &self.items[n];
        match (item.depth, item.pending) {
            (0, None) => Submit::Queued,
            (0, Some(_)) => Submit::AlreadyPending,
            _ => Submit::Refused(Refusal::Disabled),
        }
    }

    /// Before a call that makes an instance for this queue.
    fn prepare(&mut self, n: usize, at: At) {
        self.items[n].control.inside.lock().unwrap().stay = at == At::Wide;
    }

    /// An instance has been given to a queue.
    fn deliver(&mut self, n: usize, at: At) {
        if self.items[n].is_running {
            self.items[n].pending = Some(Place::Behind(at));
            return;
        }
        match at {
            At::Narrow if self.blocker.is_some() => self.items[n].pending = Some(Place::Waiting(at)),
            At::Narrow => self.ran_through(n),
            At::Wide => {
                self.items[n].pending = Some(Place::Waiting(at));
                self.waiting.push_back(n);
                self.start();
            }
        }
    }

    fn ran_through(&mut self, n: usize) {
        let item = &mut self.items[n];
        item.pending = None;
        item.is_late = false;
        item.runs += 1;
        let runs = item.runs;
        item.control.wait("an item runs", |i| i.ended >= runs);
    }

    /// Lets those start for whom there is room.
    fn start(&mut self) {
        while self.nr_running() < self.limit && !self.waiting.is_empty() {
            let n = self.next();
            self.waiting.retain(|&w| w != n);
            let item = &mut self.items[n];
            item.pending = None;
            item.is_running = true;
            item.is_late = false;
            item.runs += 1;
            let runs = item.runs;
            item.control.wait("an item starts", |i| i.started >= runs);
        }
    }

    /// Who starts next: the first of those that wait. But an instance that was left to the end of a run is queued by
    /// the worker after that end, and whatever was queued meanwhile may be before it: then whoever does start.
    fn next(&self) -> usize {
        let first = self.waiting.iter().position(|&n| !self.items[n].is_late);
        let last = first.unwrap_or(self.waiting.len() - 1);
        let has_started = |n: &&usize| {
            let item = &self.items[**n];
            item.control.inside.lock().unwrap().started > item.runs
        };
        if last == 0 {
            return self.waiting[0];
        }
        for _ in 0..HANG.as_millis() {
            if let Some(n) = self.waiting.range(..=last).find(has_started) {
                return *n;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.fail("none of those that wait starts");
    }

    fn take(&mut self, n: usize) -> bool {
        self.items[n].is_late = false;
        self.waiting.retain(|&w| w != n);
        self.items[n].pending.take().is_some()
    }

    // ---- calls ----

    fn submit(&mut self, n: usize, at: At) {
        let wanted = self.claim(n);
        if wanted == Submit::Queued {
            self.prepare(n, at);
        }
        let got = self.queue(at).queue(&self.items[n].work);
        self.equal("queue", &got, &wanted);
        if got == Submit::Queued {
            self.deliver(n, at);
        }
    }

    fn submit_later(&mut self, n: usize, at: At) {
        let wanted = self.claim(n);
        if wanted == Submit::Queued {
            self.prepare(n, at);
        }
        let got = self.queue(at).queue_delayed(&self.items[n].work, LONG);
        self.equal("queue_delayed", &got, &wanted);
        if got == Submit::Queued {
            self.items[n].pending = Some(Place::Timer(at));
        }
    }

    /// With a time that passes now, where it can be seen that it has.
    fn submit_soon(&mut self, n: usize, at: At) {
        let is_open = match at {
            At::Narrow => self.blocker.is_none(),
            At::Wide => self.nr_running() < self.limit,
        };
        if !is_open || self.items[n].is_running || self.claim(n) != Submit::Queued {
            return;
        }
        self.prepare(n, at);
        let got = self.queue(at).queue_delayed(&self.items[n].work, Duration::from_micros(50));
        self.equal("queue_delayed", &got, &Submit::Queued);
        self.deliver(n, at);
    }

    fn modify(&mut self, n: usize, at: At, zero: bool) {
        let wanted = match self.claim(n) {
            Submit::Refused(refusal) => Err(refusal),
            other => Ok(other == Submit::AlreadyPending),
        };
        if wanted.is_ok() {
            self.prepare(n, at);
        }
        let delay = if zero { Duration::ZERO } else { LONG };
        let got = self.queue(at).mod_delayed(&self.items[n].work, delay);
        self.equal("mod_delayed", &got, &wanted);
        if got.is_err() {
            return;
        }
        self.take(n);
        if zero {
            self.deliver(n, at);
        } else {
            self.items[n].pending = Some(Place::Timer(at));
        }
    }

    fn cancel(&mut self, n: usize) {
        let got = self.items[n].work.cancel();
        let wanted = self.take(n);
        self.equal("cancel", &got, &wanted);
    }

    /// While the run ends, if it has no other behind it.
    fn cancel_sync(&mut self, n: usize) {
        if self.items[n].is_running {
            if self.items[n].pending.is_some() {
                return;
            }
            self.let_go(n);
        }
        let got = self.items[n].work.cancel_sync();
        let wanted = Ok(self.take(n));
        self.equal("cancel_sync", &got, &wanted);
        self.equal("running after a cancel", &self.items[n].work.is_running(), &false);
        self.items[n].is_running = false;
        self.start();
    }

    fn disable(&mut self, n: usize, sync: bool) {
        if self.items[n].depth == 3 || sync && self.items[n].is_running {
            return;
        }
        let work = &self.items[n].work;
        let got = if sync { work.disable_sync().unwrap() } else { work.disable() };
        let wanted = self.take(n);
        self.equal("disable", &got, &wanted);
        self.items[n].depth += 1;
    }

    fn take_back_disable(&mut self, n: usize) -> Enable {
        let depth = &mut self.items[n].depth;
        let answer = match *depth {
            0 => return Enable::WasEnabled,
            1 => Enable::Enabled,
            _ => Enable::StillDisabled,
        };
        *depth -= 1;
        answer
    }

    fn enable(&mut self, n: usize) {
        let got = self.items[n].work.enable();
        let wanted = self.take_back_disable(n);
        self.equal("enable", &got, &wanted);
    }

    fn enable_and_queue(&mut self, n: usize, at: At) {
        let is_last = self.items[n].depth == 1;
        if is_last {
            self.prepare(n, at);
        }
        let got = self.queue(at).enable_and_queue(&self.items[n].work);
        let _ = self.take_back_disable(n);
        self.equal("enable_and_queue", &got, &is_last.then_some(Submit::Queued));
        if is_last {
            self.deliver(n, at);
        }
    }

    /// Of an idle item, or of a delayed one that can run at once.
    fn flush(&mut self, n: usize) {
        if self.items[n].is_running {
            return;
        }
        let wanted = match self.items[n].pending {
            None => false,
            Some(Place::Timer(At::Narrow)) if self.blocker.is_none() => true,
            Some(Place::Timer(At::Wide)) if self.nr_running() < self.limit => true,
            _ => return,
        };
        self.items[n].control.inside.lock().unwrap().stay = false;
        let got = self.items[n].work.flush();
        if !matches!(got, Ok(waited) if waited == wanted) {
            self.fail(&format!("flush: {got:?}, and not {wanted}"));
        }
        if wanted {
            self.ran_through(n);
        }
    }

    fn let_go(&self, n: usize) {
        let control = &self.items[n].control;
        control.inside.lock().unwrap().is_released = true;
        control.changed.notify_all();
    }

    fn release(&mut self, n: usize) {
        if !self.items[n].is_running {
            return;
        }
        self.let_go(n);
        let runs = self.items[n].runs;
        self.items[n].control.wait("an item ends", |i| i.ended >= runs);
        self.items[n].is_running = false;
        if let Some(Place::Behind(at)) = self.items[n].pending {
            self.items[n].is_late = true;
            self.deliver(n, at);
        }
        // Otherwise nothing is pending, or it was put on a timer while it ran.
        self.start();
    }

    fn hold(&mut self) {
        if self.blocker.is_some() {
            return;
        }
        let control = Arc::new(Control::default());
        control.inside.lock().unwrap().stay = true;
        let inside = Arc::clone(&control);
        let _detached = self.narrow.try_spawn(move || inside.run()).unwrap();
        control.wait("the blocker starts", |i| i.started == 1);
        self.blocker = Some(control);
    }

    fn open(&mut self) {
        let Some(control) = self.blocker.take() else { return };
        control.inside.lock().unwrap().is_released = true;
        control.changed.notify_all();
        for n in 0..ITEMS {
            if self.items[n].pending == Some(Place::Waiting(At::Narrow)) {
                self.ran_through(n);
            }
        }
    }

    fn limit(&mut self, limit: usize) {
        self.wide.set_max_active(limit as u32).unwrap();
        self.limit = limit;
        self.start();
    }

    /// A flush or a drain of a queue in which nothing stays.
    fn wait_for_queue(&mut self, at: At, drain: bool) {
        let is_quiet = match at {
            At::Narrow => {
                let behind = |i: &Item| i.pending == Some(Place::Behind(At::Narrow));
                self.blocker.is_none() && !self.items.iter().any(behind)
            }
            At::Wide => {
                let behind = |i: &Item| i.pending == Some(Place::Behind(At::Wide));
                self.nr_running() == 0 && !self.items.iter().any(behind)
            }
        };
        if is_quiet {
            let queue = self.queue(at);
            let got = if drain { queue.drain() } else { queue.flush() };
            self.equal("flush or drain", &got, &Ok(()));
        }
    }

    /// What can be seen from outside.
    fn check(&self) {
        for (n, item) in self.items.iter().enumerate() {
            self.equal(&format!("pending {n}"), &item.work.is_pending(), &item.pending.is_some());
            self.equal(&format!("disabled {n}"), &item.work.is_disabled(), &(item.depth > 0));
            let started = item.control.inside.lock().unwrap().started;
            self.equal(&format!("runs of {n}"), &started, &item.runs);
            // The end of a function comes a little before the end of the run.
            let begun = Instant::now();
            while item.work.is_running() != item.is_running {
                if begun.elapsed() > HANG {
                    self.fail(&format!("running {n}: not {}", item.is_running));
                }
                std::thread::yield_now();
            }
        }
    }
}
