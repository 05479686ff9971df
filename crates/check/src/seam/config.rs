//! What is explored: small pools, few items, named.

use super::drive::COOLDOWN_TICKS;
use super::property::Reached;
use cmwq_core::pool::{ClaimPolicy, CoverPolicy, PoolConfig};
use cmwq_core::time::Span;

/// Items of the largest configuration.
pub(super) const ITEMS_MAX: usize = 8;
/// Worker slots of the largest configuration.
pub(super) const WORKERS_MAX: usize = 8;

/// What an item does when it runs for the first time. Later runs end at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Ends at once.
    Plain,
    /// Says that it blocks, and that it does no longer.
    Blocks,
    /// Says that it blocks, until this item has ended once.
    WaitsFor(u8),
    /// Queues itself again.
    Requeues,
}

/// One item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemKind {
    /// The pwq it goes to.
    pub pwq: u8,
    /// What it does.
    pub body: Body,
    /// Whether its memory is its owner's, so that its word does not say that it runs.
    pub owned: bool,
}

pub(super) const PLAIN: ItemKind = ItemKind { pwq: 0, body: Body::Plain, owned: false };
pub(super) const ORDERED: ItemKind = ItemKind { pwq: 1, ..PLAIN };

/// One configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// Its name on command lines.
    pub name: &'static str,
    /// What it is there for.
    pub about: &'static str,
    /// The pool.
    pub pool: PoolConfig,
    /// `max_active` of each pwq.
    pub pwqs: &'static [u32],
    /// The items.
    pub items: &'static [ItemKind],
    /// Items that are in the inbox from the start, pushed in this order: their wake-up is owed by submitter 0.
    pub preload: &'static [u8],
    /// What each submitter submits, in order.
    pub submitters: &'static [&'static [u8]],
    /// Workers that sleep from the start.
    pub workers: u8,
    /// How often the culler may come.
    pub culls: u8,
    /// How many creations may fail.
    pub failures: u8,
    /// The item that is cancelled and queued elsewhere.
    pub cancel: Option<u8>,
    /// Whether the pool is closed when nobody will submit any more.
    pub closes: bool,
    /// Whether a waker that finds a wake-up claimed issues it as well.
    pub help: bool,
    /// How much an item counts as progress: short items count ten times as much.
    pub item_weight: u8,
    /// Situations that must occur.
    pub reaches: &'static [Reached],
    /// How large it is.
    pub tier: Tier,
}

/// How large a configuration is, and so how often it is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// In every run of the tests.
    Small,
    /// With every change.
    Medium,
    /// By night.
    Deep,
}

pub(super) const POOL: PoolConfig = PoolConfig {
    real_time: false,
    managed: false,
    claim: ClaimPolicy::Kicked,
    cover: CoverPolicy::Eager,
    batch_max: 1,
    workers_max: 2,
    idle_floor: 0,
    idle_ratio: false,
    idle_timeout: Span(0),
    create_cooldown: Span(COOLDOWN_TICKS),
};

pub(super) const BASE: Config = Config {
    name: "",
    about: "",
    pool: POOL,
    pwqs: &[4],
    items: &[PLAIN, PLAIN],
    preload: &[],
    submitters: &[&[0], &[1]],
    workers: 0,
    culls: 0,
    failures: 0,
    cancel: None,
    closes: false,
    help: false,
    item_weight: 1,
    reaches: &[],
    tier: Tier::Small,
};

impl Config {
    /// The configuration with another claim policy.
    #[must_use]
    pub fn with_claim(mut self, claim: ClaimPolicy) -> Config {
        self.pool.claim = claim;
        self
    }

    /// Worker slots: a worker that has been told to end keeps its slot until it has gone, and others may take its
    /// place among the pool's workers meanwhile.
    pub(super) fn slots(&self) -> u8 {
        self.pool.workers_max as u8 + self.culls * self.pool.workers_max as u8
    }

    /// Every configuration, smallest first.
    pub fn all() -> Vec<Config> {
        let mut all = small();
        all.extend(medium());
        all.extend(super::lease_config::medium());
        all.extend(deep());
        all.extend(super::lease_config::deep());
        all
    }

    /// The configuration of this name.
    pub fn named(name: &str) -> Option<Config> {
        Config::all().into_iter().find(|c| c.name == name)
    }
}

fn small() -> Vec<Config> {
    [submitting(), sleeping(), claiming(), super::lease_config::small()].concat()
}

pub(super) const ONE_WORKER: PoolConfig = PoolConfig { workers_max: 1, ..POOL };

