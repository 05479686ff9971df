//! The `max_active` gate of one pwq: which items may be on the worklist, and which wait.
//!
//! An item is active from when it passes the gate until its end has been reported. New items queue behind those that
//! wait (invariant `G1 no overtaking`), so items of one pwq start in submission order.

mod words;

use crate::id::PwqId;
use crate::list::{Fifo, Items};

/// Where a gate has its room from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// So many items may be active, whatever other pwqs do. At least one.
    Own(u32),
    /// Each active item needs a count of the node that the pwq shares with others of its queue
    /// ([`Items::take_counts`]).
    Node,
}

impl From<u32> for Limit {
    fn from(max_active: u32) -> Limit {
        Limit::Own(max_active)
    }
}

/// The gate of one pwq.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gate<I> {
    limit: Limit,
    nr_active: u32,
    /// Counts of the node that no active item uses: kept until the end of the hold, for items that arrive in it.
    spare: u32,
    /// The pwq has announced that it waits for a count, and has not been granted one since.
    is_waiting: bool,
    /// Others of its node wait for a count, or it does: nothing is kept, and ends are reported at once.
    is_wanted: bool,
    /// It has taken counts or kept some in this hold.
    is_touched: bool,
    inactive: Fifo<I>,
}

/// Where an arriving item goes.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Admission {
    /// To the worklist.
    Active,
    /// It waits until an active item of its pwq has ended.
    Inactive,
}

/// Counts taken at once by the second and later items that arrive in one hold; what is not used is given back at its
/// end.
const COUNTS_AHEAD: u32 = 16;

impl<I: Copy + Eq> Gate<I> {
    /// A gate with this limit.
    ///
    /// # Panics
    /// When the limit is zero: nothing could ever run.
    pub fn new(limit: impl Into<Limit>) -> Self {
        let limit = limit.into();
        assert!(limit != Limit::Own(0), "a pwq with max_active 0 could run nothing");
        Gate {
            limit,
            nr_active: 0,
            spare: 0,
            is_waiting: false,
            is_wanted: false,
            is_touched: false,
            inactive: Fifo::new(),
        }
    }

    /// Items that are active.
    pub fn nr_active(&self) -> u32 {
        self.nr_active
    }

    /// Counts of its node that no item uses at the moment.
    pub fn spare(&self) -> u32 {
        self.spare
    }

    /// Whether it has announced that it waits for a count of its node.
    pub fn is_waiting(&self) -> bool {
        self.is_waiting
    }

    /// Where it has its room from.
    pub fn limit(&self) -> Limit {
        self.limit
    }

    /// The most items that may be active as far as this gate knows.
    pub fn max_active(&self) -> u32 {
        match self.limit {
            Limit::Own(max) => max,
            Limit::Node => u32::MAX,
        }
    }

    /// Whether nothing of it is queued or counted: it may be given to another queue.
    pub fn is_unused(&self) -> bool {
        self.nr_active == 0 && self.spare == 0 && self.inactive.is_empty()
    }

    /// Items that wait.
    pub fn inactive(&self) -> &Fifo<I> {
        &self.inactive
    }

    /// An item arrives.
    pub fn arrive<S: Items<Item = I>>(&mut self, pwq: PwqId, items: &mut S, item: I) -> Admission {
        if self.inactive.is_empty() && self.has_room(pwq, items, self.is_touched) {
            self.activate();
            return Admission::Active;
        }
        items.set_inactive(item, true);
        self.inactive.push_back(items, item);
        Admission::Inactive
    }

    /// Whether one more item may become active; a node is asked for a count, or for some ahead.
    fn has_room<S: Items<Item = I>>(&mut self, pwq: PwqId, items: &mut S, ahead: bool) -> bool {
        match self.limit {
            Limit::Own(max) => self.nr_active < max,
            Limit::Node => {
                if self.spare == 0 && !self.is_waiting {
                    self.spare = items.take_counts(pwq, if ahead { COUNTS_AHEAD } else { 1 });
                    self.is_waiting = self.spare == 0;
                    // What this pwq waits for others may wait for before it.
                    self.is_wanted |= self.is_waiting;
                }
                self.spare > 0
            }
        }
    }

