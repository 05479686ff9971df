//! Small configurations: who submits, flushes, cancels, and from which phase on.

/// One call of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Call {
    /// Submits this item.
    Submit(usize),
    /// Goes on with a submission of this item that read the phase fifteen phases ago.
    SubmitLate(usize),
    /// Submits this item once this flush has begun to wait.
    SubmitDuring(usize, usize),
    /// Flushes; the number is the flush's.
    Flush(usize),
    /// Makes the cut of an awaited flush and drops it.
    DropFlush(usize),
    /// Cancels this item if it has not started.
    Cancel(usize),
}

/// What an item does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// Its pwq, and the leaf where it arrives.
    pub(super) pwq: usize,
    /// It ends only after this flush.
    pub(super) waits_for: Option<usize>,
    /// It submits this item, itself again, before it ends.
    pub(super) again: Option<usize>,
    /// In flight from the start, in the oldest phase.
    pub(super) oldest: bool,
}

const PLAIN: Item = Item { pwq: 0, waits_for: None, again: None, oldest: false };
const OLDEST: Item = Item { oldest: true, ..PLAIN };

/// A configuration.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is about.
    pub what: &'static str,
    pub(super) pwqs: usize,
    /// The phase that accepts at first.
    pub(super) phase: u32,
    /// How many phases below it have not been passed.
    pub(super) outstanding: u32,
    pub(super) items: &'static [Item],
    pub(super) threads: &'static [&'static [Call]],
}

use Call::{Cancel, DropFlush, Flush, Submit, SubmitDuring, SubmitLate};

/// The last phase but one before the number wraps.
const LATE: u32 = u32::MAX - 1;

impl Scenario {
    /// All of them.
    pub const ALL: &[Scenario] = &[
        Scenario {
            name: "two-submitters",
            what: "two submitters of one leaf and one closer; the phase wraps",
            pwqs: 1,
            phase: u32::MAX,
            outstanding: 0,
            items: &[PLAIN, PLAIN],
            threads: &[&[Submit(0)], &[Submit(1)], &[Flush(0)]],
        },
        Scenario {
            name: "own-item",
            what: "each thread flushes what it has queued: several closers, on two pwqs",
            pwqs: 2,
            phase: LATE,
            outstanding: 0,
            items: &[PLAIN, Item { pwq: 1, ..PLAIN }],
            threads: &[&[Submit(0), Flush(0)], &[Submit(1), Flush(1)]],
        },
        Scenario {
            name: "one-leaf",
            what: "each thread flushes what it has queued, on one pwq",
            pwqs: 1,
            phase: LATE,
            outstanding: 0,
            items: &[PLAIN, PLAIN],
            threads: &[&[Submit(0), Flush(0)], &[Submit(1), Flush(1)]],
        },
        Scenario {
            name: "already-pending",
            what: "a submission is refused since the item is pending, and its thread flushes",
            pwqs: 1,
            phase: LATE,
            outstanding: 0,
            items: &[PLAIN],
            threads: &[&[Submit(0)], &[Submit(0), Flush(0)]],
        },
        Scenario {
            name: "a-t-x",
            what: "A is in the oldest phase; T flushes; X, queued later, waits for T",
            pwqs: 1,
            phase: 8,
            outstanding: 1,
            items: &[OLDEST, PLAIN, Item { waits_for: Some(0), ..PLAIN }],
            threads: &[&[Submit(1), Flush(0)], &[SubmitDuring(2, 0)]],
        },
        Scenario {
            name: "visitor",
            what: "an arrival that does not stay, while an item is in flight",
            pwqs: 1,
            phase: 4,
            outstanding: 0,
            items: &[PLAIN, PLAIN],
            threads: &[&[Submit(0), Flush(0)], &[Submit(1)], &[DropFlush(1)]],
        },
        Scenario {
            name: "no-slot",
            what: "fourteen cuts are outstanding; flushers wait for slots, which are used again",
            pwqs: 1,
            phase: 30,
            outstanding: 15,
            items: &[OLDEST, PLAIN, PLAIN],
            threads: &[&[Flush(2)], &[Submit(1), Flush(0), Submit(2), Flush(1)]],
        },
        Scenario {
            name: "slot-again",
            what: "a submitter was stopped, and its phase's slot comes round",
            pwqs: 1,
            phase: 15,
            outstanding: 0,
            items: &[PLAIN, PLAIN, PLAIN],
            threads: &[&[SubmitLate(0)], &[Submit(1), Flush(0), Submit(2), Flush(1)]],
        },
        Scenario {
            name: "requeue",
            what: "an item queues itself again while a flush waits for it",
            pwqs: 1,
            phase: LATE,
            outstanding: 0,
            items: &[Item { again: Some(1), ..PLAIN }, PLAIN],
            threads: &[&[Submit(0), Flush(0)], &[DropFlush(1)]],
        },
        Scenario {
            name: "cancel",
            what: "an item may be cancelled before it starts",
            pwqs: 1,
            phase: 0,
            outstanding: 0,
            items: &[PLAIN],
            threads: &[&[Submit(0), Flush(0)], &[Cancel(0)]],
        },
        Scenario {
            name: "older",
            what: "nothing is listed in the accepting phase, but an older one is in flight",
            pwqs: 2,
            phase: 3,
            outstanding: 2,
            items: &[OLDEST, Item { pwq: 1, ..PLAIN }],
            threads: &[&[Flush(0)], &[Submit(1), Flush(1)]],
        },
        Scenario {
            name: "dropped",
            what: "awaited flushes are dropped after their cut",
            pwqs: 1,
            phase: LATE,
            outstanding: 0,
            items: &[PLAIN, PLAIN],
            threads: &[&[Submit(0), DropFlush(0), Submit(1), Flush(1)], &[DropFlush(2)]],
        },
    ];

    /// The configuration of this name.
    pub fn named(name: &str) -> Option<Scenario> {
        Scenario::ALL.iter().copied().find(|scenario| scenario.name == name)
    }
}
