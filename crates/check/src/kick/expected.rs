//! What each cell of the table should come out as, and why: written down so that a run can be wrong.

use super::property::Property;
use super::setup::Setup;
use super::variant::{Rules, Variant};

/// What should come of one promise of one design in one setup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Whether the promise holds.
    pub holds: bool,
    /// Why.
    pub reason: &'static str,
}

const fn holds(reason: &'static str) -> Expected {
    Expected { holds: true, reason }
}

const fn violated(reason: &'static str) -> Expected {
    Expected { holds: false, reason }
}

/// The expectation for the parameters of the published designs: with the ratio rule and with references. Other
/// parameters, and setups outside the table, are explored and shown without one.
pub fn expected(setup: &Setup, rules: &Rules, property: Property) -> Option<Expected> {
    if rules.without.is_some()
        || !rules.ratio
        || !rules.reference
        || !Setup::TABLE.contains(setup)
        || rules.floor > 2
    {
        return None;
    }
    Some(match property {
        Property::NoStranded => no_stranded(rules),
        Property::NotHeldBack => not_held_back(setup, rules),
        Property::NoWakeOfDead => holds("who owes a wake-up holds a reference on the worker"),
        Property::NoSurplus => no_surplus(setup, rules.variant),
        Property::NoDoubleRun => holds("an item leaves the worklist in the hold in which it is taken"),
        Property::Order => holds("one worklist, first in and first out, whoever is woken"),
        Property::MaxActive => holds("an item beyond the limit is not on the worklist"),
    })
}

fn no_stranded(rules: &Rules) -> Expected {
    match (rules.variant.is_ours(), rules.floor) {
        (true, _) => holds("a pool without workers is the manager's to look after, whatever the floor"),
        (false, 0) => violated("the last idle worker is culled although an item counts on it"),
        (false, _) => {
            holds("a worker goes idle above the picked one only after it has found the worklist empty")
        }
    }
}

fn not_held_back(setup: &Setup, rules: &Rules) -> Expected {
    let ordered = *setup == Setup::ORDERED;
    match rules.variant {
        Variant::WakeUnderLock => holds("a pick is a wake-up: nothing is left to a thread that may stop"),
        Variant::CmwqRt => holds("a submission issues the claimed wake-up itself, whoever claimed it"),
        Variant::DeferredOwn | Variant::Flag | Variant::Stamp if ordered => {
            holds("one item is on the worklist at a time, and its own submitter wakes for it")
        }
        Variant::DeferredOwn | Variant::Flag | Variant::Stamp if *setup == Setup::PAIR => {
            holds("one worker: it comes for both items, and none sleeps")
        }
        Variant::DeferredOwn | Variant::Flag | Variant::Stamp => {
            violated("the woken worker takes another's item and stops before it wakes the next worker")
        }
        Variant::DeferredDedup if ordered => {
            holds("one item is on the worklist at a time, and a second pick waits for its end")
        }
        Variant::KickedDedup if ordered && rules.floor == 2 => {
            holds("nobody is culled or kicked beside the one worker that is needed")
        }
        Variant::DeferredDedup => violated("the second submission relies on a waker that stops"),
        Variant::KickedDedup => {
            violated("while one worker is kicked nobody else is woken, and its waker stops")
        }
        Variant::LeaveAtPick | Variant::LeaveAtPickAndCreate => {
            violated("a pick that finds no idle worker relies on one whose waker stops")
        }
        Variant::CmwqCoalesce => {
            violated("a push that does not replace the stand-by mark relies on one that did")
        }
    }
}

fn no_surplus(setup: &Setup, variant: Variant) -> Expected {
    if *setup == Setup::PAIR && variant.leaves() {
        return violated(
            "workers that have left the idle list do not count as spare, and the manager makes more",
        );
    }
    holds("a picked worker still counts as idle, which is what tells the manager to stop")
}
