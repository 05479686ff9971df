//! The named choices of a pool: how a picked worker is claimed, and who else is woken while one runs.

use crate::limits;
use crate::time::Span;

/// How an idle worker that has been picked to be woken is set apart until it runs.
///
/// Between the pick (under the lock) and the worker's first step a culler may come by, and further submissions may
/// pick again. The variants exist so that they can be judged on the same core; [`ClaimPolicy::Kicked`] ships.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClaimPolicy {
    /// It stays an idle worker like any other: repeated picks choose it again, culling may reap it.
    Stay,
    /// It moves to a list of kicked workers which culling does not look at and which later picks look at first, so
    /// that they coalesce on it. It still counts as idle, so that no surplus worker is created.
    #[default]
    Kicked,
    /// It leaves the idle workers at once. Culling cannot see it, but the idle count falls and the manager may
    /// create a
    /// worker too many.
    Leave,
    /// It stays on the idle list with a mark that culling respects; picks skip it.
    Flag,
    /// It stays on the idle list and its idle time starts afresh, so that only a very short time-out reaps it.
    Stamp,
}

impl ClaimPolicy {
    /// Every policy with the name it has on command lines.
    pub const ALL: [(&'static str, ClaimPolicy); 5] = [
        ("stay", ClaimPolicy::Stay),
        ("kicked", ClaimPolicy::Kicked),
        ("leave", ClaimPolicy::Leave),
        ("flag", ClaimPolicy::Flag),
        ("stamp", ClaimPolicy::Stamp),
    ];
}

/// Who looks after new items while the workers that are awake are busy running items.
///
/// Matters for pools that do not manage concurrency. (A managed pool wakes a second worker only when nobody runs.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CoverPolicy {
    /// An idle worker stands by whenever a worker runs an item, and is woken by the next submission. Work-conserving:
    /// no item waits while a worker sleeps. Costs a wake-up per overlap, up to four times the time of short items.
    Eager,
    /// The first submission that finds every awake worker inside an item wakes an idle one, which then watches: it
    /// sleeps with a time-out and joins in as soon as items take longer than waking is worth, or one does not end at
    /// all. An item behind a long one waits for at most the watcher's time-out (50 us to 1 ms).
    #[default]
    Watched,
    /// Like [`CoverPolicy::Watched`], and a second worker joins in at once when at least this many items are queued.
    Backlog(u32),
}

/// The limits and policies of one pool. Plain values; the driver reads them from the builder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PoolConfig {
    /// Whether concurrency is managed: a worker is added only while no worker runs (per-CPU pools). Otherwise an item
    /// starts as soon as a worker is available.
    pub managed: bool,
    /// Whether an item may wait for no thread that has stopped while a worker sleeps: an idle worker stands by although
    /// one is in the making (`B7 no waiting for the making`), and nobody keeps items or wake-ups in hand
    /// (`B9 nothing in hand`). See [`PoolConfig::in_real_time`].
    pub real_time: bool,
    /// How a picked worker is claimed.
    pub claim: ClaimPolicy,
    /// Who covers for workers that run items.
    pub cover: CoverPolicy,
    /// The most items claimed in one hold of the lock; 1..=[`limits::BATCH_ITEMS_MAX`].
    pub batch_max: u32,
    /// The most workers; at least 1.
    pub workers_max: u32,
    /// Idle workers that culling leaves.
    pub idle_floor: u32,
    /// Whether culling also asks for idle workers to outnumber busy ones by the ratio.
    pub idle_ratio: bool,
    /// How long a surplus worker stays idle.
    pub idle_timeout: Span,
    /// How long to wait after a failed creation.
    pub create_cooldown: Span,
}

impl Default for PoolConfig {
    fn default() -> Self {
        PoolConfig {
            managed: false,
            real_time: false,
            claim: ClaimPolicy::default(),
            cover: CoverPolicy::default(),
            batch_max: limits::BATCH_ITEMS_MAX as u32,
            workers_max: limits::POOL_WORKERS_MAX,
            idle_floor: limits::IDLE_WORKERS_FLOOR,
            idle_ratio: true,
            idle_timeout: limits::IDLE_TIMEOUT,
            create_cooldown: limits::CREATE_COOLDOWN,
        }
    }
}
