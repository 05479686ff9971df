//! The threads that are neither submitters nor workers: the engine's manager, the culler, the canceller, the closer.

use super::drive::Drive;
use super::property::Reached;
use super::state::{Owed, Pc, Purpose};
use super::variant::Variant;
use cmwq_core::id::{Sleeper, WorkerId};
use cmwq_core::list::Items;
use cmwq_core::pool::{Event, InboxWord, Verdict};
use cmwq_core::worker::State;

impl Drive<'_> {
    // ---- the manager: announces, looks, and only then sleeps, so that a wake-up while it looks is not lost ----

    pub(super) fn step_manager(&mut self, pc: Pc) {
        match pc {
            Pc::Announce => {
                self.announce();
                self.goto(if self.is(Variant::ManagerAnnouncesLate) {
                    Pc::Enter(false)
                } else {
                    Pc::ManagerLook
                });
            }
            Pc::ManagerLook => self.step_manager_look(),
            Pc::Creating(slot) => self.step_creating(slot),
            Pc::Report(slot, made) => {
                self.lock();
                let actions = self.report(slot, made);
                self.end_hold(&actions, self.manager_rests());
            }
            Pc::Enter(_) => self.step_enter(false, self.manager_wakes()),
            Pc::Asleep(_) => {
                if self.choice == 1 {
                    // Its clock: a failed creation has cooled down.
                    self.seam.retry = false;
                    self.seam.due = true;
                    self.resume();
                    self.goto(self.manager_wakes());
                } else {
                    self.step_awake(self.manager_wakes());
                }
            }
            other => unreachable!("{:?} at {other:?}", self.who),
        }
    }

    fn manager_wakes(&self) -> Pc {
        if self.is(Variant::ManagerAnnouncesLate) { Pc::ManagerLook } else { Pc::Announce }
    }

    fn manager_rests(&self) -> Pc {
        if self.is(Variant::ManagerAnnouncesLate) { Pc::Announce } else { Pc::Enter(false) }
    }

    fn step_manager_look(&mut self) {
        let due = std::mem::take(&mut self.seam.due);
        if !std::mem::take(&mut self.seam.called) && !due {
            // Woken for nothing, or late.
            self.goto(self.manager_rests());
            return;
        }
        self.lock();
        let inbox = matches!(self.seam.inbox, InboxWord::List(_) | InboxWord::One(_));
        let actions = self.event(Event::ManagerLook { inbox });
        if actions.retry_at.is_some() {
            self.reached.mark(Reached::CoolingDown);
        }
        match actions.verdict {
            Verdict::Create(slot) => {
                self.reached.mark(Reached::ManagerCreates);
                self.end_hold(&actions, Pc::Creating(slot.0 as u8));
            }
            _ => self.end_hold(&actions, self.manager_rests()),
        }
    }

    // ---- the culler ----

    pub(super) fn step_culler(&mut self) {
        self.lock();
        self.me().at += 1;
        let unseen = |core: &cmwq_core::pool::PoolCore<u8>| {
            let picked = |w: &&WorkerId| core.workers()[w.index()].picked;
            (0..core.workers().len() as u32).map(WorkerId).collect::<Vec<_>>().iter().find(picked).copied()
        };
        let standby = |core: &cmwq_core::pool::PoolCore<u8>| match core.standby() {
            Some(Sleeper::Worker(w)) if core.workers()[w.index()].state == State::Idle => Some(w),
            _ => None,
        };
        let victim = match self.variant {
            Some(Variant::PickedDiesUnseen) => unseen(&self.seam.core),
            Some(Variant::StandbyDies) => standby(&self.seam.core),
            _ => None,
        };
        match victim {
            Some(victim) => {
                self.seam.doomed |= 1 << victim.0;
                let sleeper = Sleeper::Worker(victim);
                self.me().owes.push(Owed::new(sleeper, false, false));
            }
            None => {
                self.event(Event::Cull);
            }
        }
        self.me().then = Pc::Cull;
        self.unlock();
    }

    // ---- the canceller ----

    /// Under the lock: takes the inbox and every batch, so that the item is linked in a list of the pool or started.
    pub(super) fn step_cancel(&mut self) {
        self.lock();
        self.take_inbox();
        if self.is(Variant::CancelReleasesEarly) {
            self.step_release();
            return;
        }
        self.hold(Purpose::Cancel, true);
    }

    /// Unlinks the item if it is linked in the pool. The word is released in a step of its own.
    pub(super) fn cancel_linked(&mut self) {
        let item = self.cancelled();
        if self.seam.is_linked(item) {
            if self.is(Variant::CancelReleasesEarly) && !self.seam.words[usize::from(item)].is_pending() {
                self.seam.order.remove(item);
            }
            if self.seam.memory.is_inactive(item) {
                self.reached.mark(Reached::CancelInactive);
            }
            self.event(Event::Cancel(item));
            self.seam.order.remove(item);
            if self.is(Variant::CancelReleasesEarly) {
                self.end_cancel(true);
            } else {
                self.goto(Pc::Release);
            }
        } else if self.seam.words[usize::from(item)].is_handed() {
            // Taken back from the worker that runs it.
            self.reached.mark(Reached::CancelHanded);
            self.release();
            self.end_cancel(true);
        } else {
            self.end_cancel(false);
        }
    }

    pub(super) fn step_release(&mut self) {
        self.release();
        if self.is(Variant::CancelReleasesEarly) {
            self.hold(Purpose::Cancel, true);
        } else {
            self.end_cancel(true);
        }
    }

    fn release(&mut self) {
        let item = usize::from(self.cancelled());
        let word = &mut self.seam.words[item];
        let _ = word.cancel().apply(word);
        (self.seam.memory.next[item], self.seam.memory.prev[item]) = (None, None);
        self.seam.ended[item] += 1;
        self.reached.mark(Reached::Cancelled);
    }

    fn end_cancel(&mut self, hit: bool) {
        self.me().at = 1;
        let then = if hit { Pc::Claim } else { Pc::Gone };
        if self.is(Variant::CancelUncovered) {
            self.me().then = then;
            self.unlock();
            return;
        }
        let actions = self.event(Event::Cover);
        self.end_hold(&actions, then);
    }

    // ---- the closer ----

    /// Under the lock: takes the inbox and wakes as many sleepers as one hold can; again until all have been told.
    pub(super) fn step_close(&mut self) {
        self.lock();
        let recall = self.take_inbox();
        self.hold(Purpose::Close, recall);
    }

    pub(super) fn close(&mut self) {
        let actions = self.event(Event::Close);
        self.reached.mark(Reached::Closed);
        let then = if self.seam.core.is_closed() { Pc::Gone } else { Pc::Close };
        self.end_hold(&actions, then);
    }

    pub(super) fn cancelled(&self) -> u8 {
        self.config.cancel.expect("only a configuration with a cancel has a canceller")
    }
}
