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
    /// Leaves a lease although another worker is up.
    LeaseShared,
    /// Leaves a lease although items wait behind a gate.
    LeaseOverWaiting,
    /// A push from any pwq becomes an item that may be taken under the lease.
    LeaseAnyPwq,
    /// A take of the inbox by another leaves the lease in it.
    LeaseSurvivesDrain,
    /// A second push replaces the item that may be taken under the lease by its own.
    LeaseWithList,
    /// The ends of the items taken under a lease are reported as well.
    LeaseReportsTaken,
    /// The end of the item claimed under the lock is not reported when a lease was left.
    LeaseReportsNothing,
    /// A caller-owned item taken under a lease is not recorded.
    LeaseUnrecorded,
    /// An item that the leaseholder has come past stays on record.
    LeaseKeepsRecord,
}

impl Variant {
    /// Every variant.
    pub const ALL: [Variant; 29] = [
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
        Variant::LeaseShared,
        Variant::LeaseOverWaiting,
        Variant::LeaseAnyPwq,
        Variant::LeaseSurvivesDrain,
        Variant::LeaseWithList,
        Variant::LeaseReportsTaken,
        Variant::LeaseReportsNothing,
        Variant::LeaseUnrecorded,
        Variant::LeaseKeepsRecord,
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
            Variant::LeaseShared => "lease-shared",
            Variant::LeaseOverWaiting => "lease-over-waiting",
            Variant::LeaseAnyPwq => "lease-any-pwq",
            Variant::LeaseSurvivesDrain => "lease-survives-drain",
            Variant::LeaseWithList => "lease-with-list",
            Variant::LeaseReportsTaken => "lease-reports-taken",
            Variant::LeaseReportsNothing => "lease-reports-nothing",
            Variant::LeaseUnrecorded => "lease-unrecorded",
            Variant::LeaseKeepsRecord => "lease-keeps-record",
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
            Variant::LeaseShared | Variant::LeaseKeepsRecord => "lease-owned",
            Variant::LeaseUnrecorded => "lease-requeue",
            Variant::LeaseOverWaiting | Variant::LeaseSurvivesDrain | Variant::LeaseReportsNothing => {
                "lease-ordered"
            }
            Variant::LeaseAnyPwq => "lease-two-pwqs",
            Variant::LeaseWithList | Variant::LeaseReportsTaken => "lease-alone",
        }
    }
}
