//! What is promised, and what must have been reached for a promise to mean something.

use crate::marks::{Marks, marks};

/// A promise, by its fixed id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Property {
    /// No item is pending while nobody runs or has been woken and nobody owes a wake-up.
    NoStranded,
    /// An item whose submission has returned does not wait for stopped threads alone while a worker that could take
    /// it sleeps. Threads stop between two of their steps; a worker whose wake-up has been issued counts as coming.
    NotHeldBack,
    /// No wake-up is issued to a worker that has been freed.
    NoWakeOfDead,
    /// No more workers are created than items were ever there at once.
    NoSurplus,
    /// No item runs twice.
    NoDoubleRun,
    /// Items start in the order of their queueing.
    Order,
    /// No more items run at once than may be active.
    MaxActive,
}

impl Property {
    /// Every promise, in the order of tables.
    pub const ALL: [Property; 7] = [
        Property::NoStranded,
        Property::NotHeldBack,
        Property::NoWakeOfDead,
        Property::NoSurplus,
        Property::NoDoubleRun,
        Property::Order,
        Property::MaxActive,
    ];

    /// Its id.
    pub const fn id(self) -> &'static str {
        match self {
            Property::NoStranded => "no-stranded",
            Property::NotHeldBack => "not-held-back",
            Property::NoWakeOfDead => "no-wake-of-dead",
            Property::NoSurplus => "no-surplus",
            Property::NoDoubleRun => "no-double-run",
            Property::Order => "order",
            Property::MaxActive => "max-active",
        }
    }

    /// The promise with this id.
    pub fn parse(id: &str) -> Option<Property> {
        Property::ALL.into_iter().find(|property| property.id() == id)
    }

    /// What must occur somewhere, lest the promise be kept for want of a case.
    pub const fn twin(self) -> Twin {
        match self {
            Property::NoStranded => Twin::OneWakeCarries,
            Property::NotHeldBack => Twin::OthersCome,
            Property::NoWakeOfDead => Twin::Exited,
            Property::NoSurplus => Twin::Created,
            Property::NoDoubleRun => Twin::Ran,
            Property::Order => Twin::TwoWait,
            Property::MaxActive => Twin::Limited,
        }
    }
}

/// A situation that makes a promise worth something: each promise has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Twin {
    /// An item is pending and one wake-up, owed or issued, is all that will bring a worker.
    OneWakeCarries,
    /// An item whose submission has returned is pending, a thread has yet to take a step that it may never take, and
    /// a woken worker comes all the same.
    OthersCome,
    /// A worker has exited.
    Exited,
    /// A worker has been created.
    Created,
    /// An item has run to its end.
    Ran,
    /// Two items waited at once.
    TwoWait,
    /// An item had to wait since no more could be active.
    Limited,
}

impl Twin {
    /// Every situation.
    pub const ALL: [Twin; 7] = [
        Twin::OneWakeCarries,
        Twin::OthersCome,
        Twin::Exited,
        Twin::Created,
        Twin::Ran,
        Twin::TwoWait,
        Twin::Limited,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Twin::OneWakeCarries => "one-wake-carries",
            Twin::OthersCome => "others-come",
            Twin::Exited => "exited",
            Twin::Created => "created",
            Twin::Ran => "ran",
            Twin::TwoWait => "two-wait",
            Twin::Limited => "limited",
        }
    }
}

/// What one exploration has reached.
pub(super) type Reached = Marks<Twin>;

marks!(Property, Twin);
