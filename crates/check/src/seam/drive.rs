//! What every thread does in the same way: the core's events, holding the lock, waking.

use super::config::Config;
use super::property::{Reached, Reaches, Rule};
use super::state::{Owed, Pc, Purpose, Seam, Stage, Thread, Who};
use super::variant::Variant;
use cmwq_core::id::{Sleeper, WorkerId};
use cmwq_core::list::Items;
use cmwq_core::pool::{Actions, Claim, Event, InboxWord, Taken};
use cmwq_core::time::Tick;
use cmwq_core::worker::State;

/// One thread about to take its next step.
pub(super) struct Drive<'a> {
    pub(super) config: &'a Config,
    pub(super) variant: Option<Variant>,
    pub(super) reached: &'a Reaches,
    pub(super) seam: &'a mut Seam,
    pub(super) who: Who,
    /// The thread's index.
    pub(super) index: usize,
    /// Which branch of its step it takes: zero, or one for "much time has passed" and "it could not be made".
    pub(super) choice: u8,
}

/// The cooling time of the model's clock, which steps when a creation has cooled down.
pub(super) const COOLDOWN_TICKS: u64 = 1;

impl Drive<'_> {
    pub(super) fn is(&self, variant: Variant) -> bool {
        self.variant == Some(variant)
    }

    pub(super) fn me(&mut self) -> &mut Thread {
        &mut self.seam.threads[self.index]
    }

    pub(super) fn worker(&self) -> WorkerId {
        match self.who {
            Who::Worker(at) => WorkerId(u32::from(at)),
            other => unreachable!("{other:?} is no worker"),
        }
    }

    pub(super) fn worker_index(&self, worker: WorkerId) -> usize {
        self.seam.index(self.config, Who::Worker(worker.0 as u8))
    }

    pub(super) fn goto(&mut self, pc: Pc) {
        self.me().pc = pc;
    }

    pub(super) fn lock(&mut self) {
        debug_assert!(self.seam.lock.is_none());
        self.seam.lock = Some(self.who);
    }

    /// Steps the core under the lock; what is to be woken is owed from here.
    pub(super) fn event(&mut self, event: Event<u8>) -> Actions<u8> {
        self.event_at(event, u64::from(self.seam.now))
    }

    pub(super) fn event_at(&mut self, event: Event<u8>, now: u64) -> Actions<u8> {
        debug_assert_eq!(self.seam.lock, Some(self.who));
        let mut actions = Actions::default();
        self.seam.core.step(Tick(now), event, &mut self.seam.memory, &mut actions);
        for sleeper in actions.wake.iter() {
            let for_work = match sleeper {
                Sleeper::Manager => true,
                Sleeper::Worker(w) => self.seam.core.workers()[w.index()].state != State::Dying,
            };
            if !for_work {
                self.reached.mark(Reached::Culled);
            }
            self.me().owes.push(Owed::new(sleeper, for_work, false));
        }
        self.seam.retry |= actions.retry_at.is_some();
        actions
    }

    // ---- the inbox under the lock ----

    /// One step: takes the inbox and hands its items to the core in submission order. Answers whether batches are to
    /// be recalled.
    pub(super) fn take_inbox(&mut self) -> bool {
        let newest_first: Vec<u8> = self.seam.inbox_items().collect();
        let before = self.seam.inbox;
        let taken = self.seam.inbox.take().apply(&mut self.seam.inbox);
        self.lease_drained(before);
        for thread in &mut self.seam.threads {
            // Whoever owed the sleeper of the mark a wake-up for these items is late now.
            thread.owes.iter_mut().filter(|o| o.by_mark).for_each(|o| o.for_work = false);
        }
        self.event(Event::Taken);
        match taken {
            Taken::Nothing => return false,
            Taken::Withdrawn(_) => {
                self.reached.mark(Reached::Withdrawn);
                return false;
            }
            Taken::List(_) => {}
        }
        let mut recall = false;
        for (nth, &item) in newest_first.iter().rev().enumerate() {
            if nth > 0 && self.is(Variant::DrainForgetsRest) {
                break;
            }
            recall |= self.event(Event::Arrive(item)).recall;
            if self.seam.memory.is_inactive(item) {
                self.reached.mark(Reached::Inactive);
            }
        }
        recall
    }

    /// Whose batch is recalled next, when `left` of those that hold one are left to be recalled: the last to claim
    /// comes first. A recall may take its holder off the list, never one before it.
    fn next_recalled(&self, left: u8) -> WorkerId {
        let mut holders = self.seam.core.batch_holders();
        if self.is(Variant::RecallOldestFirst) {
            let has_places = |w: &WorkerId| {
                let word = self.seam.memory.batches[w.index()];
                word.next() < word.end()
            };
            if let Some(oldest) = self.seam.core.batch_holders().find(has_places) {
                return oldest;
            }
        }
        holders.nth(usize::from(left) - 1).expect("holders before the recalled one stay")
    }

    pub(super) fn recall(&mut self, worker: WorkerId) {
        let at = worker.index();
        let word = &mut self.seam.memory.batches[at];
        let started = word.next();
        let (from, to) = word.recall().apply(word);
        let places = self.seam.threads[self.worker_index(worker)].places;
        let mut back: Vec<u8> = places.as_slice().get(from..to).unwrap_or(&[]).to_vec();
        if !self.is(Variant::RecallReversed) {
            back.reverse();
        }
        if !back.is_empty() {
            self.reached.mark(Reached::Recalled);
        }
        for item in back {
            self.event(Event::Return(worker, item));
        }
        if !self.is(Variant::BlockKeepsFinished) {
            self.report_ended(worker, started);
        }
    }

    /// Reports on behalf of a worker what it has ended: all it has started but the last, in which it may still be.
    fn report_ended(&mut self, worker: WorkerId, started: usize) {
        let index = self.worker_index(worker);
        while usize::from(self.seam.threads[index].reported) + 1 < started {
            let thread = &mut self.seam.threads[index];
            let item = thread.finished.as_slice()[0];
            thread.finished.remove(item);
            thread.reported += 1;
            self.finish_event(worker, item);
            self.reached.mark(Reached::ReportedFor);
        }
    }

    pub(super) fn finish_event(&mut self, worker: WorkerId, item: u8) {
        let before = self.seam.core.worklist().len();
        let pwq = self.seam.memory.pwq(item);
        let owned_by_caller = self.seam.memory.is_owned(item);
        self.event(Event::Finish { worker, item, pwq, owned_by_caller });
        if self.seam.core.worklist().len() > before {
            self.reached.mark(Reached::Activated);
        }
    }

    /// The items of the inbox are in; recalls first if the core asked for it, then does what the lock was taken for.
    pub(super) fn hold(&mut self, purpose: Purpose, recall: bool) {
        let holders = self.seam.core.batch_holders().count() as u8;
        if recall && holders > 0 {
            self.goto(Pc::Recall(purpose, holders));
        } else {
            self.purpose(purpose);
        }
    }

    /// One step: takes back what one worker has claimed and not started.
    pub(super) fn step_recall(&mut self, purpose: Purpose, left: u8) {
        let worker = self.next_recalled(left);
        self.recall(worker);
        if left > 1 {
            self.goto(Pc::Recall(purpose, left - 1));
        } else {
            self.purpose(purpose);
        }
    }

    fn purpose(&mut self, purpose: Purpose) {
        match purpose {
            Purpose::Look => self.look(),
            Purpose::Block => {
                let actions = self.event(Event::Block(self.worker()));
                self.end_hold(&actions, Pc::Blocked);
            }
            Purpose::Cancel => self.cancel_linked(),
            Purpose::Close => self.close(),
            Purpose::Cover => self.cover_again(),
        }
    }

    // ---- the end of a hold ----

    /// Sets the stand-by mark if the core asks for it, else unlocks.
    pub(super) fn end_hold(&mut self, actions: &Actions<u8>, then: Pc) {
        self.me().then = then;
        match actions.stand_by {
            Some(sleeper) => self.goto(Pc::StandBy(sleeper)),
            None => self.unlock(),
        }
    }

    pub(super) fn step_stand_by(&mut self, sleeper: Sleeper) {
        let set = if self.is(Variant::BlindStandby) {
            self.seam.inbox = InboxWord::StandBy(sleeper);
            true
        } else {
            if matches!(self.seam.inbox, InboxWord::Leased(_)) {
                self.reached.mark(Reached::LeaseMarked);
            }
            self.seam.inbox.stand_by(sleeper).apply(&mut self.seam.inbox)
        };
        if set || self.is(Variant::NoRecheck) {
            self.unlock();
            return;
        }
        self.reached.mark(Reached::StandByFailed);
        self.goto(Pc::Retake);
    }

    /// Items arrived before the mark: they are taken, and whoever covers is chosen again.
    pub(super) fn step_retake(&mut self) {
        let recall = self.take_inbox();
        self.hold(Purpose::Cover, recall);
    }

    /// A worker may find that it has to wake itself.
    fn cover_again(&mut self) {
        let actions = self.event(Event::Cover);
        if let Who::Worker(at) = self.who {
            let own = Sleeper::Worker(WorkerId(u32::from(at)));
            if self.me().owes.iter().any(|o| o.sleeper == own) {
                self.reached.mark(Reached::WokeItself);
            }
        }
        let then = self.me().then;
        self.end_hold(&actions, then);
    }

    pub(super) fn unlock(&mut self) {
        self.seam.lock = None;
        if self.is(Variant::WorkerAnnouncesLate) && matches!(self.me().then, Pc::Enter(_)) {
            self.goto(Pc::LateAnnounce);
            return;
        }
        self.after_wakes();
    }

    /// Goes on with the wake-ups that are owed, or with what comes after them.
    pub(super) fn after_wakes(&mut self) {
        let then = self.me().then;
        let pc = if self.me().owes.is_empty() { then } else { Pc::Wakes };
        if pc == then {
            self.me().then = Pc::Gone;
        }
        self.goto(pc);
    }

    // ---- waking ----

    /// One step of the first wake-up owed.
    pub(super) fn step_wake(&mut self) {
        let owed = self.me().owes[0];
        let sleeper = match owed.sleeper {
            Sleeper::Manager => self.seam.index(self.config, Who::Manager),
            Sleeper::Worker(w) => self.worker_index(w),
        };
        let early = self.is(Variant::IssuedEarly);
        let next = match owed.stage {
            Stage::Call => {
                self.seam.called = true;
                Some(Stage::Claim)
            }
            Stage::Claim => {
                let word = &mut self.seam.threads[sleeper].word;
                match word.claim().apply(word) {
                    Claim::Issue(word) => Some(if early { Stage::Mark(word) } else { Stage::Issue(word) }),
                    Claim::Help(word) if self.config.help => {
                        self.reached.mark(Reached::Helped);
                        Some(Stage::Issue(word))
                    }
                    _ => {
                        self.reached.mark(Reached::AwakeAlready);
                        None
                    }
                }
            }
            Stage::Issue(word) => {
                self.seam.threads[sleeper].token = true;
                (!early).then_some(Stage::Mark(word))
            }
            Stage::Mark(claimed) => {
                self.mark_issued(sleeper, claimed);
                early.then_some(Stage::Issue(claimed))
            }
        };
        match next {
            Some(stage) => self.me().owes[0].stage = stage,
            None => {
                self.me().owes.remove(0);
                self.after_wakes();
            }
        }
    }

    fn mark_issued(&mut self, sleeper: usize, claimed: cmwq_core::pool::WakeWord) {
        let word = &mut self.seam.threads[sleeper].word;
        let claimed = if self.variant == Some(Variant::EpochIgnored) { *word } else { claimed };
        word.issued(claimed).apply(word);
        if *word != claimed {
            self.reached.mark(Reached::MarkedIssued);
        }
    }

    /// The owner is awake: a wake-up it was owed is consumed.
    pub(super) fn resume(&mut self) {
        let word = &mut self.me().word;
        word.resume().apply(word);
    }

    pub(super) fn announce(&mut self) {
        let word = &mut self.me().word;
        word.announce().apply(word);
    }

    /// One step towards sleep: not if called since the announcement.
    pub(super) fn step_enter(&mut self, timed: bool, called: Pc) {
        if self.me().word.is_parked() {
            self.goto(Pc::Asleep(timed));
        } else {
            self.resume();
            self.goto(called);
        }
    }

    /// A wake-up by the system ends the sleep if it was claimed for this cycle.
    pub(super) fn step_awake(&mut self, called: Pc) {
        self.me().token = false;
        if self.me().word.is_parked() {
            self.reached.mark(Reached::Spurious);
        } else {
            self.resume();
            self.goto(called);
        }
    }

    // ---- submission ----

    /// Claims an item; goes on with the push or the hand-over, or at `done` if it is pending already.
    pub(super) fn step_claim(&mut self, item: u8, elsewhere: bool, done: Pc) {
        use cmwq_core::work::Submit;
        let word = &mut self.seam.words[usize::from(item)];
        let answer = word.submit().apply(word);
        self.me().item = item;
        self.me().then = done;
        match answer {
            Submit::AlreadyPending => {
                self.reached.mark(Reached::AlreadyPending);
                self.me().then = Pc::Gone;
                self.goto(done);
                return;
            }
            Submit::Disabled => unreachable!("nobody disables items here"),
            Submit::Push => self.goto(Pc::Push),
            Submit::HandOver => self.goto(Pc::HandOver),
        }
        // The claimer owns the item: it fills in where it goes.
        self.seam.queued[usize::from(item)] += 1;
        let bit = 1 << item;
        self.seam.target_elsewhere = self.seam.target_elsewhere & !bit | if elsewhere { bit } else { 0 };
    }

    pub(super) fn step_hand_over(&mut self) {
        use cmwq_core::work::HandOver;
        let word = &mut self.seam.words[usize::from(self.seam.threads[self.index].item)];
        let left = match word.hand_over().apply(word) {
            HandOver::Left => true,
            HandOver::Push => self.is(Variant::HandoverBlind),
        };
        if left {
            self.reached.mark(Reached::HandedOver);
            self.after_wakes();
        } else {
            self.reached.mark(Reached::HandBack);
            self.goto(Pc::Push);
        }
    }

    /// One step: the link is written in it, since the item is nobody else's before it.
    pub(super) fn step_push(&mut self) {
        let item = self.me().item;
        if self.seam.target_elsewhere & 1 << item != 0 {
            self.seam.target_elsewhere &= !(1 << item);
            self.seam.elsewhere |= 1 << item;
            self.reached.mark(Reached::Elsewhere);
            self.after_wakes();
            return;
        }
        let before = self.seam.inbox;
        let pushed = self.seam.inbox.push(item, self.seam.memory.pwq(item)).apply(&mut self.seam.inbox);
        self.seam.memory.set_next(item, pushed.below);
        self.lease_pushed(before, item);
        if self.seam.order.position(item).is_some() {
            self.seam.break_rule(Rule::Unlinked, "an item is pushed that is linked");
            return;
        }
        self.seam.order.push(item);
        if let Some(sleeper) = pushed.wake {
            self.reached.mark(Reached::MarkReplaced);
            self.me().owes.push(Owed::new(sleeper, true, true));
        }
        self.after_wakes();
    }
}
