//! What a pool wants of the manager thread, and when that thread has planned to wake.
//!
//! Every word is read and written by both sides in one step. The manager announces its sleep, swaps the words, looks,
//! and sleeps; who asks writes a word and then wakes. If it writes after the manager's swap it has read from it and
//! sees the announcement, so the wake-up finds the manager asleep; if before, the manager sees what it wrote.

use cmwq_core::time::Tick;
use cmwq_ring::sync::{AtomicU32, AtomicU64, Ordering};

/// A time that does not come.
pub(crate) const NEVER: Tick = Tick(u64::MAX);

/// What a pool wants of the manager.
#[derive(Debug)]
pub(crate) struct Summons {
    /// A submission or the core asks it to look now.
    called: AtomicU32,
    /// When the culler is due.
    cull_at: AtomicU64,
    /// When creation may be tried again.
    retry_at: AtomicU64,
}

impl Default for Summons {
    fn default() -> Self {
        let never = || AtomicU64::new(NEVER.0);
        Summons { called: AtomicU32::new(0), cull_at: never(), retry_at: never() }
    }
}

impl Summons {
    /// Asks the manager to look at this pool. The caller then wakes it.
    pub(crate) fn call(&self) {
        // Ordering: acquire pairs with the release of `take_call`: the caller's wake-up sees the announcement before
        // it. A plain store could be passed by the load of the wake word.
        self.called.swap(1, Ordering::AcqRel);
    }

    /// Manager, after it has announced its sleep: whether somebody called.
    pub(crate) fn take_call(&self) -> bool {
        // Ordering: release pairs with `call`; acquire for what the caller did before.
        self.called.swap(0, Ordering::AcqRel) != 0
    }

    /// Notes when the culler, or a creation, is due. The caller then asks [`Plan::is_after`] whether to wake the
    /// manager.
    pub(crate) fn note(&self, at: Tick, cull: bool) {
        let due = if cull { &self.cull_at } else { &self.retry_at };
        // Ordering: release pairs with the acquire of `next` and `take_due`.
        due.fetch_min(at.0, Ordering::AcqRel);
    }

    /// Manager: whether the culler is due; taken.
    pub(crate) fn take_cull(&self, now: Tick) -> bool {
        take_due(&self.cull_at, now)
    }

    /// Manager: whether a creation is due; taken.
    pub(crate) fn take_retry(&self, now: Tick) -> bool {
        take_due(&self.retry_at, now)
    }

    /// Manager: when the next of them is due.
    pub(crate) fn next(&self) -> Tick {
        // Ordering: acquire pairs with `note`'s release.
        Tick(self.retry_at.load(Ordering::Acquire).min(self.cull_at.load(Ordering::Acquire)))
    }
}

fn take_due(due: &AtomicU64, now: Tick) -> bool {
    // Ordering: acquire pairs with `note`'s release.
    let at = due.load(Ordering::Acquire);
    // Ordering: as above; a failed exchange means an earlier time was written, and is served at the next look.
    at <= now.0 && due.compare_exchange(at, NEVER.0, Ordering::AcqRel, Ordering::Acquire).is_ok()
}

/// When the manager has planned to wake.
#[derive(Debug)]
pub(crate) struct Plan(AtomicU64);

impl Default for Plan {
    /// At once.
    fn default() -> Self {
        Plan(AtomicU64::new(0))
    }
}

impl Plan {
    /// Manager, after it has announced its sleep and before it collects times: everyone who asks meanwhile shall wake
    /// it.
    pub(crate) fn begin(&self) {
        // Ordering: acquire pairs with the release of `is_after`: who has seen the plan before this has noted its
        // time, and the collection sees it. Release: who asks after this sees the announcement.
        self.0.swap(NEVER.0, Ordering::AcqRel);
    }

    /// Manager: the earliest time it has collected.
    pub(crate) fn settle(&self, due: Tick) {
        // Ordering: acquire and release as in `begin`. Not a plain store: who asked since `begin` may find that
        // another has claimed the wake-up, and then tells the manager nothing but by this word; the next `begin` must
        // read from it.
        self.0.swap(due.0, Ordering::AcqRel);
    }

    /// Whether the manager must be woken for a time that has been noted.
    pub(crate) fn is_after(&self, at: Tick) -> bool {
        // Ordering: see `begin`; a plain load could come before the note.
        self.0.fetch_add(0, Ordering::AcqRel) > at.0
    }
}