/// Submission, hand-over, the gate.
fn submitting() -> Vec<Config> {
    vec![
        Config {
            name: "first-worker",
            about: "two submitters, no worker yet: the manager makes the first",
            pool: ONE_WORKER,
            failures: 1,
            reaches: &[Reached::ManagerCreates, Reached::CreateFailed, Reached::CoolingDown],
            ..BASE
        },
        Config {
            name: "two-on-one",
            about: "two submitters, one worker",
            pool: ONE_WORKER,
            workers: 1,
            reaches: &[Reached::Spurious, Reached::MarkReplaced, Reached::StandByFailed, Reached::WokeItself],
            ..BASE
        },
        Config {
            name: "shared-item",
            about: "two submitters of one item, which runs twice",
            pool: ONE_WORKER,
            workers: 1,
            submitters: &[&[0, 0], &[0]],
            reaches: &[
                Reached::AlreadyPending,
                Reached::HandedOver,
                Reached::HandBack,
                Reached::FinisherPushes,
            ],
            ..BASE
        },
        Config {
            name: "ordered",
            about: "a pwq with max_active 1: the second item waits",
            workers: 2,
            pwqs: &[1],
            reaches: &[Reached::Inactive, Reached::Activated],
            ..BASE
        },
        Config {
            name: "requeue",
            about: "an item queues itself while it runs",
            workers: 1,
            items: &[ItemKind { body: Body::Requeues, ..PLAIN }, PLAIN],
            reaches: &[Reached::HandedOver, Reached::FinisherPushes],
            ..BASE
        },
    ]
}

/// Waking, culling, cancelling.
fn sleeping() -> Vec<Config> {
    vec![
        Config {
            name: "two-on-two",
            about: "two submitters, two workers",
            workers: 2,
            reaches: &[Reached::MarkReplaced, Reached::MarkedIssued, Reached::Withdrawn],
            ..BASE
        },
        Config {
            name: "cull",
            about: "two submitters, two workers, culling and creation",
            workers: 2,
            culls: 1,
            reaches: &[Reached::AwakeAlready, Reached::Culled, Reached::Exited, Reached::Created],
            ..BASE
        },
        Config {
            name: "cancel",
            about: "an item is cancelled and queued elsewhere while it may be submitted here",
            workers: 1,
            pool: ONE_WORKER,
            pwqs: &[1],
            cancel: Some(0),
            reaches: &[Reached::Cancelled, Reached::CancelInactive, Reached::Elsewhere],
            ..BASE
        },
        Config {
            name: "cancel-running",
            about: "an item that has queued itself again while it runs is cancelled",
            workers: 1,
            pool: ONE_WORKER,
            items: &[ItemKind { body: Body::Requeues, ..PLAIN }],
            submitters: &[&[0]],
            cancel: Some(0),
            reaches: &[Reached::Cancelled, Reached::CancelHanded, Reached::Elsewhere],
            ..BASE
        },
    ]
}

/// Blocking, watching, batches.
fn claiming() -> Vec<Config> {
    vec![
        Config {
            name: "managed-block",
            about: "a managed pool: the running item blocks until the other has run",
            pool: PoolConfig { managed: true, ..POOL },
            items: &[ItemKind { body: Body::WaitsFor(1), ..PLAIN }, PLAIN],
            workers: 2,
            reaches: &[Reached::Blocked],
            ..BASE
        },
        Config {
            name: "block-in-batch",
            about: "two of three items are claimed together, one of them waits for another",
            pool: PoolConfig { batch_max: 3, ..POOL },
            pwqs: &[2],
            items: &[PLAIN, ItemKind { body: Body::WaitsFor(2), ..PLAIN }, PLAIN],
            preload: &[0, 1],
            submitters: &[&[2]],
            workers: 2,
            reaches: &[
                Reached::ReportedFor,
                Reached::HeldInBatch,
                Reached::Blocked,
                Reached::Inactive,
                Reached::Activated,
            ],
            ..BASE
        },
        Config {
            name: "watched",
            about: "a watching worker joins in when the busy one does not get on",
            pool: PoolConfig { cover: CoverPolicy::Watched, ..POOL },
            workers: 2,
            reaches: &[Reached::Watched, Reached::WatcherJoined],
            ..BASE
        },
        Config {
            name: "watched-batch",
            about: "a watching worker takes back what a stuck one has claimed",
            pool: PoolConfig { cover: CoverPolicy::Watched, batch_max: 2, ..POOL },
            items: &[PLAIN, PLAIN, PLAIN],
            preload: &[0, 1],
            submitters: &[&[2]],
            workers: 2,
            reaches: &[Reached::Watched, Reached::WatcherJoined, Reached::Recalled],
            ..BASE
        },
        Config {
            name: "recall",
            about: "an ordered item arrives while two workers hold batches: they are taken back in order",
            pool: PoolConfig { batch_max: 2, workers_max: 3, ..POOL },
            pwqs: &[5, 1],
            items: &[PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, ORDERED, ORDERED],
            preload: &[0, 1, 2, 3, 4, 5],
            submitters: &[&[6]],
            workers: 3,
            reaches: &[Reached::Recalled],
            ..BASE
        },
    ]
}

