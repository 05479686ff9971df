//! The state of the composition: every word, the core, and where each thread stands.

use super::config::{Config, ITEMS_MAX, WORKERS_MAX};
use super::property::Rule;
use crate::row::Row;
use cmwq_core::id::{PwqId, Sleeper, WorkerId};
use cmwq_core::list::Items;
use cmwq_core::pool::{InboxWord, PoolCore, WakeWord};
use cmwq_core::work::WorkWord;
use cmwq_core::worker::BatchWord;

/// An item: a small number.
pub(super) type Item = u8;

/// What the core reads and writes of items: links and flags, and how far each worker's batch has been started.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Memory {
    pub(super) next: [Option<Item>; ITEMS_MAX],
    pub(super) prev: [Option<Item>; ITEMS_MAX],
    pub(super) inactive: [bool; ITEMS_MAX],
    pub(super) pwq: [u8; ITEMS_MAX],
    pub(super) batches: [BatchWord; WORKERS_MAX],
    /// Items whose memory is their owner's.
    pub(super) owned: u8,
    /// The worker that takes single items without the lock, as its holders know it.
    pub(super) leaseholder: Option<u8>,
    /// The caller-owned item that worker is inside, as it says.
    pub(super) leased: Option<Item>,
}

impl Items for Memory {
    type Item = Item;

    fn next(&self, item: Item) -> Option<Item> {
        self.next[usize::from(item)]
    }
    fn set_next(&mut self, item: Item, next: Option<Item>) {
        self.next[usize::from(item)] = next;
    }
    fn prev(&self, item: Item) -> Option<Item> {
        self.prev[usize::from(item)]
    }
    fn set_prev(&mut self, item: Item, prev: Option<Item>) {
        self.prev[usize::from(item)] = prev;
    }
    fn pwq(&self, item: Item) -> PwqId {
        PwqId(u32::from(self.pwq[usize::from(item)]))
    }
    fn function(&self, item: Item) -> Option<usize> {
        self.is_owned(item).then_some(0)
    }
    fn is_inactive(&self, item: Item) -> bool {
        self.inactive[usize::from(item)]
    }
    fn set_inactive(&mut self, item: Item, inactive: bool) {
        self.inactive[usize::from(item)] = inactive;
    }
    fn started(&self, worker: WorkerId) -> usize {
        self.batches[worker.index()].next()
    }
    fn leaseholder(&self) -> Option<WorkerId> {
        self.leaseholder.map(|w| WorkerId(u32::from(w)))
    }
    fn is_leased(&self, item: Item, _function: usize) -> bool {
        self.leased == Some(item)
    }
}

impl Memory {
    /// Items of one pwq, none of them linked and none owned by its caller.
    pub(crate) fn new() -> Memory {
        Memory {
            next: [None; ITEMS_MAX],
            prev: [None; ITEMS_MAX],
            inactive: [false; ITEMS_MAX],
            pwq: [0; ITEMS_MAX],
            batches: [BatchWord::default(); WORKERS_MAX],
            owned: 0,
            leaseholder: None,
            leased: None,
        }
    }

    /// Whether the item is owned by its caller: its word does not say that it runs.
    pub(super) fn is_owned(&self, item: Item) -> bool {
        self.owned & 1 << item != 0
    }
}

/// A thread by its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Who {
    /// Submits the items of its programme.
    Submitter(u8),
    /// The thread in this worker slot.
    Worker(u8),
    /// The engine's manager.
    Manager,
    /// Culls when it likes.
    Culler,
    /// Cancels one item and queues it elsewhere.
    Canceller,
    /// Closes the pool when nobody will submit any more.
    Closer,
}

/// How a worker came to the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Came {
    /// It was awake.
    Awake,
    /// Its thread has just begun.
    Started,
    /// It slept and was called.
    Called,
    /// It slept and its time-out passed.
    TimedOut,
}

/// Why a thread holds the lock, and so what it does after the inbox and the batches have been taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Purpose {
    /// A worker asks what to do.
    Look,
    /// A worker's item is about to block.
    Block,
    /// An item is cancelled.
    Cancel,
    /// The pool is closed.
    Close,
    /// The hold had ended but for a stand-by mark that could not be set.
    Cover,
}

/// Where a thread stands: what its next step is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Pc {
    /// Nothing more to do, or no thread in this slot.
    #[default]
    Gone,
    /// Issues the wake-ups it owes, then goes on at `then`.
    Wakes,
    /// Claims the next item of its programme.
    Claim,
    /// Leaves the claimed instance to the worker that runs the item.
    HandOver,
    /// Pushes the item in its hands.
    Push,
    /// Holds the lock: recalls as many batches.
    Recall(Purpose, u8),
    /// Holds the lock: sets the stand-by mark.
    StandBy(Sleeper),
    /// Holds the lock: takes the items that kept it from setting the mark.
    Retake,
    /// Holds the lock: leaves a lease for the pwq of what it has claimed.
    Lease,
    /// Leaseholder, inside no item: waits for another one, or goes to the lock.
    Poll,
    /// Leaseholder: takes the one item.
    TakeOne,
    /// Leaseholder: records the caller-owned item that it has taken.
    Record,
    /// Announces its sleep too late ([`super::Variant::WorkerAnnouncesLate`]).
    LateAnnounce,
    /// On its way to the lock.
    Top(Came),
    /// Starts the next place of its batch.
    Take,
    /// Starts the item in its hands.
    Start,
    /// Inside the item.
    Body,
    /// Inside the item, in front of the lock, to say that it blocks.
    Blocking,
    /// Blocked inside the item.
    Blocked,
    /// Has come out of the item.
    Finish,
    /// Makes a thread.
    Creating(u8),
    /// Reports whether the thread could be made.
    Report(u8, bool),
    /// Goes to sleep unless called already; perhaps with a time-out.
    Enter(bool),
    /// Asleep; perhaps with a time-out.
    Asleep(bool),
    /// The manager announces its next sleep.
    Announce,
    /// The manager looks at the pool.
    ManagerLook,
    /// The culler waits for its moment.
    Cull,
    /// The canceller waits for its moment.
    Cancel,
    /// Holds the lock: releases the cancelled item.
    Release,
    /// The closer waits for its moment, or goes on.
    Close,
}

