//! Who may keep an item waiting: the threads that could go on and have stopped for ever.
//!
//! A thread that stops for ever is one that the schedule never chooses again, and the exploration contains every
//! schedule. So stopping needs no step of its own: in each state take *all* threads that could go on as the stopped
//! ones; then nobody else can step, and every pending item must wait for one of the stopped, for a reason named here.
//! This covers any number of stops at any places.

use super::config::{Body, Config};
use super::property::{Reached, Reaches};
use super::state::{Came, Item, Pc, Seam, Stage, Thread, Who};
use cmwq_core::id::{PwqId, Sleeper, WorkerId};
use cmwq_core::list::Items;
use cmwq_core::worker::State;

/// Where a pending item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Claimed, or taken to be started, by this thread.
    InHands(usize),
    /// Left to this thread, which runs it.
    Handed(usize),
    /// In the inbox or on the worklist.
    Queued,
    /// Behind its gate.
    Inactive,
    /// In this worker's batch.
    Batch(usize),
    /// Kept for this worker, which is inside the same item.
    Punted(usize),
    /// Nowhere: lost.
    Nowhere,
}

impl Seam {
    pub(super) fn gates(&self) -> impl Iterator<Item = PwqId> + use<> {
        (0..u32::from(self.memory.pwq.iter().copied().max().unwrap_or(0)) + 1).map(PwqId)
    }

    /// Whether the item is in one of the pool's lists.
    pub(super) fn is_linked(&self, item: Item) -> bool {
        let waiting = self.core.gate(self.memory.pwq(item)).inactive();
        self.core.worklist().iter(&self.memory).any(|i| i == item)
            || waiting.iter(&self.memory).any(|i| i == item)
    }

    fn workers<'a>(&'a self, config: &'a Config) -> impl Iterator<Item = (usize, WorkerId)> + 'a {
        (0..config.slots()).map(|w| (self.index(config, Who::Worker(w)), WorkerId(u32::from(w))))
    }

    fn place(&self, config: &Config, item: Item) -> Place {
        let holds =
            |t: &Thread| t.item == item && matches!(t.pc, Pc::Push | Pc::HandOver | Pc::Record | Pc::Start);
        if let Some(at) = self.threads.iter().position(holds) {
            return Place::InHands(at);
        }
        if self.words[usize::from(item)].is_handed() {
            let runs = |&(at, _): &(usize, WorkerId)| self.threads[at].is_inside(item);
            return self.workers(config).find(runs).map_or(Place::Nowhere, |(at, _)| Place::Handed(at));
        }
        if self.inbox_items().any(|i| i == item) || self.core.worklist().iter(&self.memory).any(|i| i == item)
        {
            return Place::Queued;
        }
        if self.is_linked(item) {
            return Place::Inactive;
        }
        if let Some((at, _)) = self.workers(config).find(|&(at, w)| self.has_claimed(at, w, item)) {
            return Place::Batch(at);
        }
        self.punted_to(config, item).map_or(Place::Nowhere, Place::Punted)
    }

    fn punted_to(&self, config: &Config, item: Item) -> Option<usize> {
        let keeps = |&(_, worker): &(usize, WorkerId)| {
            let slot = self.core.workers().get(worker.index());
            slot.is_some_and(|slot| slot.scheduled.iter(&self.memory).any(|i| i == item))
        };
        self.workers(config).find(keeps).map(|(at, _)| at)
    }

    /// An item may be kept for a worker that is inside it or has ended it as the last; not while that one runs
    /// another.
    fn excuses_punted(&self, able: &[bool], at: usize, item: Item) -> bool {
        let thread = &self.threads[at];
        match thread.runs_one() {
            true => thread.is_inside(item) && able.contains(&true),
            false => able[at],
        }
    }

    /// Whether the item lies in a place of the worker's batch that has not been started.
    fn has_claimed(&self, thread: usize, worker: WorkerId, item: Item) -> bool {
        let word = self.memory.batches[worker.index()];
        let thread = &self.threads[thread];
        let claimed = thread.places.as_slice();
        let alone = claimed.len() == 1 && thread.then == Pc::Start && claimed[0] == item;
        alone || claimed.iter().take(word.end()).skip(word.next()).any(|&i| i == item)
    }

