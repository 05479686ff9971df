//! A sequential driver of one pool for tests: what threads, wake words and the lock do in the runtime is a method
//! call here, each at most one hold of the lock. After every event the counts and gates are checked, after every
//! hold the baton and the cover.

use super::action::{Actions, Verdict};
use super::core::PoolCore;
use super::event::Event;
use super::inbox_word::{InboxWord, Taken};
use super::invariants::{Broken, Outside};
use super::policy::PoolConfig;
use super::record::Recorder;
use crate::id::{PwqId, Sleeper, WorkerId};
use crate::list::Items;
use crate::testing::TestItems;
use crate::time::{Span, Tick};
use crate::worker::{BatchWord, State};

/// An item that a worker has started: what must be known of it when its memory is already somebody else's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) item: u32,
    pwq: PwqId,
    function: Option<usize>,
}

/// What the thread of one worker slot does.
#[derive(Clone, Debug, Default)]
pub(super) struct Thread {
    places: Vec<u32>,
    batch: BatchWord,
    /// The item it is inside.
    pub(super) current: Option<Run>,
    /// Items that it runs inside that one, which waits for the first, the first for the second and so on.
    pub(super) awaited: Vec<Run>,
    /// Items it has run and not reported.
    unreported: Vec<Run>,
    /// It sleeps, with or without a time-out.
    pub(super) is_asleep: bool,
    /// The worker it has been told to create.
    pub(super) creates: Option<WorkerId>,
}

pub(super) struct Driver {
    pub(super) core: PoolCore<u32>,
    pub(super) items: TestItems,
    pub(super) now: Tick,
    pub(super) inbox: InboxWord<u32>,
    below: Vec<Option<u32>>,
    /// By item: submitted and neither started nor cancelled.
    pub(super) pending: Vec<bool>,
    pub(super) threads: Vec<Thread>,
    actions: Actions<u32>,
    /// Wake-ups issued and not yet consumed, in order.
    pub(super) woken: Vec<Sleeper>,
    /// The worker that the manager thread has been told to create.
    pub(super) manager_creates: Option<WorkerId>,
    /// Items started, with their workers.
    pub(super) started: Vec<(WorkerId, u32)>,
    pub(super) cull_at: Option<Tick>,
    pub(super) retry_at: Option<Tick>,
    recorder: Option<Recorder>,
    /// Everything that has happened, for the message of a failed check.
    history: Vec<Event<u32>>,
}

impl Driver {
    /// A pool without workers and without items, one pwq.
    pub(super) fn new(config: PoolConfig, max_active: u32) -> Self {
        let mut core = PoolCore::new(config);
        core.add_pwq(max_active);
        Driver {
            core,
            items: TestItems::default(),
            now: Tick(0),
            inbox: InboxWord::StandBy(Sleeper::Manager),
            below: Vec::new(),
            pending: Vec::new(),
            threads: Vec::new(),
            actions: Actions::default(),
            woken: Vec::new(),
            manager_creates: None,
            started: Vec::new(),
            cull_at: None,
            retry_at: None,
            recorder: None,
            history: Vec::new(),
        }
    }

    /// A pool with so many idle workers, `w0` the one that has been idle longest.
    pub(super) fn with_idle(config: PoolConfig, max_active: u32, count: u32) -> Self {
        let mut driver = Driver::new(config, max_active);
        for _ in 0..count {
            let worker = driver.core.wants_spare(driver.now, None).expect("none is idle yet");
            driver.created(worker);
            driver.start_thread(worker);
        }
        for worker in 0..count {
            driver.sleep(WorkerId(worker));
        }
        driver
    }

    pub(super) fn add_item(&mut self, pwq: u32, function: Option<usize>) -> u32 {
        self.below.push(None);
        self.pending.push(false);
        self.items.add(PwqId(pwq), function)
    }

