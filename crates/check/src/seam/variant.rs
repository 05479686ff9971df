//! Broken drivers, by fixed ids. Each leaves out one rule that the seam rests on; the exploration must catch each.

/// One way to break the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant {
    /// Parks although the stand-by mark could not be set because items had arrived.
    NoRecheck,
    /// Stores the stand-by mark over whatever the inbox holds.
    BlindStandby,
    /// Culling does not see that a worker has been picked to be woken: it ends instead of looking.
    PickedDiesUnseen,
    /// Culling ends the worker that stands by.
    StandbyDies,
    /// Takes the inbox and hands only the oldest item to the core.
    DrainForgetsRest,
    /// Marks a wake-up issued before it issues it.
    IssuedEarly,
    /// Marks a wake-up issued without comparing the epoch.
    EpochIgnored,
    /// A cancel releases PENDING before it unlinks the item.
    CancelReleasesEarly,
    /// A cancel, which has withdrawn the stand-by mark, does not see to a new one.
    CancelUncovered,
    /// The finisher does not push the instance that was handed over to it.
    HandoverIgnored,
    /// A submission takes a hand-over for done without looking whether the item still runs.
    HandoverBlind,
    /// A worker whose item blocks keeps the rest of its batch.
    BlockKeepsBatch,
    /// The items that a worker has finished are not reported when its item blocks or its batch is recalled.
    BlockKeepsFinished,
    /// An item blocks and nobody tells the pool.
    BlockUntold,
    /// The watching worker sleeps without a time-out.
    WatcherUntimed,
    /// The manager looks at the pool first and announces its sleep afterwards.
    ManagerAnnouncesLate,
    /// A worker announces its sleep after its stand-by mark is in the inbox.
    WorkerAnnouncesLate,
    /// A worker that has been told to end takes the inbox before it leaves.
    DyingTakesInbox,
    /// A recalled batch is returned first claimed first.
    RecallReversed,
    /// Batches are recalled in the order in which they were claimed.
    RecallOldestFirst,
}

impl Variant {
    /// Every variant.
    pub const ALL: [Variant; 20] = [
        Variant::NoRecheck,
        Variant::BlindStandby,
        Variant::PickedDiesUnseen,
        Variant::StandbyDies,
        Variant::DrainForgetsRest,
        Variant::IssuedEarly,
        Variant::EpochIgnored,
        Variant::CancelReleasesEarly,
        Variant::CancelUncovered,
        Variant::HandoverIgnored,
        Variant::HandoverBlind,
        Variant::BlockKeepsBatch,
        Variant::BlockKeepsFinished,
        Variant::BlockUntold,
        Variant::WatcherUntimed,
        Variant::ManagerAnnouncesLate,
        Variant::WorkerAnnouncesLate,
        Variant::DyingTakesInbox,
        Variant::RecallReversed,
        Variant::RecallOldestFirst,
    ];

    /// Its id on command lines.
    pub const fn id(self) -> &'static str {
        match self {
            Variant::NoRecheck => "no-recheck",
            Variant::BlindStandby => "blind-standby",
            Variant::PickedDiesUnseen => "picked-dies-unseen",
            Variant::StandbyDies => "standby-dies",
            Variant::DrainForgetsRest => "drain-forgets-rest",
            Variant::IssuedEarly => "issued-early",
            Variant::EpochIgnored => "epoch-ignored",
            Variant::CancelReleasesEarly => "cancel-releases-early",
            Variant::CancelUncovered => "cancel-uncovered",
            Variant::HandoverIgnored => "handover-ignored",
            Variant::HandoverBlind => "handover-blind",
            Variant::BlockKeepsBatch => "block-keeps-batch",
            Variant::BlockKeepsFinished => "block-keeps-finished",
            Variant::BlockUntold => "block-untold",
            Variant::WatcherUntimed => "watcher-untimed",
            Variant::ManagerAnnouncesLate => "manager-announces-late",
            Variant::WorkerAnnouncesLate => "worker-announces-late",
            Variant::DyingTakesInbox => "dying-takes-inbox",
            Variant::RecallReversed => "recall-reversed",
            Variant::RecallOldestFirst => "recall-oldest-first",
        }
    }

    /// The variant with this id.
    pub fn parse(id: &str) -> Option<Variant> {
        Variant::ALL.into_iter().find(|v| v.id() == id)
    }

    /// The name of the configuration in which it is looked for.
    pub const fn config(self) -> &'static str {
        match self {
            Variant::NoRecheck | Variant::BlindStandby | Variant::DrainForgetsRest => "two-on-one",
            Variant::WorkerAnnouncesLate => "two-on-one",
            Variant::IssuedEarly | Variant::ManagerAnnouncesLate => "first-worker",
            Variant::EpochIgnored => "two-on-two",
            Variant::PickedDiesUnseen | Variant::StandbyDies | Variant::DyingTakesInbox => "cull",
            Variant::CancelReleasesEarly | Variant::CancelUncovered => "cancel",
            Variant::HandoverIgnored | Variant::HandoverBlind => "shared-item",
            Variant::BlockKeepsBatch | Variant::BlockKeepsFinished => "block-in-batch",
            Variant::BlockUntold => "managed-block",
            Variant::WatcherUntimed => "watched",
            Variant::RecallReversed | Variant::RecallOldestFirst => "recall",
        }
    }
}