    fn activate(&mut self) {
        self.nr_active += 1;
        if self.limit == Limit::Node {
            self.spare -= 1;
        }
    }

    /// An active item has ended, or was withdrawn. Then [`Gate::next`] answers who becomes active.
    pub fn finish<S: Items<Item = I>>(&mut self, pwq: PwqId, items: &mut S) {
        debug_assert!(self.nr_active > 0, "an item ended that was not active");
        self.nr_active -= 1;
        if self.limit == Limit::Node {
            self.spare += 1;
            if self.is_wanted || !self.inactive.is_empty() {
                // Others wait, or may as well, and it may be their turn.
                self.give_back(pwq, items);
            }
        }
    }

    /// The limit has changed. Then [`Gate::next`] answers who becomes active.
    ///
    /// # Panics
    /// When the gate has its room from a node, or the limit is zero.
    pub fn set_max_active(&mut self, max_active: u32) {
        assert!(
            max_active > 0 && self.limit != Limit::Node,
            "a limit of this pwq's own, which lets something run"
        );
        self.limit = Limit::Own(max_active);
    }

    /// The node has granted so many counts to this pwq, for which it need no longer wait. Then [`Gate::next`] answers
    /// who becomes active.
    pub fn grant(&mut self, counts: u32) {
        self.spare += counts;
        self.is_waiting = false;
    }

    /// The waiting item that becomes active now, if there is room for one. Repeat it until there is none.
    #[must_use = "the item answered belongs on the worklist"]
    pub fn next<S: Items<Item = I>>(&mut self, pwq: PwqId, items: &mut S) -> Option<I> {
        if self.inactive.is_empty() || !self.has_room(pwq, items, false) {
            return None;
        }
        let item = self.inactive.pop_front(items)?;
        items.set_inactive(item, false);
        self.activate();
        self.stop_waiting_if_idle(pwq, items);
        Some(item)
    }

    /// Gives back what no item uses. At the end of a hold, and when others wait.
    pub fn give_back<S: Items<Item = I>>(&mut self, pwq: PwqId, items: &mut S) {
        while self.spare > 0 {
            let own = items.give_counts(pwq, core::mem::take(&mut self.spare));
            if own > 0 {
                self.grant(own);
                if !self.inactive.is_empty() {
                    return;
                }
            }
        }
    }

    /// Others of its node wait for counts, it has been told. Gives back what is spare.
    pub fn want<S: Items<Item = I>>(&mut self, pwq: PwqId, items: &mut S) {
        self.is_wanted = true;
        self.give_back(pwq, items);
    }

    /// Whether its node has no count left for somebody, as far as it has been told.
    pub fn is_wanted(&self) -> bool {
        self.is_wanted
    }

    /// Whether this is the first time in this hold that the node has something to do with it. Then
    /// [`Gate::end_hold`] has to follow.
    pub fn touch(&mut self) -> bool {
        self.limit == Limit::Node && !core::mem::replace(&mut self.is_touched, true)
    }

    /// At the end of a hold in which it was touched: gives back what is spare.
    pub fn end_hold<S: Items<Item = I>>(&mut self, pwq: PwqId, items: &mut S) {
        self.is_touched = false;
        self.give_back(pwq, items);
        self.is_wanted = self.is_wanted && !self.is_unused() && items.are_counts_wanted(pwq);
    }

    /// Takes out an item that waits.
    pub fn unlink<S: Items<Item = I>>(&mut self, pwq: PwqId, items: &mut S, item: I) {
        items.set_inactive(item, false);
        self.inactive.unlink(items, item);
        self.stop_waiting_if_idle(pwq, items);
    }

    /// A pwq without waiting items needs no count: others are served at once instead.
    fn stop_waiting_if_idle<S: Items<Item = I>>(&mut self, pwq: PwqId, items: &mut S) {
        if self.is_waiting && self.inactive.is_empty() {
            self.is_waiting = false;
            items.stop_waiting(pwq);
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
