//! Small pools in which a worker takes items under a lease, and what may come between.

use super::config::{BASE, Body, Config, ItemKind, ONE_WORKER, ORDERED, PLAIN, POOL, Tier};
use super::property::Reached;
use cmwq_core::pool::{CoverPolicy, PoolConfig};

const WATCHED: PoolConfig = PoolConfig { cover: CoverPolicy::Watched, ..POOL };
const MANAGED: PoolConfig = PoolConfig { managed: true, ..POOL };
const OWNED: ItemKind = ItemKind { owned: true, ..PLAIN };

/// Two workers, of which one watches the other, since two items are there from the start: it may drain the inbox
/// while
/// the other has a lease. Then two more items come.
const LEASE: Config = Config {
    pool: WATCHED,
    workers: 2,
    pwqs: &[2],
    items: &[PLAIN, PLAIN, PLAIN, PLAIN],
    preload: &[0, 1],
    submitters: &[&[2], &[3]],
    ..BASE
};

pub(super) fn small() -> Vec<Config> {
    [taking(), running()].concat()
}

/// Who takes what.
fn taking() -> Vec<Config> {
    vec![
        Config {
            name: "lease-alone",
            about: "one worker and no other",
            pool: ONE_WORKER,
            workers: 1,
            reaches: &[Reached::LeaseGranted, Reached::LeaseTaken, Reached::LeaseSecondPush],
            ..LEASE
        },
        Config {
            name: "lease-ordered",
            about: "a pwq with max_active 1, a watcher",
            pwqs: &[2, 1],
            items: &[PLAIN, ORDERED, ORDERED, ORDERED],
            submitters: &[&[2, 3]],
            reaches: &[
                Reached::LeaseTaken,
                Reached::LeaseDrained,
                Reached::LeaseMarked,
                Reached::WatcherJoined,
                Reached::Inactive,
                Reached::Activated,
            ],
            ..LEASE
        },
        Config {
            name: "lease-two-pwqs",
            about: "two pwqs with max_active 1, a watcher",
            pwqs: &[1, 1],
            items: &[PLAIN, ORDERED, PLAIN, PLAIN],
            submitters: &[&[2, 3]],
            reaches: &[Reached::LeaseTaken, Reached::LeaseOtherPwq, Reached::WatcherJoined],
            ..LEASE
        },
        Config {
            name: "lease-owned",
            about: "an item owned by its caller is queued again while it runs and after, and another",
            items: &[OWNED, OWNED],
            submitters: &[&[0, 1]],
            reaches: &[Reached::LeaseTaken, Reached::WatcherJoined],
            ..LEASE
        },
    ]
}

/// What items do meanwhile.
fn running() -> Vec<Config> {
    vec![
        Config {
            name: "lease-waits",
            about: "a managed pool: an item taken under a lease waits for the caller-owned one before it to run",
            pool: MANAGED,
            items: &[OWNED, ItemKind { body: Body::WaitsFor(0), ..PLAIN }],
            preload: &[],
            submitters: &[&[0, 1], &[0]],
            reaches: &[Reached::LeaseTaken, Reached::Blocked],
            ..LEASE
        },
        Config {
            name: "lease-requeue",
            about: "items queue themselves again while the worker has a lease",
            items: &[ItemKind { body: Body::Requeues, ..PLAIN }, ItemKind { body: Body::Requeues, ..OWNED }],
            preload: &[],
            submitters: &[&[0], &[1]],
            reaches: &[Reached::LeaseTaken, Reached::FinisherPushes, Reached::HandedOver, Reached::Punted],
            ..LEASE
        },
        Config {
            name: "lease-block",
            about: "an item taken under a lease waits for one that is queued later",
            pool: MANAGED,
            items: &[PLAIN, ItemKind { body: Body::WaitsFor(2), ..PLAIN }, PLAIN],
            preload: &[],
            submitters: &[&[0, 1], &[2]],
            reaches: &[Reached::LeaseTaken, Reached::Blocked, Reached::LeaseDrained],
            ..LEASE
        },
        Config {
            name: "lease-close",
            about: "the pool is closed while a worker has a lease",
            closes: true,
            reaches: &[Reached::LeaseTaken, Reached::LeaseDrained, Reached::Closed, Reached::Exited],
            items: &[PLAIN, PLAIN, PLAIN],
            submitters: &[&[2]],
            ..LEASE
        },
    ]
}

