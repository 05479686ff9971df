//! What has become of each item: the same for every design.

use super::property::Property;
use super::setup::{ITEMS_MAX, Setup};
use crate::row::Row;

/// Where an item is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Place {
    /// Not queued yet.
    #[default]
    New,
    /// Queued and not started.
    Pending,
    /// Inside its function.
    Running,
    /// Over.
    Done,
}

/// The record of all items, and the first promise that was broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Ledger {
    pub(super) places: [Place; ITEMS_MAX],
    /// Items whose submission has returned.
    returned: u8,
    /// Pending items in the order of their queueing.
    order: Row,
    /// The most items that were pending or running at once.
    most: u8,
    pub(super) broken: Option<(Property, &'static str)>,
}

impl Ledger {
    pub(super) fn queue(&mut self, item: u8) {
        self.places[usize::from(item)] = Place::Pending;
        self.order.push(item);
        let at_once =
            self.places.iter().filter(|p| matches!(p, Place::Pending | Place::Running)).count() as u8;
        self.most = self.most.max(at_once);
    }

    pub(super) fn returns(&mut self, item: u8) {
        self.returned |= 1 << item;
    }

    pub(super) fn has_returned(&self, item: u8) -> bool {
        self.returned & 1 << item != 0
    }

    pub(super) fn start(&mut self, setup: &Setup, item: u8) {
        if self.places[usize::from(item)] != Place::Pending {
            self.break_promise(Property::NoDoubleRun, "an item starts that is not pending");
        }
        if self.order.first() != Some(item) {
            self.break_promise(Property::Order, "an item starts before one that was queued earlier");
        }
        let _ = self.order.remove(item);
        self.places[usize::from(item)] = Place::Running;
        if self.nr_running() > setup.max_active {
            self.break_promise(Property::MaxActive, "more items run than may be active");
        }
    }

    pub(super) fn end(&mut self, item: u8) {
        self.places[usize::from(item)] = Place::Done;
    }

    pub(super) fn nr_running(&self) -> u8 {
        self.places.iter().filter(|place| **place == Place::Running).count() as u8
    }

    /// Pending items, the oldest first.
    pub(super) fn pending(&self) -> &[u8] {
        self.order.as_slice()
    }

    /// More workers live than there were, though not more items than that were ever there at once.
    pub(super) fn check_surplus(&self, setup: &Setup, living: u8) -> Option<&'static str> {
        (living > setup.workers + self.most)
            .then_some("more workers have been created than items were ever there at once")
    }

    pub(super) fn break_promise(&mut self, property: Property, what: &'static str) {
        self.broken.get_or_insert((property, what));
    }
}