    /// Records from here on, with room for this many bytes.
    pub(super) fn record(&mut self, bytes: usize) {
        self.recorder = Some(Recorder::new(&self.core, &self.items, bytes));
    }

    pub(super) fn recorder(&self) -> &Recorder {
        self.recorder.as_ref().expect("it records")
    }

    // ---- one event, and the end of a hold ----

    pub(super) fn step(&mut self, event: Event<u32>) {
        self.history.push(event);
        let (core, items, actions) = (&mut self.core, &mut self.items, &mut self.actions);
        match &mut self.recorder {
            Some(recorder) => recorder.step(core, self.now, event, items, actions),
            None => core.step(self.now, event, items, actions),
        }
        self.hold_true(self.core.check_counts());
        self.hold_true(self.core.check_gates());
    }

    fn hold_true(&self, checked: Result<(), Broken>) {
        if let Err(broken) = checked {
            let last = &self.history[self.history.len().saturating_sub(16)..];
            panic!("{broken:?} after {last:?} in {:?}", self.core);
        }
    }

    /// Takes the inbox, and recalls all batches if an item went inactive.
    pub(super) fn take(&mut self) {
        let mut at = match self.inbox.take().apply(&mut self.inbox) {
            Taken::Nothing => return,
            Taken::Withdrawn(_) => None,
            Taken::List(newest) => Some(newest),
        };
        let mut newest_first = Vec::new();
        while let Some(item) = at {
            newest_first.push(item);
            at = self.below[item as usize];
        }
        self.step(Event::Taken);
        for item in newest_first.into_iter().rev() {
            self.step(Event::Arrive(item));
        }
        if core::mem::take(&mut self.actions.recall) {
            self.recall_all();
        }
    }

    /// Takes back what a worker has claimed and not started, and reports what it has come past. A single item is in
    /// no
    /// batch: its worker is about to start it.
    fn recall(&mut self, worker: WorkerId) {
        if !self.core.has_batch(worker) {
            return;
        }
        let thread = &mut self.threads[worker.index()];
        let (from, to) = thread.batch.recall().apply(&mut thread.batch);
        for place in (from..to).rev() {
            let item = self.threads[worker.index()].places[place];
            self.step(Event::Return(worker, item));
        }
        // Nobody but the worker knows whether the last item it has started has ended.
        let thread = &mut self.threads[worker.index()];
        let past = thread.unreported.len().saturating_sub(usize::from(thread.current.is_none()));
        let past: Vec<Run> = thread.unreported.drain(..past).collect();
        past.into_iter().for_each(|run| self.finish(worker, run));
    }

    pub(super) fn recall_all(&mut self) {
        let holders: Vec<WorkerId> = self.core.batch_holders().collect();
        holders.into_iter().rev().for_each(|worker| self.recall(worker));
    }

    fn report(&mut self, worker: WorkerId) {
        let unreported = core::mem::take(&mut self.threads[worker.index()].unreported);
        unreported.into_iter().for_each(|run| self.finish(worker, run));
    }

    fn finish(&mut self, worker: WorkerId, run: Run) {
        let Run { item, pwq, function } = run;
        self.step(Event::Finish { worker, item, pwq, owned_by_caller: function.is_some() });
    }

    /// Ends a hold of the lock: performs what has been decided.
    pub(super) fn settle(&mut self) -> Verdict {
        let verdict = self.actions.verdict;
        loop {
            if core::mem::take(&mut self.actions.recall) {
                self.recall_all();
                self.step(Event::Cover);
            } else if let Some(sleeper) = self.actions.stand_by.take() {
                if !self.inbox.stand_by(sleeper).apply(&mut self.inbox) {
                    self.take();
                    self.step(Event::Cover);
                }
            } else {
                break;
            }
        }
        match &mut self.recorder {
            Some(recorder) => recorder.end_hold(&mut self.core, &mut self.items),
            None => self.core.end_hold(&mut self.items),
        }
        let wakes: Vec<Sleeper> = self.actions.wake.iter().collect();
        wakes.into_iter().for_each(|sleeper| self.wake_up(sleeper));
        self.cull_at = self.actions.cull_at.or(self.cull_at);
        self.retry_at = self.actions.retry_at.or(self.retry_at);
        self.actions.clear();
        self.check_hold();
        verdict
    }