const EVERYTHING: Config = Config {
    workers: 1,
    culls: 1,
    failures: 1,
    cancel: Some(0),
    pwqs: &[1],
    reaches: &[Reached::Culled, Reached::Created, Reached::CreateFailed, Reached::Cancelled],
    tier: Tier::Medium,
    ..BASE
};

fn medium() -> Vec<Config> {
    vec![
        Config {
            name: "cull-to-floor",
            about: "culling that leaves one idle worker, from three",
            pool: PoolConfig { workers_max: 3, idle_floor: 1, ..POOL },
            workers: 3,
            culls: 1,
            reaches: &[Reached::Culled, Reached::Exited],
            tier: Tier::Medium,
            ..BASE
        },
        Config {
            name: "everything",
            about: "two submitters, two workers, culling, creation that may fail, cancel",
            ..EVERYTHING
        },
        Config {
            name: "everything-watched",
            about: "the same with a watching worker",
            pool: PoolConfig { cover: CoverPolicy::Watched, ..POOL },
            ..EVERYTHING
        },
        Config {
            name: "managed",
            about: "a managed pool with an item that blocks, culling and creation",
            pool: PoolConfig { managed: true, ..POOL },
            items: &[PLAIN, ItemKind { body: Body::Blocks, ..PLAIN }],
            pwqs: &[2],
            workers: 1,
            culls: 1,
            reaches: &[Reached::Culled, Reached::Created, Reached::Blocked],
            tier: Tier::Medium,
            ..BASE
        },
        Config {
            name: "three-on-two",
            about: "three submitters, two workers, one item shared",
            items: &[PLAIN, PLAIN, PLAIN],
            submitters: &[&[0], &[1, 0], &[2]],
            workers: 2,
            reaches: &[Reached::HandedOver],
            tier: Tier::Medium,
            ..BASE
        },
        Config {
            name: "two-on-three",
            about: "two submitters of three items, three workers, the last yet to be made",
            pool: PoolConfig { workers_max: 3, ..POOL },
            items: &[PLAIN, PLAIN, PLAIN],
            submitters: &[&[0, 2], &[1]],
            workers: 2,
            reaches: &[Reached::Created],
            tier: Tier::Medium,
            ..BASE
        },
        Config {
            name: "helped",
            about: "the same item from two submitters, wake-ups helped, a worker culled",
            submitters: &[&[0, 1], &[0]],
            workers: 2,
            culls: 1,
            help: true,
            reaches: &[Reached::Helped],
            tier: Tier::Medium,
            ..BASE
        },
    ]
}

fn deep() -> Vec<Config> {
    vec![
        Config {
            name: "everything-managed",
            about: "everything in a managed pool, with an item that blocks",
            pool: PoolConfig { managed: true, ..POOL },
            items: &[PLAIN, ItemKind { body: Body::Blocks, ..PLAIN }],
            pwqs: &[2],
            tier: Tier::Deep,
            ..EVERYTHING
        },
        Config {
            name: "shared-culled",
            about: "an item that both submit and that queues itself again, culling and creation",
            items: &[ItemKind { body: Body::Requeues, ..PLAIN }, PLAIN],
            submitters: &[&[0], &[1, 0]],
            workers: 1,
            culls: 1,
            reaches: &[Reached::Culled, Reached::Created, Reached::HandedOver],
            tier: Tier::Deep,
            ..BASE
        },
        Config {
            name: "three-watched",
            about: "three submitters, two workers, one watches, culling",
            pool: PoolConfig { cover: CoverPolicy::Watched, batch_max: 2, ..POOL },
            items: &[PLAIN, PLAIN, PLAIN],
            submitters: &[&[0], &[1], &[2]],
            workers: 2,
            culls: 1,
            reaches: &[Reached::Watched, Reached::WatcherJoined, Reached::Recalled],
            tier: Tier::Deep,
            ..BASE
        },
        Config {
            name: "two-on-three-culled",
            about: "two submitters of three items, three workers, culling",
            pool: PoolConfig { workers_max: 3, ..POOL },
            items: &[PLAIN, PLAIN, PLAIN],
            submitters: &[&[0, 2], &[1]],
            workers: 2,
            culls: 1,
            reaches: &[Reached::Created, Reached::Culled],
            tier: Tier::Deep,
            ..BASE
        },
    ]
}
