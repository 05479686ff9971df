//! Rings of values: free nodes change hands once, and values with them.
#![cfg(cmwq_loom)]

use cmwq_ring::model::{Broken, Mutant, Tokens, all_are_caught, check, check_less};
use cmwq_ring::sync::AtomicU32;
use cmwq_ring::{Capacity, FreeList, PostRefusal, Waited, ring};
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;
use std::time::Duration;

struct Pool {
    free: FreeList,
    links: [AtomicU32; 3],
    /// What the owner of a node may touch.
    nodes: [UnsafeCell<u32>; 3],
}

// SAFETY: the model checks it.
unsafe impl Sync for Pool {}

impl Pool {
    fn new() -> Arc<Pool> {
        let pool = Pool {
            free: FreeList::default(),
            links: [0; 3].map(AtomicU32::new),
            nodes: [0; 3].map(UnsafeCell::new),
        };
        pool.give(&[0, 1, 2]);
        Arc::new(pool)
    }

    fn take(&self, count: usize) -> Vec<u32> {
        let mut indices = [0; 3];
        let taken = self.free.take(&mut indices[..count], |index| &self.links[index as usize]);
        for &index in &indices[..taken] {
            // SAFETY: the model checks it.
            self.nodes[index as usize].with_mut(|node| unsafe { *node += 1 });
        }
        indices[..taken].to_vec()
    }

    fn give(&self, indices: &[u32]) {
        self.free.give(indices, |index| &self.links[index as usize]);
    }
}

/// One takes a node while another takes several and gives them back in another order.
#[test]
fn a_node_has_one_owner() {
    check(|| {
        let pool = Pool::new();
        let slow = thread::spawn({
            let pool = pool.clone();
            move || pool.take(1)
        });
        let first = pool.take(1);
        let second = pool.take(1);
        pool.give(&first);
        let third = pool.take(1);
        let mut all = [slow.join().unwrap(), second, third].concat();
        all.extend(pool.take(3));
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2], "each node once");
    });
}

#[test]
fn several_at_once_have_one_owner() {
    check(|| {
        let pool = Pool::new();
        let other = thread::spawn({
            let pool = pool.clone();
            move || {
                let indices = pool.take(2);
                pool.give(&indices);
                pool.take(1)
            }
        });
        let mut all = pool.take(2);
        all.extend(other.join().unwrap());
        all.extend(pool.take(3));
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2], "each node once");
    });
}

/// Two posters in a ring with room for one: what is refused comes back, what is accepted arrives.
#[test]
fn a_full_ring_loses_nothing() {
    check_less(1, || {
        let (ring, mut receiver) = ring(Capacity::Bounded(1), Tokens::new());
        let posters = [1, 2].map(|value| {
            let ring = ring.clone();
            thread::spawn(move || match ring.post(value) {
                Ok(()) => value,
                Err(error) => {
                    assert_eq!((error.value, error.refusal), (value, PostRefusal::Full));
                    0
                }
            })
        });
        let mut sum = 0;
        assert_eq!(receiver.wait(1, || None), Waited::Ready);
        sum += receiver.try_take().unwrap();
        let accepted: i32 = posters.into_iter().map(|poster| poster.join().unwrap()).sum();
        sum += receiver.try_take().unwrap_or(0);
        assert_eq!(sum, accepted);
    });
}

/// The last handle that goes closes the ring, after what the others have posted.
#[test]
fn the_last_poster_closes() {
    check_less(1, || {
        let (ring, mut receiver) = ring(Capacity::Bounded(2), Tokens::new());
        let other = thread::spawn({
            let ring = ring.clone();
            move || ring.post_lazy(1).unwrap()
        });
        ring.post_lazy(2).unwrap();
        drop(ring);
        while receiver.wait(5, || None::<Duration>) != Waited::Closed {}
        let mut all: Vec<i32> = receiver.by_ref().collect();
        all.sort_unstable();
        assert_eq!(all, [1, 2]);
        other.join().unwrap();
    });
}

const fn site(function: &'static str, operation: &'static str, effect: &'static str) -> Broken {
    Broken::Site { file: "completion/free_list.rs", function, operation, effect }
}

const MUTANTS: &[Mutant] = &[
    Mutant {
        id: "free-list-without-tag",
        broken: site("take", "compare_exchange", "mask=1048575"),
        what: "lists are not told apart",
        test: "a_node_has_one_owner",
    },
    Mutant {
        id: "free-list-give-without-release",
        broken: site("give", "compare_exchange", "relaxed"),
        what: "the next owner does not see that the last one has ended",
        test: "several_at_once_have_one_owner",
    },
    Mutant {
        id: "free-list-take-in-two-steps",
        broken: site("take", "compare_exchange", "store"),
        what: "two take the same node",
        test: "a_node_has_one_owner",
    },
];

#[test]
fn broken_variants_are_caught() {
    all_are_caught(env!("CARGO_MANIFEST_DIR"), MUTANTS);
}