/// How far a wake-up has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    /// The manager has many pools: it is to be told of this one first.
    Call,
    /// To be claimed.
    Claim,
    /// Claimed; the system call comes.
    Issue(WakeWord),
    /// Issued; the mark comes.
    Mark(WakeWord),
}

/// A wake-up that a thread owes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Owed {
    /// Who is to be woken.
    pub(super) sleeper: Sleeper,
    /// How far it has come.
    pub(super) stage: Stage,
    /// Whether items depend on it. Not so for a worker told to end, and no longer when the sleeper has run or the
    /// inbox has been taken since.
    pub(super) for_work: bool,
    /// Whether it was owed by the inbox's mark (else by a decision of the core).
    pub(super) by_mark: bool,
}

impl Owed {
    pub(super) fn new(sleeper: Sleeper, for_work: bool, by_mark: bool) -> Owed {
        let stage = if sleeper == Sleeper::Manager { Stage::Call } else { Stage::Claim };
        Owed { sleeper, stage, for_work, by_mark }
    }
}

/// One thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Thread {
    pub(super) pc: Pc,
    pub(super) then: Pc,
    /// The item in its hands.
    pub(super) item: Item,
    /// How far it is in its programme, or in its item.
    pub(super) at: u8,
    /// A worker's batch, in places.
    pub(super) places: Row,
    /// Items it has run and not reported.
    pub(super) finished: Row,
    /// How many of its batch have been reported, by itself or on its behalf.
    pub(super) reported: u8,
    /// The pwq for which it has been given a lease.
    pub(super) lease: Option<u8>,
    /// The item in its hands has been taken under the lease.
    pub(super) taken: bool,
    pub(super) owes: Vec<Owed>,
    pub(super) word: WakeWord,
    /// The system has been asked to wake it.
    pub(super) token: bool,
}

/// The whole composition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Seam {
    pub(super) core: PoolCore<Item>,
    pub(super) memory: Memory,
    pub(super) words: [WorkWord; ITEMS_MAX],
    pub(super) inbox: InboxWord<Item>,
    pub(super) lock: Option<Who>,
    /// Submitters, worker slots, manager, culler, canceller, closer.
    pub(super) threads: Vec<Thread>,
    /// Items whose next instance goes to another pool.
    pub(super) target_elsewhere: u8,
    /// Items queued at another pool.
    pub(super) elsewhere: u8,
    /// Workers that will end as soon as they wake, unseen by the core (two of the broken variants).
    pub(super) doomed: u8,
    pub(super) failures_left: u8,
    /// The clock: steps when a failed creation has cooled down.
    pub(super) now: u8,
    /// How many creations have failed.
    pub(super) failures: u8,
    /// The manager has been asked to come again when the clock has moved.
    pub(super) retry: bool,
    /// It came by the clock and has not looked.
    pub(super) due: bool,
    /// It has been told of this pool and has not looked.
    pub(super) called: bool,
    /// Pushed and not yet started or cancelled, in the order of their pushes.
    pub(super) order: Row,
    /// Per item: claims answered, instances ended, instances inside their function now.
    pub(super) queued: [u8; ITEMS_MAX],
    pub(super) ended: [u8; ITEMS_MAX],
    pub(super) running: [u8; ITEMS_MAX],
    /// Starts so far, weighted: what the runtime calls progress.
    pub(super) progress: u8,
    /// A rule that the last step broke.
    pub(super) broken: Option<(Rule, &'static str)>,
}

impl Seam {
    /// The index of a thread in `threads`.
    pub(super) fn index(&self, config: &Config, who: Who) -> usize {
        let (submitters, workers) = (config.submitters.len(), usize::from(config.slots()));
        match who {
            Who::Submitter(at) => usize::from(at),
            Who::Worker(at) => submitters + usize::from(at),
            Who::Manager => submitters + workers,
            Who::Culler => submitters + workers + 1,
            Who::Canceller => submitters + workers + 2,
            Who::Closer => submitters + workers + 3,
        }
    }

    pub(super) fn break_rule(&mut self, rule: Rule, what: &'static str) {
        self.broken.get_or_insert((rule, what));
    }

    pub(super) fn is_elsewhere(&self, item: Item) -> bool {
        self.elsewhere & 1 << item != 0
    }

    /// The items in the inbox, newest first.
    pub(super) fn inbox_items(&self) -> impl Iterator<Item = Item> + '_ {
        let mut at = match self.inbox {
            InboxWord::List(item) | InboxWord::One(item) => Some(item),
            _ => None,
        };
        let mut left = ITEMS_MAX;
        std::iter::from_fn(move || {
            let item = at.filter(|_| left > 0)?;
            left -= 1;
            at = self.memory.next(item);
            Some(item)
        })
    }
}