    fn wake_up(&mut self, sleeper: Sleeper) {
        if !self.woken.contains(&sleeper) {
            self.woken.push(sleeper);
        }
    }

    fn check_hold(&self) {
        let is_woken = |sleeper| self.woken.contains(&sleeper);
        let outside = Outside { inbox: self.inbox, is_woken: &is_woken };
        self.hold_true(self.core.check_baton(&outside));
        self.hold_true(self.core.check_cover(&outside));
        if self.core.config().claim == super::ClaimPolicy::Kicked {
            // Workers that culling has told to end are woken as well, but not for work.
            let owed = |worker| self.inbox == InboxWord::StandBy(Sleeper::Worker(worker));
            self.hold_true(self.core.check_no_owed_dies(&owed));
        }
    }

    // ---- submitters, the manager, the culler ----

    pub(super) fn submit(&mut self, item: u32) {
        self.push(item);
        self.check_hold();
    }

    /// A submission pushes an item, and wakes whom it must; perhaps while somebody holds the lock.
    pub(super) fn push(&mut self, item: u32) {
        assert!(!core::mem::replace(&mut self.pending[item as usize], true), "{item} is pending");
        let pushed = self.inbox.push(item, self.items.pwq(item)).apply(&mut self.inbox);
        self.below[item as usize] = pushed.below;
        if let Some(sleeper) = pushed.wake {
            self.wake_up(sleeper);
        }
    }

    /// Adds so many items of the first pwq and submits them.
    pub(super) fn submit_new(&mut self, count: u32) -> Vec<u32> {
        let new: Vec<u32> = (0..count).map(|_| self.add_item(0, None)).collect();
        new.iter().for_each(|&item| self.submit(item));
        new
    }

    /// A canceller withdraws a pending item. `false`: its worker is about to start it.
    pub(super) fn cancel(&mut self, item: u32) -> bool {
        assert!(self.pending[item as usize], "{item} is not pending");
        self.take();
        self.recall_all();
        let starts =
            (0..self.threads.len() as u32).any(|worker| self.batch(WorkerId(worker)).contains(&item));
        if !starts {
            self.pending[item as usize] = false;
            self.step(Event::Cancel(item));
        }
        self.step(Event::Cover);
        let _ = self.settle();
        !starts
    }

    /// The manager thread looks after the pool, whether woken or by its clock.
    pub(super) fn manager_look(&mut self) -> Verdict {
        self.woken.retain(|&s| s != Sleeper::Manager);
        self.retry_at = None;
        self.step(Event::ManagerLook { inbox: matches!(self.inbox, InboxWord::List(_)) });
        let verdict = self.settle();
        if let Verdict::Create(worker) = verdict {
            self.manager_creates = Some(worker);
        }
        verdict
    }

    pub(super) fn created(&mut self, worker: WorkerId) {
        self.make_thread(worker);
        self.report_created(worker);
    }

    /// The thread exists; its creator has not said so yet.
    pub(super) fn make_thread(&mut self, worker: WorkerId) {
        self.threads.resize_with(self.threads.len().max(worker.index() + 1), Thread::default);
        self.threads[worker.index()] = Thread::default();
    }

    pub(super) fn report_created(&mut self, worker: WorkerId) {
        self.end_creation(worker, Event::Created(worker));
    }

    pub(super) fn create_failed(&mut self, worker: WorkerId) {
        self.end_creation(worker, Event::CreateFailed(worker));
    }

