//! The busy set: caller-owned items that run now, by (handle, function).
//!
//! Such an item may be freed and its memory reused while its function still runs, so neither its word nor its address
//! alone says whether it runs: a stranger with another function may live at the same address. Items with a word of
//! their own never enter the set.

use crate::id::WorkerId;
use core::hash::{Hash, Hasher};

const BUCKETS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Entry<I> {
    pub(super) item: I,
    pub(super) function: usize,
    pub(super) worker: WorkerId,
}

/// Items by handle, in as many buckets as the kernel has. Allocates when more run at once than ever before.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct BusySet<I> {
    pub(super) buckets: Vec<Vec<Entry<I>>>,
    pub(super) len: usize,
}

/// Spreads the low bits of a handle; deterministic, so that a recorded run replays.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0 >> 58
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }
    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}

impl<I: Copy + Eq + Hash> BusySet<I> {
    pub(super) fn new() -> Self {
        BusySet { buckets: Vec::new(), len: 0 }
    }

    fn bucket(item: I) -> usize {
        let mut mix = Mix::default();
        item.hash(&mut mix);
        mix.finish() as usize % BUCKETS
    }

    pub(super) fn insert(&mut self, item: I, function: usize, worker: WorkerId) {
        if self.buckets.is_empty() {
            self.buckets.resize(BUCKETS, Vec::new());
        }
        self.len += 1;
        self.buckets[Self::bucket(item)].push(Entry { item, function, worker });
    }

    pub(super) fn remove(&mut self, item: I, worker: WorkerId) {
        let Some(bucket) = self.buckets.get_mut(Self::bucket(item)) else { return };
        if let Some(at) = bucket.iter().position(|e| e.item == item && e.worker == worker) {
            bucket.swap_remove(at);
            self.len -= 1;
        }
    }

    /// The workers that have claimed this very item and not reported its end. Several: an item that has ended may run
    /// elsewhere before its end is reported.
    pub(super) fn find(&self, item: I, function: usize) -> impl Iterator<Item = WorkerId> {
        let bucket = if self.len == 0 { None } else { self.buckets.get(Self::bucket(item)) };
        let bucket = bucket.into_iter().flatten();
        bucket.filter(move |e| e.item == item && e.function == function).map(|e| e.worker)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len == 0
    }
}
