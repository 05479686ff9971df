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
    /// Ends the queue that had the first pwq before, and goes on when the scenario's own has one.
    Replace,
    /// Goes on with an item of that queue that has been taken off its timer.
    Fire,
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
    /// How many items of a pwq may be active.
    pub(super) max_active: usize,
    /// The phase that accepts at first.
    pub(super) phase: u32,
    /// How many phases below it have not been passed.
    pub(super) outstanding: u32,
    pub(super) items: &'static [Item],
    pub(super) threads: &'static [&'static [Call]],
    /// What must happen in some interleaving of the design that ships: parts of what steps say.
    pub(super) sometimes: &'static [&'static str],
}

use Call::{Cancel, DropFlush, Fire, Flush, Replace, Submit, SubmitDuring, SubmitLate};

/// No limit.
const ANY: usize = usize::MAX;

/// The last phase before the number wraps.
const LATE: u32 = u32::MAX;

impl Scenario {
    /// All of them.
    pub const ALL: &[Scenario] = &[
        Scenario {
            name: "two-submitters",
            what: "two submitters of one leaf and one closer; the phase wraps",
            pwqs: 1,
            max_active: ANY,
            phase: LATE,
            outstanding: 0,
            items: &[PLAIN, PLAIN],
            threads: &[&[Submit(0)], &[Submit(1)], &[Flush(0)]],
            sometimes: &[
                "reads phase 0",
                "finds the phase changed",
                "finds the list changed",
                "that its phase has gone",
                "falls asleep",
                "wakes",
            ],
        },
        Scenario {
            name: "own-item",
            what: "each thread flushes what it has queued: several closers, on two pwqs",
            pwqs: 2,
            max_active: ANY,
            phase: LATE,
            outstanding: 0,
            items: &[PLAIN, Item { pwq: 1, ..PLAIN }],
            threads: &[&[Submit(0), Flush(0)], &[Submit(1), Flush(1)]],
            sometimes: &["reads phase 0", "passed by another", "goes on from the oldest phase"],
        },
        Scenario {
            name: "one-leaf",
            what: "each thread flushes what it has queued, on one pwq",
            pwqs: 1,
            max_active: ANY,
            phase: LATE,
            outstanding: 0,
            items: &[PLAIN, PLAIN],
            threads: &[&[Submit(0), Flush(0)], &[Submit(1), Flush(1)]],
            sometimes: &["reads phase 0", "finds its leaf stamped", "passed by another"],
        },
        Scenario {
            name: "already-pending",
            what: "a submission is refused since the item is pending, and its thread flushes",
            pwqs: 1,
            max_active: ANY,
            phase: LATE,
            outstanding: 0,
            items: &[PLAIN],
            threads: &[&[Submit(0)], &[Submit(0), Flush(0)]],
            sometimes: &["is told that item 0 is pending"],
        },
        Scenario {
            name: "a-t-x",
            what: "A is in the oldest phase; T flushes; X, queued later, waits for T",
            pwqs: 1,
            max_active: ANY,
            phase: 8,
            outstanding: 1,
            items: &[OLDEST, PLAIN, Item { waits_for: Some(0), ..PLAIN }],
            threads: &[&[Submit(1), Flush(0)], &[SubmitDuring(2, 0)]],
            sometimes: &["submits item 2", "falls asleep"],
        },
        Scenario {
            name: "visitor",
            what: "an arrival that does not stay, while an item is in flight",
            pwqs: 1,
            max_active: ANY,
            phase: 4,
            outstanding: 0,
            items: &[PLAIN, PLAIN],
            threads: &[&[Submit(0), Flush(0)], &[Submit(1)], &[DropFlush(1)]],
            sometimes: &["finds the phase changed: departs"],
        },
        Scenario {
            name: "slot-again",
            what: "a submitter was stopped, and its phase's slot comes round",
            pwqs: 1,
            max_active: ANY,
            phase: 15,
            outstanding: 0,
            items: &[PLAIN, PLAIN, PLAIN],
            threads: &[&[SubmitLate(0)], &[Submit(1), Flush(0), Submit(2), Flush(1)]],
            sometimes: &["goes on with item 0", "that its phase has gone"],
        },
        Scenario {
            name: "requeue",
            what: "an item queues itself again while a flush waits for it",
            pwqs: 1,
            max_active: ANY,
            phase: LATE,
            outstanding: 0,
            items: &[Item { again: Some(1), ..PLAIN }, PLAIN],
            threads: &[&[Submit(0), Flush(0)], &[DropFlush(1)]],
            sometimes: &["submits item 1", "ends item 0"],
        },
        Scenario {
            name: "cancel",
            what: "an item may be cancelled before it starts",
            pwqs: 1,
            max_active: ANY,
            phase: 0,
            outstanding: 0,
            items: &[PLAIN],
            threads: &[&[Submit(0), Flush(0)], &[Cancel(0)]],
            sometimes: &["cancels item 0", "finds item 0 not queued"],
        },
        Scenario {
            name: "older",
            what: "nothing is listed in the accepting phase, but an older one is in flight",
            pwqs: 2,
            max_active: ANY,
            phase: 3,
            outstanding: 2,
            items: &[OLDEST, Item { pwq: 1, ..PLAIN }],
            threads: &[&[Flush(0)], &[Submit(1), Flush(1)]],
            sometimes: &["finds nothing listed: waits up to", "finds 0x2 listed"],
        },
        Scenario {
            name: "dropped",
            what: "awaited flushes are dropped after their cut",
            pwqs: 1,
            max_active: ANY,
            phase: LATE,
            outstanding: 0,
            items: &[PLAIN, PLAIN],
            threads: &[&[Submit(0), DropFlush(0), Submit(1), Flush(1)], &[DropFlush(2)]],
            sometimes: &["closes phase 4294967295, and is dropped"],
        },
        Scenario {
            name: "fifteenth",
            what: "a-t-x, where T's cut is the fifteenth",
            pwqs: 1,
            max_active: ANY,
            phase: 30,
            outstanding: 14,
            items: &[OLDEST, PLAIN, Item { waits_for: Some(0), ..PLAIN }],
            threads: &[&[Submit(1), Flush(0)], &[SubmitDuring(2, 0)]],
            sometimes: &["submits item 2", "finds phase 30 closed"],
        },
        Scenario {
            name: "inactive",
            what: "an item waits for its limit while phases are closed",
            pwqs: 1,
            max_active: 1,
            phase: LATE,
            outstanding: 0,
            items: &[PLAIN, PLAIN],
            threads: &[&[Submit(0), Submit(1), Flush(0)], &[DropFlush(1)]],
            sometimes: &["where it waits", "and item 1 has its place", "reads phase 0"],
        },
        Scenario {
            name: "inactive-cancel",
            what: "an item may be cancelled while it waits for its limit",
            pwqs: 1,
            max_active: 1,
            phase: 0,
            outstanding: 0,
            items: &[PLAIN, PLAIN, PLAIN],
            threads: &[&[Submit(0), Submit(1), Submit(2), Flush(0)], &[Cancel(1)]],
            sometimes: &[
                "cancels item 1, which waits",
                "cancels item 1, and item 2 has its place",
                "finds item 1 not queued",
            ],
        },
        Scenario {
            name: "inactive-requeue",
            what: "an item queues itself again, behind one that waits for its limit",
            pwqs: 1,
            max_active: 1,
            phase: LATE,
            outstanding: 0,
            items: &[Item { again: Some(1), ..PLAIN }, PLAIN, PLAIN],
            threads: &[&[Submit(0), Flush(0)], &[Submit(2)]],
            sometimes: &[
                "queues item 1 in phase 4294967295, where it waits",
                "queues item 1 in phase 0, where it waits",
            ],
        },
        Scenario {
            name: "inactive-a-t-x",
            what: "A is active; T flushes; X, queued later, waits for its limit and then for T",
            pwqs: 1,
            max_active: 1,
            phase: 8,
            outstanding: 1,
            items: &[OLDEST, PLAIN, Item { waits_for: Some(0), ..PLAIN }],
            threads: &[&[Submit(1), Flush(0)], &[SubmitDuring(2, 0)]],
            sometimes: &["queues item 2 in phase 9, where it waits", "and item 2 has its place"],
        },
        Scenario {
            name: "pwq-again",
            what: "a queue gets the pwq of one that ends while a timer of that one has fired",
            pwqs: 1,
            max_active: ANY,
            phase: 0,
            outstanding: 0,
            items: &[PLAIN, PLAIN],
            threads: &[&[Replace, Submit(0), Flush(0), Submit(1), Flush(1)], &[Fire]],
            sometimes: &[
                "gets its pwq",
                "gets another pwq",
                "finds it destroyed meanwhile",
                "reports the end",
                "finds the former queue destroyed",
            ],
        },
        // The largest; a broken design that another one catches never gets here.
        Scenario {
            name: "no-slot",
            what: "fourteen cuts are outstanding; flushers wait for slots, which are used again",
            pwqs: 1,
            max_active: ANY,
            phase: 30,
            outstanding: 15,
            items: &[OLDEST, PLAIN, PLAIN],
            threads: &[&[Flush(2)], &[Submit(1), Flush(0), Submit(2), Flush(1)]],
            sometimes: &["finds no slot free", "that slots are free now", "reads phase 32"],
        },
    ];

    /// What the design that ships does not promise, and the others do (see the essay on queues): explored by name.
    pub const BEYOND: &[Scenario] = &[Scenario {
        name: "late-behind-later",
        what: "B is being queued as T flushes; X, queued later, comes first, takes the only place, and waits for T",
        pwqs: 1,
        max_active: 1,
        phase: 0,
        outstanding: 0,
        items: &[PLAIN, Item { waits_for: Some(0), ..PLAIN }],
        threads: &[&[Submit(0)], &[Flush(0)], &[SubmitDuring(1, 0)]],
        sometimes: &["queues item 0 in phase 0, where it waits"],
    }];

    /// The configuration of this name.
    pub fn named(name: &str) -> Option<Scenario> {
        Scenario::ALL.iter().chain(Scenario::BEYOND).copied().find(|scenario| scenario.name == name)
    }
}
