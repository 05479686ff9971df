//! Everything that can happen to a pool.

use crate::id::{PwqId, WorkerId};

/// One event. Each costs bounded work, except [`Event::Cull`], which is bounded by [`super::Actions`]' capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event<I> {
    /// The inbox has been taken; its stand-by mark, if there was one, is gone.
    Taken,
    /// One item taken from the inbox, or submitted under the lock. In submission order.
    Arrive(I),
    /// A claimed item that its worker has not started comes back. The last claimed first, so that order is kept.
    Return(WorkerId, I),
    /// A worker has run an item to its end. The item itself may be gone; the handle is only compared.
    Finish {
        /// The worker that ran it.
        worker: WorkerId,
        /// The item.
        item: I,
        /// The pwq it was submitted to.
        pwq: PwqId,
        /// Whether the item is one that enters the busy set.
        owned_by_caller: bool,
    },
    /// An awake worker has reported everything it finished and asks what to do.
    Look(WorkerId),
    /// An awake worker that was told to rest goes idle now.
    GoIdle(WorkerId),
    /// A worker that slept runs again.
    Woken {
        /// The worker.
        worker: WorkerId,
        /// A number that grows with every item started in this pool.
        progress: u64,
    },
    /// The time-out of a watching worker has passed.
    WatchLook {
        /// The watching worker.
        worker: WorkerId,
        /// A number that grows with every item started in this pool.
        progress: u64,
        /// Whether the inbox holds items.
        inbox: bool,
    },
    /// A worker inside an item that does not block takes an active item off the worklist, for which that one waits, to
    /// run it inside. It has nothing else claimed (recall it first). The end is reported by [`Event::Finish`], and each
    /// of the two is followed by an event that chooses who covers.
    ClaimAwaited(WorkerId, I),
    /// A worker's item is about to block.
    Block(WorkerId),
    /// It has stopped blocking.
    Unblock(WorkerId),
    /// A worker's item has used so much CPU time without sleeping that it no longer counts as running.
    CpuIntensive(WorkerId),
    /// A submission under the lock (the older shapes) has added its item and asks whom to wake.
    Submitted,
    /// Whoever covers has to be chosen again: a stand-by mark could not be set because items had arrived.
    Cover,
    /// The engine's manager thread looks after the pool: woken as a stand-by, or by its clock.
    ManagerLook {
        /// Whether the inbox holds items.
        inbox: bool,
    },
    /// A thread has been created for the worker named by an earlier verdict.
    Created(WorkerId),
    /// It could not be created.
    CreateFailed(WorkerId),
    /// The created thread has begun to run.
    Started(WorkerId),
    /// The culler's clock has run out.
    Cull,
    /// A pending item is withdrawn. It must not be in a batch (recall it first).
    Cancel(I),
    /// The pwq's own limit has changed. The hold ends with an event that chooses who covers.
    SetMaxActive(PwqId, u32),
    /// The node of a pwq has granted it so many counts.
    Granted(PwqId, u32),
    /// Other pwqs of this one's node wait for counts.
    Wanted(PwqId),
    /// No more items will come, except from those that run: workers run what is left and leave when they find nothing
    /// to do. Wakes a bounded number of sleepers; repeat it until [`super::PoolCore::is_closed`].
    Close,
    /// A worker's thread is about to end; its slot is free afterwards.
    Exited(WorkerId),
}
