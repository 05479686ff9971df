//! How many threads and items there are.

/// The most workers, submitters and items of any setup.
pub(super) const WORKERS_MAX: usize = 5;
pub(super) const SUBMITTERS_MAX: usize = 3;
pub(super) const ITEMS_MAX: usize = 6;

/// One small world to explore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Its name.
    pub name: &'static str,
    /// Workers that are there at first, all of them asleep.
    pub workers: u8,
    /// Workers that can be created; every further creation fails.
    pub creatable: u8,
    /// Threads that queue.
    pub submitters: u8,
    /// Items that each of them queues, one after another.
    pub items: u8,
    /// Whether the pool runs one item at a time unless that blocks (per-CPU pools); items may then block.
    pub managed: bool,
    /// How many items may be active at once.
    pub max_active: u8,
    /// Whether a creation may fail.
    pub failures: bool,
}

const SMALL: Setup = Setup {
    name: "2+1",
    workers: 2,
    creatable: 1,
    submitters: 2,
    items: 2,
    managed: false,
    max_active: 6,
    failures: true,
};

impl Setup {
    /// Two workers, one more can be made, two submitters of two items: where the shortest sequences are found.
    pub const SMALL: Setup = SMALL;
    /// A third worker: two may go idle after the pick of another.
    pub const THREE: Setup = Setup { name: "3+1", workers: 3, ..SMALL };
    /// One CPU's pool, whose items may block.
    pub const MANAGED: Setup = Setup { name: "2+0 per-CPU", managed: true, creatable: 0, ..SMALL };
    /// The same, and a third worker can be made: only where asked for.
    pub const MANAGED_MORE: Setup = Setup { name: "2+1 per-CPU", managed: true, ..SMALL };
    /// The same with a third worker.
    pub const MANAGED_THREE: Setup =
        Setup { name: "3+0 per-CPU", managed: true, workers: 3, creatable: 0, ..SMALL };
    /// An ordered queue.
    pub const ORDERED: Setup = Setup { name: "2+1 ordered", max_active: 1, ..SMALL };
    /// One worker, one item, and many could be made.
    pub const LONELY: Setup =
        Setup { name: "1+3 lonely", workers: 1, creatable: 3, submitters: 1, items: 1, ..SMALL };
    /// The same with two items at a time.
    pub const PAIR: Setup =
        Setup { name: "1+4 pair", workers: 1, creatable: 4, submitters: 2, items: 1, ..SMALL };
    /// Two more items: only where asked for.
    pub const WIDE: Setup = Setup { name: "2+1 wide", submitters: 3, ..SMALL };
    /// Three workers and one more can be made, three submitters: only where asked for.
    pub const WIDE_THREE: Setup = Setup { name: "3+1 wide", workers: 3, submitters: 3, ..SMALL };
    /// The largest: only where asked for.
    pub const LARGE: Setup = Setup { name: "3+2", workers: 3, creatable: 2, ..SMALL };
    /// The very largest: only where asked for.
    pub const LARGE_WIDE: Setup =
        Setup { name: "3+2 wide", workers: 3, creatable: 2, submitters: 3, ..SMALL };

    /// The setups of the table.
    pub const TABLE: [Setup; 4] = [Setup::SMALL, Setup::PAIR, Setup::ORDERED, Setup::MANAGED];

    /// Every setup.
    pub const ALL: [Setup; 12] = [
        Setup::SMALL,
        Setup::LONELY,
        Setup::PAIR,
        Setup::ORDERED,
        Setup::MANAGED,
        Setup::MANAGED_MORE,
        Setup::MANAGED_THREE,
        Setup::THREE,
        Setup::LARGE,
        Setup::WIDE,
        Setup::WIDE_THREE,
        Setup::LARGE_WIDE,
    ];

    /// The setup of this name.
    pub fn named(name: &str) -> Option<Setup> {
        Setup::ALL.into_iter().find(|setup| setup.name == name)
    }

    /// All items.
    pub(super) fn nr_items(&self) -> u8 {
        self.submitters * self.items
    }

    /// All workers there can ever be.
    pub(super) fn nr_slots(&self) -> u8 {
        self.workers + self.creatable
    }
}