    fn end_creation(&mut self, worker: WorkerId, event: Event<u32>) {
        self.step(event);
        for thread in &mut self.threads {
            thread.creates = thread.creates.filter(|&w| w != worker);
        }
        self.manager_creates = self.manager_creates.filter(|&w| w != worker);
        let _ = self.settle();
    }

    pub(super) fn cull(&mut self) {
        self.cull_at = None;
        self.step(Event::Cull);
        let _ = self.settle();
    }

    pub(super) fn close(&mut self) {
        while !self.core.is_closed() {
            self.step(Event::Close);
            let _ = self.settle();
        }
    }

    // ---- what a worker's thread does ----

    /// A created thread begins to run; it has not looked yet.
    pub(super) fn start_thread(&mut self, worker: WorkerId) {
        self.step(Event::Started(worker));
        let _ = self.settle();
    }

    /// Reports, takes, asks.
    pub(super) fn look(&mut self, worker: WorkerId) -> Verdict {
        self.report(worker);
        self.take();
        self.step(Event::Look(worker));
        self.obey(worker)
    }

    /// Like [`Driver::look`], and goes idle in the same hold when there is nothing to do.
    pub(super) fn sleep(&mut self, worker: WorkerId) -> Verdict {
        self.report(worker);
        self.take();
        self.step(Event::Look(worker));
        if let Verdict::Rest { .. } = self.actions.verdict {
            self.step(Event::GoIdle(worker));
            self.threads[worker.index()].is_asleep = true;
        }
        self.obey(worker)
    }

    /// A sleeping worker runs again, woken or by its own.
    pub(super) fn wake(&mut self, worker: WorkerId) -> Verdict {
        self.woken.retain(|&s| s != Sleeper::Worker(worker));
        self.threads[worker.index()].is_asleep = false;
        self.step(Event::Woken { worker, progress: self.started.len() as u64 });
        if self.actions.verdict == Verdict::None {
            self.take();
            self.step(Event::Look(worker));
        }
        self.obey(worker)
    }

    /// The time-out of a watching worker passes.
    pub(super) fn watch_look(&mut self, worker: WorkerId) -> Verdict {
        self.woken.retain(|&s| s != Sleeper::Worker(worker));
        self.threads[worker.index()].is_asleep = false;
        let inbox = matches!(self.inbox, InboxWord::List(_));
        self.step(Event::WatchLook { worker, progress: self.started.len() as u64, inbox });
        match self.actions.verdict {
            Verdict::None => {
                self.take();
                self.step(Event::Look(worker));
            }
            Verdict::Rest { .. } => {
                self.step(Event::GoIdle(worker));
                self.threads[worker.index()].is_asleep = true;
            }
            _ => {}
        }
        self.obey(worker)
    }

    fn obey(&mut self, worker: WorkerId) -> Verdict {
        let thread = &mut self.threads[worker.index()];
        match self.actions.verdict {
            Verdict::Run => {
                thread.places = self.actions.batch.iter().collect();
                thread.batch = BatchWord::filled(thread.places.len());
                self.items.set_started(worker, 0);
            }
            Verdict::Create(other) => thread.creates = Some(other),
            Verdict::Watch(_) => thread.is_asleep = true,
            Verdict::Exit => self.step(Event::Exited(worker)),
            Verdict::Rest { .. } | Verdict::None | Verdict::Again => {}
        }
        match self.settle() {
            Verdict::Again => self.look(worker),
            verdict => verdict,
        }
    }

    /// The worker starts the next item of its batch.
    pub(super) fn start(&mut self, worker: WorkerId) -> Option<u32> {
        let thread = &mut self.threads[worker.index()];
        assert!(thread.current.is_none(), "{worker} is inside an item");
        let place = thread.batch.take().apply(&mut thread.batch)?;
        let item = thread.places[place];
        self.items.set_started(worker, place + 1);
        let run = self.begin(worker, item);
        self.threads[worker.index()].current = Some(run);
        Some(item)
    }

