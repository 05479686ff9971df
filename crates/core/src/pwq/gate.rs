//! The `max_active` gate of one pwq: which items may be on the worklist, and which wait.
//!
//! An item is active from when it passes the gate until its end has been reported. New items queue behind those that
//! wait (invariant `G1 no overtaking`), so items of one pwq start in submission order.

use crate::list::{Fifo, Items};

/// The gate of one pwq.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Gate<I> {
    max_active: u32,
    nr_active: u32,
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

impl<I: Copy + Eq> Gate<I> {
    /// A gate that lets `max_active` items be active at once.
    ///
    /// # Panics
    /// When `max_active` is zero: nothing could ever run.
    pub fn new(max_active: u32) -> Self {
        assert!(max_active > 0, "a pwq with max_active 0 could run nothing");
        Gate { max_active, nr_active: 0, inactive: Fifo::new() }
    }

    /// Items that are active.
    pub fn nr_active(&self) -> u32 {
        self.nr_active
    }

    /// The most items that may be active.
    pub fn max_active(&self) -> u32 {
        self.max_active
    }

    /// Items that wait.
    pub fn inactive(&self) -> &Fifo<I> {
        &self.inactive
    }

    /// An item arrives.
    pub fn arrive<S: Items<Item = I>>(&mut self, items: &mut S, item: I) -> Admission {
        if self.inactive.is_empty() && self.nr_active < self.max_active {
            self.nr_active += 1;
            return Admission::Active;
        }
        items.set_inactive(item, true);
        self.inactive.push_back(items, item);
        Admission::Inactive
    }

    /// An active item has ended. Answers the waiting item that becomes active in its place.
    #[must_use = "the item answered belongs on the worklist"]
    pub fn finish<S: Items<Item = I>>(&mut self, items: &mut S) -> Option<I> {
        debug_assert!(self.nr_active > 0, "an item ended that was not active");
        self.nr_active -= 1;
        if self.nr_active >= self.max_active {
            return None;
        }
        let item = self.inactive.pop_front(items)?;
        items.set_inactive(item, false);
        self.nr_active += 1;
        Some(item)
    }

    /// Takes out an item that waits.
    pub fn unlink<S: Items<Item = I>>(&mut self, items: &mut S, item: I) {
        items.set_inactive(item, false);
        self.inactive.unlink(items, item);
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
