//! Who is picked to be woken, who issues the wake-up and when: the designs that are compared.

/// A design, by its fixed id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Variant {
    /// The kernel for years: the picker wakes while it holds the pool's lock.
    WakeUnderLock,
    /// What was merged: the picker wakes after it has released the lock.
    DeferredOwn,
    /// The same, and a worker whose wake-up is owed already is not owed another.
    DeferredDedup,
    /// A picked worker moves to a list of kicked ones, which picks look at first and culling does not look at; while
    /// one is there nobody is owed another wake-up.
    KickedDedup,
    /// A picked worker leaves the idle list at once.
    LeaveAtPick,
    /// The same, and a created worker, which is woken once as well, does not enter it before it has run.
    LeaveAtPickAndCreate,
    /// A picked worker carries a mark that culling respects.
    Flag,
    /// A picked worker's idle time starts afresh.
    Stamp,
    /// Ordinary pools of cmwq: one submission owes the wake-up, those after it rely on it.
    CmwqCoalesce,
    /// Real-time pools of cmwq: each submission issues a wake-up of its own before it returns.
    CmwqRt,
}

impl Variant {
    /// Every design, in the order of tables.
    pub const ALL: [Variant; 10] = [
        Variant::WakeUnderLock,
        Variant::DeferredOwn,
        Variant::DeferredDedup,
        Variant::KickedDedup,
        Variant::LeaveAtPick,
        Variant::LeaveAtPickAndCreate,
        Variant::Flag,
        Variant::Stamp,
        Variant::CmwqCoalesce,
        Variant::CmwqRt,
    ];

    /// Its id.
    pub const fn id(self) -> &'static str {
        match self {
            Variant::WakeUnderLock => "wake-under-lock",
            Variant::DeferredOwn => "deferred-own",
            Variant::DeferredDedup => "deferred-dedup",
            Variant::KickedDedup => "kicked-dedup",
            Variant::LeaveAtPick => "leave-at-pick",
            Variant::LeaveAtPickAndCreate => "leave-at-pick-and-create",
            Variant::Flag => "flag",
            Variant::Stamp => "stamp",
            Variant::CmwqCoalesce => "cmwq-coalesce",
            Variant::CmwqRt => "cmwq-rt",
        }
    }

    /// The design with this id.
    pub fn parse(id: &str) -> Option<Variant> {
        Variant::ALL.into_iter().find(|variant| variant.id() == id)
    }

    /// Whether it is one of ours, driven by the core that ships.
    pub const fn is_ours(self) -> bool {
        matches!(self, Variant::CmwqCoalesce | Variant::CmwqRt)
    }

    /// Whether a picked worker leaves the idle list.
    pub(super) const fn leaves(self) -> bool {
        matches!(self, Variant::LeaveAtPick | Variant::LeaveAtPickAndCreate)
    }
}

/// A rule of [`Variant::CmwqRt`] that can be left out, to see what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RealTimeRule {
    /// A submission issues a claimed wake-up that has not been issued.
    Help,
    /// A worker issues what it owes within the hold of the lock.
    WakeInHold,
    /// Nobody relies on a thread that makes a worker.
    Making,
}

impl RealTimeRule {
    /// Every rule.
    pub const ALL: [RealTimeRule; 3] = [RealTimeRule::Help, RealTimeRule::WakeInHold, RealTimeRule::Making];
}

/// A design with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rules {
    /// The design.
    pub variant: Variant,
    /// Idle workers that culling leaves.
    pub floor: u8,
    /// Whether culling also asks for idle workers to outnumber a quarter of the busy ones.
    pub ratio: bool,
    /// Whether who owes a wake-up keeps the worker from being freed.
    pub reference: bool,
    /// The rule of real-time pools that is left out, if any.
    pub without: Option<RealTimeRule>,
}

impl Rules {
    /// The design with this floor, as published: with the ratio, and with a reference.
    pub const fn new(variant: Variant, floor: u8) -> Rules {
        Rules { variant, floor, ratio: true, reference: true, without: None }
    }

    /// Whether the pool keeps this rule.
    pub(super) fn keeps(&self, rule: RealTimeRule) -> bool {
        self.variant == Variant::CmwqRt && self.without != Some(rule)
    }
}
