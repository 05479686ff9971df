//! A worker, as the runtime's main loop drives it.

use super::config::Body;
use super::drive::Drive;
use super::property::{Reached, Rule};
use super::state::{Came, Pc, Purpose, Seam};
use super::variant::Variant;
use cmwq_core::id::{Sleeper, WorkerId};
use cmwq_core::pool::{Actions, Event, InboxWord, Verdict};
use cmwq_core::worker::BatchWord;

/// The second branch of a choice: much time has passed, or the thread could not be made.
const OTHER: u8 = 1;

impl Drive<'_> {
    /// The worker's next step.
    pub(super) fn step_worker(&mut self, pc: Pc) {
        match pc {
            Pc::Top(came) => {
                self.lock();
                self.came(came);
            }
            Pc::Take => self.step_take(),
            Pc::Lease => self.step_lease(),
            Pc::Poll => self.step_poll(),
            Pc::TakeOne => self.step_take_one(),
            Pc::Record => self.step_record(),
            Pc::Start => self.step_start(),
            Pc::Body => self.step_body(),
            Pc::Blocking => self.step_blocking(),
            Pc::Blocked => {
                self.lock();
                let actions = self.event(Event::Unblock(self.worker()));
                self.end_hold(&actions, Pc::Finish);
            }
            Pc::Finish => self.step_finish(),
            Pc::Creating(slot) => self.step_creating(slot),
            Pc::Report(slot, made) => {
                self.lock();
                self.report(slot, made);
                self.came(Came::Awake);
            }
            Pc::Enter(timed) => self.step_enter(timed, Pc::Top(Came::Called)),
            Pc::Asleep(timed) => self.step_asleep(timed),
            Pc::LateAnnounce => {
                self.announce();
                self.after_wakes();
            }
            other => unreachable!("{:?} at {other:?}", self.who),
        }
    }

    /// The worker has the lock: it says how it came, reports what it finished, takes the inbox and looks.
    pub(super) fn came(&mut self, came: Came) {
        let worker = self.worker();
        if self.seam.doomed & 1 << worker.0 != 0 {
            self.dies_unseen();
            return;
        }
        let actions = match came {
            Came::Awake => Actions::default(),
            Came::Started => self.event(Event::Started(worker)),
            Came::Called => self.woken(if self.choice == OTHER { 1 << 40 } else { 0 }),
            Came::TimedOut => {
                let inbox = matches!(self.seam.inbox, InboxWord::List(_) | InboxWord::One(_));
                let progress = u64::from(self.seam.progress);
                let actions = self.event(Event::WatchLook { worker, progress, inbox });
                if self.seam.core.watcher().is_none() && actions.verdict == Verdict::None {
                    self.reached.mark(Reached::WatcherJoined);
                }
                if actions.verdict == Verdict::None {
                    // Up and about to look: a wake-up that was owed to it is late.
                    self.seam.consume(worker);
                }
                actions
            }
        };
        match actions.verdict {
            Verdict::None => {}
            Verdict::Exit if self.is(Variant::DyingTakesInbox) => {}
            verdict => {
                self.decided(verdict);
                return;
            }
        }
        self.end_lease();
        self.report_finished();
        self.me().reported = 0;
        self.seam.memory.batches[worker.index()] = BatchWord::default();
        let recall = self.take_inbox() | actions.recall;
        self.hold(Purpose::Look, recall);
    }

    fn woken(&mut self, later: u64) -> Actions<u8> {
        self.seam.consume(self.worker());
        let event = Event::Woken { worker: self.worker(), progress: u64::from(self.seam.progress) };
        self.event_at(event, u64::from(self.seam.now) + later)
    }

    /// What two of the broken variants do: culling has told the worker to end and the core does not know.
    fn dies_unseen(&mut self) {
        self.seam.doomed &= !(1 << self.worker().0);
        self.woken(1 << 40);
        self.exit();
    }

    pub(super) fn report_finished(&mut self) {
        let worker = self.worker();
        let finished = std::mem::take(&mut self.me().finished);
        for &item in finished.as_slice() {
            self.finish_event(worker, item);
            self.me().reported += 1;
        }
    }

    /// The core is asked what to do.
    pub(super) fn look(&mut self) {
        let worker = self.worker();
        let before = self.nr_punted();
        let actions = self.event(Event::Look(worker));
        if self.nr_punted() > before {
            self.reached.mark(Reached::Punted);
        }
        if actions.verdict == Verdict::Run {
            self.me().places.clear();
            self.me().reported = 0;
            for item in actions.batch.iter() {
                self.me().places.push(item);
            }
            let single = actions.batch.len() == 1;
            let word = if single { BatchWord::default() } else { BatchWord::filled(actions.batch.len()) };
            self.seam.memory.batches[worker.index()] = word;
            debug_assert!(!actions.recall, "configurations with caller-owned items have no batches");
            if single {
                let item = self.me().places.as_slice()[0];
                self.me().item = item;
                if self.may_lease(&actions) {
                    self.goto(Pc::Lease);
                    return;
                }
            }
            self.end_hold(&actions, if single { Pc::Start } else { Pc::Take });
        } else if actions.verdict == Verdict::Again {
            self.hold(Purpose::Look, true);
        } else {
            self.decided(actions.verdict);
        }
    }

    fn nr_punted(&self) -> u32 {
        self.seam.core.workers().iter().map(|w| w.scheduled.len()).sum()
    }

    /// What a worker does that has nothing to run.
    fn decided(&mut self, verdict: Verdict) {
        let worker = self.worker();
        match verdict {
            Verdict::Create(slot) => {
                self.me().then = Pc::Creating(slot.0 as u8);
                self.unlock();
            }
            Verdict::Rest { .. } => {
                if !self.is(Variant::WorkerAnnouncesLate) {
                    self.announce();
                }
                let actions = self.event(Event::GoIdle(worker));
                self.end_hold(&actions, Pc::Enter(false));
            }
            Verdict::Watch(_) => {
                self.reached.mark(Reached::Watched);
                if !self.is(Variant::WorkerAnnouncesLate) {
                    self.announce();
                }
                self.me().then = Pc::Enter(!self.is(Variant::WatcherUntimed));
                self.unlock();
            }
            Verdict::Exit => self.exit(),
            Verdict::Run | Verdict::Again | Verdict::None => unreachable!("{worker} was told nothing"),
        }
    }

    fn exit(&mut self) {
        let worker = self.worker();
        self.resume();
        let actions = self.event(Event::Exited(worker));
        self.reached.mark(Reached::Exited);
        self.me().places.clear();
        self.me().item = 0;
        self.seam.memory.batches[worker.index()] = BatchWord::default();
        self.end_hold(&actions, Pc::Gone);
    }

    // ---- items ----

    fn step_take(&mut self) {
        let worker = self.worker();
        let word = &mut self.seam.memory.batches[worker.index()];
        match word.take().apply(word) {
            Some(place) => {
                let item = self.me().places.as_slice()[place];
                self.me().item = item;
                self.goto(Pc::Start);
            }
            None => {
                self.me().places.clear();
                self.goto(Pc::Top(Came::Awake));
            }
        }
    }

    fn step_start(&mut self) {
        let item = self.me().item;
        let at = usize::from(item);
        let seam = &mut *self.seam;
        if !seam.words[at].is_pending() {
            seam.break_rule(Rule::ExactlyOnce, "an item is started that is not pending");
        }
        if seam.words[at].is_running() || seam.running[at] > 0 {
            seam.break_rule(Rule::NoDoubleRun, "an item is started while it runs");
        }
        let owned = seam.memory.is_owned(item);
        let word = &mut seam.words[at];
        if owned {
            word.let_go().apply(word)
        } else {
            word.start().apply(word)
        }
        seam.running[at] += 1;
        seam.progress = seam.progress.wrapping_add(self.config.item_weight);
        (seam.memory.next[at], seam.memory.prev[at]) = (None, None);
        let pwq = seam.memory.pwq[at];
        let place = seam.order.position(item).unwrap_or(0);
        let earlier = seam.order.as_slice()[..place].iter().any(|&i| seam.memory.pwq[usize::from(i)] == pwq);
        if earlier && self.config.pwqs[usize::from(pwq)] == 1 {
            seam.break_rule(Rule::Order, "an item of an ordered pwq starts before an earlier one");
        }
        seam.order.remove(item);
        self.me().at = 0;
        self.goto(Pc::Body);
    }

    fn step_body(&mut self) {
        let item = self.me().item;
        let first = self.seam.ended[usize::from(item)] == 0 && self.me().at == 0;
        match self.config.items[usize::from(item)].body {
            Body::Requeues if first => {
                self.me().at = 1;
                self.step_claim(item, false, Pc::Finish);
            }
            Body::Blocks | Body::WaitsFor(_) if first => {
                self.me().at = 1;
                self.goto(Pc::Blocking);
            }
            _ => self.finish(),
        }
    }

    /// Under the lock: what was finished is reported, the rest of the batch given back, the inbox taken in.
    fn step_blocking(&mut self) {
        self.lock();
        let worker = self.worker();
        // Under a lease the item that ended first lends its place to this one.
        if !self.is(Variant::BlockKeepsFinished) && !self.me().taken {
            self.report_finished();
        }
        if self.is(Variant::BlockUntold) {
            self.me().then = Pc::Blocked;
            self.unlock();
            return;
        }
        if !self.is(Variant::BlockKeepsBatch) && self.seam.core.has_batch(worker) {
            self.recall(worker);
        }
        let recall = self.take_inbox();
        self.reached.mark(Reached::Blocked);
        self.hold(Purpose::Block, recall);
    }

    fn step_finish(&mut self) {
        self.finish();
    }

    fn finish(&mut self) {
        let item = self.me().item;
        let at = usize::from(item);
        let push = !self.seam.memory.is_owned(item) && {
            let word = &mut self.seam.words[at];
            word.finish().apply(word).push
        };
        self.seam.running[at] -= 1;
        self.seam.ended[at] += 1;
        let taken = std::mem::take(&mut self.me().taken);
        if !taken || self.is(Variant::LeaseReportsTaken) {
            self.me().finished.push(item);
        }
        self.me().at = 0;
        let single = taken || self.me().places.as_slice().len() == 1;
        let next = match single {
            true if self.me().lease.is_some() => Pc::Poll,
            true => Pc::Top(Came::Awake),
            false => Pc::Take,
        };
        if single {
            self.me().places.clear();
        }
        if push && !self.is(Variant::HandoverIgnored) {
            self.me().then = next;
            self.reached.mark(Reached::FinisherPushes);
            self.goto(Pc::Push);
        } else {
            self.me().item = 0;
            self.goto(next);
        }
    }

    // ---- creation ----

    pub(super) fn step_creating(&mut self, slot: u8) {
        let made = self.choice != OTHER;
        if made {
            let index = self.worker_index(WorkerId(u32::from(slot)));
            debug_assert_eq!(self.seam.threads[index].pc, Pc::Gone, "the slot of a new worker is free");
            self.seam.threads[index].pc = Pc::Top(Came::Started);
            self.reached.mark(Reached::Created);
        } else {
            self.seam.failures_left -= 1;
            self.seam.failures += 1;
            self.reached.mark(Reached::CreateFailed);
        }
        self.goto(Pc::Report(slot, made));
    }

    /// Under the lock: says whether the thread could be made.
    pub(super) fn report(&mut self, slot: u8, made: bool) -> Actions<u8> {
        let slot = WorkerId(u32::from(slot));
        self.event(if made { Event::Created(slot) } else { Event::CreateFailed(slot) })
    }

    // ---- sleep ----

    fn step_asleep(&mut self, timed: bool) {
        if timed && self.choice == OTHER {
            let woken = self.me().word.is_woken();
            self.resume();
            self.goto(Pc::Top(if woken { Came::Called } else { Came::TimedOut }));
            return;
        }
        self.step_awake(Pc::Top(Came::Called));
    }
}

impl Seam {
    /// The worker runs again: a wake-up that was owed to it is late from here.
    fn consume(&mut self, worker: WorkerId) {
        for owed in self.threads.iter_mut().flat_map(|t| &mut t.owes) {
            owed.for_work &= owed.sleeper != Sleeper::Worker(worker);
        }
    }
}
