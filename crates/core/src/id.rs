//! Names of things: small integers that cannot be mixed up.

use core::fmt;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $letter:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The name as an index into a table.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($letter, "{}"), self.0)
            }
        }
    };
}

id!(
    /// A worker of one pool: the index of its slot. Slots are reused after a worker has gone, so a late wake-up may
    /// reach the slot's next owner; every worker tolerates a wake-up with nothing to do.
    WorkerId,
    "w"
);
id!(
    /// A pwq (the joint of one queue with one pool) as the pool knows it: the index of its gate.
    PwqId,
    "p"
);

impl PwqId {
    /// No pwq: what is pushed under this name is no item, and no leaseholder takes it.
    pub const NONE: PwqId = PwqId(u32::MAX);
}

/// Who sleeps behind an inbox's stand-by mark and must be woken by the submission that replaces the mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sleeper {
    /// The engine's manager thread: the pool has no worker yet.
    Manager,
    /// A worker of the pool.
    Worker(WorkerId),
}