    /// Some item waits for nobody who could be blamed.
    pub(super) fn check_stranded(&self, config: &Config, reached: &Reaches) -> Option<&'static str> {
        if self.now < self.failures {
            // The clock will move.
            return None;
        }
        let able = self.able(config);
        if !able.contains(&true)
            && let Some(what) = self.check_all_done(config)
        {
            return Some(what);
        }
        let mut pool = None;
        for item in 0..config.items.len() as u8 {
            if !self.words[usize::from(item)].is_pending() || self.is_elsewhere(item) {
                continue;
            }
            let mut pool_excused = || *pool.get_or_insert_with(|| self.excuses_pool(config, &able));
            let excused = match self.place(config, item) {
                Place::InHands(at) => able[at],
                Place::Handed(at) => able[at] || able.contains(&true),
                Place::Queued => pool_excused(),
                Place::Inactive => self.excuses_inactive(config, &able, item, &mut pool_excused),
                Place::Batch(at) => {
                    if matches!(self.threads[at].pc, Pc::Body | Pc::Finish) {
                        reached.mark(Reached::HeldInBatch);
                    }
                    able[at]
                }
                Place::Punted(at) => self.excuses_punted(&able, at, item),
                Place::Nowhere => return Some("a pending item is nowhere: it is lost"),
            };
            if !excused {
                return Some("a pending item waits and no stopped thread is to blame");
            }
        }
        None
    }

    /// Whether each thread could go on. Culler, canceller and closer owe nobody that they begin.
    fn able(&self, config: &Config) -> Vec<bool> {
        let mut able: Vec<bool> = vec![false; self.threads.len()];
        for who in self.everyone(config) {
            let at = self.index(config, who);
            let waits = matches!(self.threads[at].pc, Pc::Cull | Pc::Cancel | Pc::Close);
            able[at] = !waits && !self.choices(config, who).is_empty();
        }
        able
    }

    /// An item lies in the batch of a worker that may have stopped inside another item, a worker sleeps, and nobody
    /// is
    /// on the way who would look.
    pub(super) fn check_held(&self, config: &Config) -> Option<&'static str> {
        let sleeps = self.core.workers().iter().any(|w| w.state == State::Idle);
        if config.pool.managed || !sleeps || !self.core.has_batches() {
            return None;
        }
        let inside = |at: usize| matches!(self.threads[at].pc, Pc::Body | Pc::Finish);
        let pending = |i: &u8| self.words[usize::from(*i)].is_pending();
        let mut items = (0..config.items.len() as u8).filter(pending);
        let held = items.any(|i| matches!(self.place(config, i), Place::Batch(at) if inside(at)));
        let able = self.able(config);
        (held && !self.excuses_pool(config, &able))
            .then_some("an item waits in the batch of a stopped worker")
    }

    /// Nobody can step: everything that was queued has ended.
    fn check_all_done(&self, config: &Config) -> Option<&'static str> {
        for item in 0..config.items.len() {
            let elsewhere = u8::from(self.is_elsewhere(item as u8));
            if self.queued[item] != self.ended[item] + elsewhere {
                return Some("nobody can step, and an item was queued more often than it has ended");
            }
        }
        None
    }

    /// A stopped thread whom everything queued in the pool may wait for.
    fn excuses_pool(&self, config: &Config, able: &[bool]) -> bool {
        let owes = |t: &Thread| t.owes.iter().any(|o| o.for_work || self.is_current(config, o));
        if self.threads.iter().enumerate().any(|(at, t)| able[at] && owes(t)) {
            return true;
        }
        let manager = self.index(config, Who::Manager);
        if able[manager] && self.manager_comes(manager) {
            return true;
        }
        let mut sleeps = false;
        let mut inside = false;
        let mut watches = false;
        for (at, worker) in self.workers(config) {
            let state = self.core.workers().get(worker.index()).map_or(State::Gone, |w| w.state);
            let thread = &self.threads[at];
            let parked = thread.word.is_parked();
            match state {
                State::Awake | State::Starting if able[at] => return true,
                State::Idle if able[at] && !parked => return true,
                State::Watching if able[at] && !parked => return true,
                State::Watching if able[at] => watches = true,
                State::Busy if able[at] && thread.pc == Pc::Top(Came::Awake) => return true,
                State::Busy if able[at] => {
                    let counts = self.core.workers()[worker.index()].is_running();
                    inside = true;
                    if config.pool.managed && counts {
                        return true;
                    }
                }
                _ => {}
            }
            sleeps |= matches!(state, State::Idle | State::Watching);
        }
        let may_create = self.core.nr_workers() < config.pool.workers_max;
        // In a closing pool nobody is made, and who finds nothing leaves: what running items queue is left to their
        // worker.
        let closing = config.closes && self.threads[self.index(config, Who::Closer)].pc != Pc::Close;
        (inside && !sleeps && (!may_create || closing)) || (watches && !self.watches_for_ever(config, able))
    }

    fn manager_comes(&self, at: usize) -> bool {
        let thread = &self.threads[at];
        match thread.pc {
            Pc::Asleep(_) | Pc::Enter(_) => !thread.word.is_parked() || self.retry,
            _ => true,
        }
    }

    /// Whether a wake-up has been claimed for the cycle its sleeper is in.
    fn is_current(&self, config: &Config, owed: &super::state::Owed) -> bool {
        let who = match owed.sleeper {
            Sleeper::Manager => Who::Manager,
            Sleeper::Worker(w) => Who::Worker(w.0 as u8),
        };
        owed.holds(self.threads[self.index(config, who)].word.bits())
    }

    fn excuses_inactive(
        &self,
        config: &Config,
        able: &[bool],
        item: Item,
        pool_excused: &mut dyn FnMut() -> bool,
    ) -> bool {
        let pwq = self.memory.pwq(item);
        let same = |i: &&u8| self.memory.pwq(**i) == pwq;
        let listed = self.core.worklist().iter(&self.memory).any(|i| self.memory.pwq(i) == pwq);
        if listed && pool_excused() {
            return true;
        }
        let punted = (0..config.items.len() as u8)
            .filter(|i| same(&i))
            .any(|i| self.punted_to(config, i).is_some_and(|at| self.excuses_punted(able, at, i)));
        punted
            || self.workers(config).any(|(at, worker)| {
                let thread = &self.threads[at];
                let inside = (0..config.items.len() as u8).filter(|i| same(&i)).any(|i| thread.is_inside(i));
                let claimed = thread.places.as_slice().iter().filter(same);
                let holds = claimed.into_iter().any(|&i| self.has_claimed(at, worker, i) || thread.starts(i));
                // What the leaseholder has taken has the place of what it has not reported.
                let reported = thread.taken && inside;
                let unreported = !reported && thread.finished.as_slice().iter().any(|i| same(&i));
                let waits = matches!(thread.pc, Pc::Blocked) && inside;
                able[at] && (inside || holds || unreported) || waits && !unreported && able.contains(&true)
            })
    }

    /// Lets only the watching workers go on: whether they come back to where they were.
    fn watches_for_ever(&self, config: &Config, _able: &[bool]) -> bool {
        let mut seam = self.clone();
        let reached = Reaches::default();
        for _ in 0..64 {
            let watcher = seam.core.watcher();
            let Some(watcher) = watcher else { return false };
            let who = Who::Worker(watcher.0 as u8);
            let choices = seam.choices(config, who);
            let Some(&choice) = choices.last() else { return false };
            seam.advance(config, None, &reached, who, choice);
        }
        true
    }

    pub(super) fn everyone(&self, config: &Config) -> impl Iterator<Item = Who> + use<> {
        let submitters = (0..config.submitters.len() as u8).map(Who::Submitter);
        let workers = (0..config.slots()).map(Who::Worker);
        submitters.chain(workers).chain([Who::Manager, Who::Culler, Who::Canceller, Who::Closer])
    }

    /// The branches of the thread's next step; none when it cannot go on.
    pub(super) fn choices(&self, config: &Config, who: Who) -> &'static [u8] {
        let thread = &self.threads[self.index(config, who)];
        let free = self.lock.is_none();
        let watched = !matches!(config.pool.cover, cmwq_core::pool::CoverPolicy::Eager);
        match thread.pc {
            Pc::Gone => &[],
            Pc::Top(_) | Pc::Blocking | Pc::Report(..) | Pc::ManagerLook | Pc::Blocked if !free => &[],
            Pc::Top(Came::Called) if watched => &[0, 1],
            Pc::Blocked => match config.items[usize::from(thread.item)].body {
                Body::WaitsFor(other) if self.ended[usize::from(other)] == 0 => &[],
                _ => &[0],
            },
            Pc::Asleep(timed) => {
                let clock = match who {
                    Who::Manager => self.retry && self.now == self.failures,
                    _ => timed,
                };
                match (thread.token, clock) {
                    (true, true) => &[0, 1],
                    (true, false) => &[0],
                    (false, true) => &[1],
                    (false, false) => &[],
                }
            }
            Pc::Cull => {
                let idle = self.core.workers().iter().any(|w| w.state == State::Idle);
                if free && idle && thread.at < config.culls { &[0] } else { &[] }
            }
            Pc::Cancel => {
                let item = config.cancel.unwrap_or(0);
                let pending = self.words[usize::from(item)].is_pending() && !self.is_elsewhere(item);
                if free && pending { &[0] } else { &[] }
            }
            Pc::Close => {
                let submitted = self.threads[..config.submitters.len()].iter().all(|t| t.pc == Pc::Gone);
                if free && submitted { &[0] } else { &[] }
            }
            Pc::Poll => self.poll_choices(thread.lease),
            Pc::Creating(_) if self.failures_left > 0 => &[0, 1],
            _ => &[0],
        }
    }
}

impl Thread {
    /// Whether the thread is inside this item.
    fn is_inside(&self, item: Item) -> bool {
        let inside = matches!(self.pc, Pc::Body | Pc::Blocking | Pc::Blocked | Pc::Finish)
            || matches!(self.then, Pc::Blocked | Pc::Finish);
        self.item == item && inside
    }

    /// Whether the thread is about to start this item.
    fn starts(&self, item: Item) -> bool {
        self.item == item && (self.pc == Pc::Start || self.then == Pc::Start)
    }
}

impl super::state::Owed {
    /// Whether this is a claim of the cycle in which the sleeper's word has these bits, and still to be issued.
    pub(super) fn holds(&self, bits: u32) -> bool {
        matches!(self.stage, Stage::Issue(word) if word.bits() == bits)
    }
}