pub(super) fn medium() -> Vec<Config> {
    vec![
        Config {
            name: "lease",
            about: "two submitters, a watcher",
            reaches: &[
                Reached::LeaseTaken,
                Reached::LeaseSecondPush,
                Reached::LeaseDrained,
                Reached::LeaseMarked,
                Reached::WatcherJoined,
            ],
            tier: Tier::Medium,
            ..LEASE
        },
        Config {
            name: "lease-two-submitters",
            about: "two pwqs of which one has max_active 1, two submitters, a watcher",
            pwqs: &[2, 1],
            items: &[PLAIN, ORDERED, ORDERED, PLAIN],
            reaches: &[Reached::LeaseTaken, Reached::LeaseOtherPwq, Reached::WatcherJoined],
            tier: Tier::Medium,
            ..LEASE
        },
        Config {
            name: "lease-cancel",
            about: "an item is cancelled and queued elsewhere while it may be taken under a lease",
            pwqs: &[2, 1],
            items: &[PLAIN, ORDERED, ORDERED],
            submitters: &[&[2]],
            cancel: Some(2),
            reaches: &[Reached::LeaseTaken, Reached::LeaseDrained, Reached::Cancelled, Reached::Elsewhere],
            tier: Tier::Medium,
            ..LEASE
        },
        Config {
            name: "lease-owned-requeue",
            about: "a caller-owned item is queued by two, another one queues itself, a watcher",
            items: &[OWNED, OWNED, ItemKind { body: Body::Requeues, ..OWNED }],
            submitters: &[&[2], &[0]],
            reaches: &[Reached::LeaseTaken, Reached::Punted],
            tier: Tier::Medium,
            ..LEASE
        },
        Config {
            name: "lease-close-requeue",
            about: "the pool is closed while an item that queues itself again is run under a lease",
            items: &[PLAIN, PLAIN, ItemKind { body: Body::Requeues, ..PLAIN }],
            submitters: &[&[2]],
            closes: true,
            reaches: &[Reached::LeaseTaken, Reached::Closed, Reached::Exited],
            tier: Tier::Medium,
            ..LEASE
        },
    ]
}

pub(super) fn deep() -> Vec<Config> {
    vec![
        Config {
            name: "lease-three",
            about: "three submitters of two pwqs, a watcher",
            pwqs: &[2, 1],
            items: &[PLAIN, ORDERED, ORDERED, PLAIN, ORDERED],
            submitters: &[&[2], &[3], &[4]],
            reaches: &[Reached::LeaseTaken, Reached::LeaseSecondPush, Reached::LeaseOtherPwq],
            tier: Tier::Deep,
            ..LEASE
        },
        Config {
            name: "lease-blocks-watched",
            about: "an item taken under a lease says that it blocks, a watcher, a worker that may be made",
            pool: PoolConfig { workers_max: 3, ..WATCHED },
            items: &[PLAIN, PLAIN, ItemKind { body: Body::Blocks, ..PLAIN }, PLAIN],
            reaches: &[Reached::LeaseTaken, Reached::Blocked, Reached::LeaseDrained],
            tier: Tier::Deep,
            ..LEASE
        },
        Config {
            name: "lease-everything",
            about: "two pwqs, caller-owned items, one that queues itself again, culling and creation",
            pwqs: &[2, 1],
            items: &[PLAIN, OWNED, ORDERED, ItemKind { body: Body::Requeues, ..OWNED }],
            workers: 1,
            submitters: &[&[2], &[3]],
            culls: 1,
            reaches: &[Reached::LeaseTaken, Reached::Culled, Reached::Created],
            tier: Tier::Deep,
            ..LEASE
        },
    ]
}