    fn begin(&mut self, worker: WorkerId, item: u32) -> Run {
        let run = Run { item, pwq: self.items.pwq(item), function: self.items.function(item) };
        assert!(self.runners().all(|(_, other)| other != run), "{item} runs twice at once");
        let beside = self.runners().filter(|(_, other)| other.pwq == run.pwq).count() as u32;
        assert!(beside < self.core.gate(run.pwq).max_active(), "more than max_active run");
        self.started.push((worker, item));
        self.pending[item as usize] = false;
        run
    }

    pub(super) fn runners(&self) -> impl Iterator<Item = (WorkerId, Run)> {
        let at = self.threads.iter().enumerate();
        at.flat_map(|(at, thread)| {
            let runs = thread.current.iter().chain(&thread.awaited);
            runs.map(move |run| (WorkerId(at as u32), *run))
        })
    }

    /// The item the worker is inside waits for a pending one, and the worker runs that if it may. Answers whether.
    pub(super) fn run_awaited(&mut self, worker: WorkerId, item: u32) -> bool {
        assert!(self.pending[item as usize], "{item} is not pending");
        self.report(worker);
        self.recall(worker);
        self.take();
        if !self.worklist().contains(&item) {
            self.recall_all();
        }
        let may = self.worklist().contains(&item) && self.items.function(item).is_none();
        if may {
            self.step(Event::ClaimAwaited(worker, item));
        }
        self.step(Event::Cover);
        let _ = self.settle();
        if may {
            let run = self.begin(worker, item);
            self.threads[worker.index()].awaited.push(run);
        }
        may
    }

    /// The innermost item that the worker runs for another returns.
    pub(super) fn end_awaited(&mut self, worker: WorkerId) {
        let run = self.threads[worker.index()].awaited.pop().expect("it runs one");
        self.finish(worker, run);
        self.step(Event::Cover);
        let _ = self.settle();
    }

    /// The function the worker is inside returns.
    pub(super) fn end(&mut self, worker: WorkerId) {
        let thread = &mut self.threads[worker.index()];
        thread.unreported.push(thread.current.take().expect("it is inside an item"));
    }

    /// Runs everything in the worker's batch.
    pub(super) fn run_batch(&mut self, worker: WorkerId) -> Vec<u32> {
        let mut items = Vec::new();
        while let Some(item) = self.start(worker) {
            self.end(worker);
            items.push(item);
        }
        items
    }

    /// The item the worker is inside is about to block: what has ended is reported, what has not started goes back.
    pub(super) fn block(&mut self, worker: WorkerId) {
        self.report(worker);
        self.recall(worker);
        self.step(Event::Block(worker));
        let _ = self.settle();
    }

    pub(super) fn unblock(&mut self, worker: WorkerId) {
        self.step(Event::Unblock(worker));
        let _ = self.settle();
    }

    pub(super) fn cpu_intensive(&mut self, worker: WorkerId) {
        self.report(worker);
        self.recall(worker);
        self.step(Event::CpuIntensive(worker));
        let _ = self.settle();
    }

    // ---- looking in ----

    /// Whether the worker's thread does not exist yet.
    pub(super) fn is_creating(&self, worker: WorkerId) -> bool {
        let by_workers = self.threads.iter().filter_map(|t| t.creates);
        by_workers.chain(self.manager_creates).any(|w| w == worker)
    }

    pub(super) fn state(&self, worker: WorkerId) -> State {
        self.core.workers()[worker.index()].state
    }

    /// What is left of the worker's batch, not started.
    pub(super) fn batch(&self, worker: WorkerId) -> Vec<u32> {
        let thread = &self.threads[worker.index()];
        thread.places[thread.batch.next()..thread.batch.end()].to_vec()
    }

    pub(super) fn worklist(&self) -> Vec<u32> {
        self.core.worklist().iter(&self.items).collect()
    }

    pub(super) fn pass(&mut self, span: Span) {
        self.now = self.now + span;
    }
}
