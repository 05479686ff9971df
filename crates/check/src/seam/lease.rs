//! The lease, as the runtime's main loop drives it: a worker that is alone takes single items without the lock.

use super::drive::Drive;
use super::property::Reached;
use super::state::{Came, Pc, Seam, Thread};
use super::variant::Variant;
use cmwq_core::id::PwqId;
use cmwq_core::list::Items;
use cmwq_core::pool::{Actions, InboxWord};

/// The second branch of a poll: the worker has waited or taken long enough.
const ENOUGH: u8 = 1;

impl Drive<'_> {
    /// Whether the worker that holds the lock, and has claimed one item, tries to leave a lease.
    pub(super) fn may_lease(&mut self, actions: &Actions<u8>) -> bool {
        // What is owed here has been decided in this hold.
        let nobody_asked = actions.stand_by.is_none() && self.me().owes.is_empty() && !actions.recall;
        match self.variant {
            Some(Variant::LeaseShared) => nobody_asked && !self.seam.core.wants_reports(),
            Some(Variant::LeaseOverWaiting) => nobody_asked && self.seam.core.nr_active_workers() == 1,
            _ => self.me().owes.is_empty() && self.seam.core.may_linger(actions),
        }
    }

    /// One step under the lock, which is given up with it.
    pub(super) fn step_lease(&mut self) {
        let item = self.me().item;
        let pwq = self.seam.memory.pwq(item);
        if self.seam.inbox.lease(pwq).apply(&mut self.seam.inbox) {
            self.reached.mark(Reached::LeaseGranted);
            self.me().lease = Some(pwq.0 as u8);
            self.seam.memory.leaseholder = Some(self.worker().0 as u8);
            self.seam.memory.leased = self.seam.memory.is_owned(item).then_some(item);
        }
        self.end_hold(&Actions::default(), Pc::Start);
    }

    /// The leaseholder is inside no item: it has seen something other than its lease, or goes to the lock anyhow.
    pub(super) fn step_poll(&mut self) {
        let InboxWord::One(_) = self.seam.inbox else {
            self.goto(Pc::Top(Came::Awake));
            return;
        };
        if self.choice == ENOUGH {
            self.goto(Pc::Top(Came::Awake));
            return;
        }
        if !self.is(Variant::LeaseKeepsRecord) {
            self.seam.memory.leased = None;
        }
        self.goto(Pc::TakeOne);
    }

    pub(super) fn step_take_one(&mut self) {
        let pwq = PwqId(u32::from(self.me().lease.expect("only a leaseholder takes one")));
        let Some(item) = self.seam.inbox.take_one(pwq).apply(&mut self.seam.inbox) else {
            self.goto(Pc::Top(Came::Awake));
            return;
        };
        self.reached.mark(Reached::LeaseTaken);
        self.me().item = item;
        self.me().taken = true;
        self.goto(if self.seam.memory.is_owned(item) { Pc::Record } else { Pc::Start });
    }

    pub(super) fn step_record(&mut self) {
        if !self.is(Variant::LeaseUnrecorded) {
            self.seam.memory.leased = Some(self.me().item);
        }
        self.goto(Pc::Start);
    }

    /// Under the lock: what comes goes by the lock again. Of what the worker has run the first item alone is
    /// reported.
    pub(super) fn end_lease(&mut self) {
        if self.me().lease.take().is_none() {
            return;
        }
        if self.is(Variant::LeaseReportsNothing) {
            self.me().finished.clear();
        }
        if self.seam.memory.leaseholder == Some(self.worker().0 as u8) {
            self.seam.memory.leaseholder = None;
            self.seam.memory.leased = None;
        }
    }

    /// Somebody under the lock has taken the inbox.
    pub(super) fn lease_drained(&mut self, before: InboxWord<u8>) {
        let pwq = match before {
            InboxWord::Leased(pwq) => pwq,
            InboxWord::One(item) => self.seam.memory.pwq(item),
            _ => return,
        };
        if self.me().lease.is_some() {
            return;
        }
        self.reached.mark(Reached::LeaseDrained);
        if self.is(Variant::LeaseSurvivesDrain) {
            self.seam.inbox = InboxWord::Leased(pwq);
        }
    }

    /// Somebody has pushed this item.
    pub(super) fn lease_pushed(&mut self, before: InboxWord<u8>, item: u8) {
        let pwq = self.seam.memory.pwq(item);
        match before {
            InboxWord::Leased(leased) if leased != pwq => {
                self.reached.mark(Reached::LeaseOtherPwq);
                if self.is(Variant::LeaseAnyPwq) {
                    self.seam.inbox = InboxWord::One(item);
                }
            }
            InboxWord::One(_) => {
                self.reached.mark(Reached::LeaseSecondPush);
                if self.is(Variant::LeaseWithList) {
                    self.seam.inbox = InboxWord::One(item);
                }
            }
            _ => {}
        }
    }
}

impl Seam {
    /// A leaseholder that sees its lease goes on waiting, which changes nothing, or stops.
    pub(super) fn poll_choices(&self, lease: Option<u8>) -> &'static [u8] {
        match self.inbox {
            InboxWord::Leased(pwq) if lease == Some(pwq.0 as u8) => &[ENOUGH],
            InboxWord::One(_) => &[0, ENOUGH],
            _ => &[0],
        }
    }
}

impl Thread {
    /// Whether the thread has an item in its hands to run, or is inside one.
    pub(super) fn runs_one(&self) -> bool {
        let runs =
            |pc| matches!(pc, Pc::Record | Pc::Start | Pc::Body | Pc::Blocking | Pc::Blocked | Pc::Finish);
        runs(self.pc) || runs(self.then)
    }
}
