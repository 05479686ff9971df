//! What the tests share: items kept in arrays, and a source of random numbers that repeats itself.

use crate::id::{PwqId, WorkerId};
use crate::list::Items;

/// Items by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct TestItems {
    next: Vec<Option<u32>>,
    prev: Vec<Option<u32>>,
    pwq: Vec<PwqId>,
    function: Vec<Option<usize>>,
    inactive: Vec<bool>,
    /// Items of its batch each worker has started.
    pub(crate) started: Vec<usize>,
}

impl TestItems {
    /// So many items of the first pwq, each with a word of its own.
    pub(crate) fn new(count: usize) -> Self {
        let mut items = TestItems::default();
        for _ in 0..count {
            items.add(PwqId(0), None);
        }
        items
    }

    /// One more item. `function` is what makes it a caller-owned one.
    pub(crate) fn add(&mut self, pwq: PwqId, function: Option<usize>) -> u32 {
        self.next.push(None);
        self.prev.push(None);
        self.pwq.push(pwq);
        self.function.push(function);
        self.inactive.push(false);
        self.next.len() as u32 - 1
    }

    /// The item's memory is used for another item now.
    pub(crate) fn set_function(&mut self, item: u32, function: usize) {
        self.function[item as usize] = Some(function);
    }

    pub(crate) fn set_started(&mut self, worker: WorkerId, started: usize) {
        let needed = self.started.len().max(worker.index() + 1);
        self.started.resize(needed, 0);
        self.started[worker.index()] = started;
    }
}

impl Items for TestItems {
    type Item = u32;
    fn next(&self, item: u32) -> Option<u32> {
        self.next[item as usize]
    }
    fn set_next(&mut self, item: u32, next: Option<u32>) {
        self.next[item as usize] = next;
    }
    fn prev(&self, item: u32) -> Option<u32> {
        self.prev[item as usize]
    }
    fn set_prev(&mut self, item: u32, prev: Option<u32>) {
        self.prev[item as usize] = prev;
    }
    fn pwq(&self, item: u32) -> PwqId {
        self.pwq[item as usize]
    }
    fn function(&self, item: u32) -> Option<usize> {
        self.function[item as usize]
    }
    fn is_inactive(&self, item: u32) -> bool {
        self.inactive[item as usize]
    }
    fn set_inactive(&mut self, item: u32, inactive: bool) {
        self.inactive[item as usize] = inactive;
    }
    fn started(&self, worker: WorkerId) -> usize {
        self.started.get(worker.index()).copied().unwrap_or(0)
    }
}

/// Marsaglia's xorshift with 64 bits of state.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (((self.next() >> 32) * bound as u64) >> 32) as usize
    }

    /// True once in `times`.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}
