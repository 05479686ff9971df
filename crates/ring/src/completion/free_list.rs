//! Free nodes, taken and given back by any thread without a lock.

use crate::CacheLine;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use cmwq_core::completion::FreeWord;
use cmwq_core::step::Step;

/// The driver of [`FreeWord`]. The nodes' links lie where the user wants them: a function leads from an index to the
/// link of that node, which holds an index plus one, and exists as long as the list (`R7 type-stable`).
#[derive(Debug, Default)]
pub struct FreeList {
    head: CacheLine<AtomicFree>,
}

#[derive(Debug)]
struct AtomicFree(AtomicU64);

impl Default for AtomicFree {
    fn default() -> Self {
        AtomicFree(AtomicU64::new(FreeWord::default().bits()))
    }
}

impl FreeList {
    /// Takes free nodes, at most as many as `indices` has places, by one step for all. Answers how many. Never blocks.
    pub fn take<'a>(&self, indices: &mut [u32], link: impl Fn(u32) -> &'a AtomicU32) -> usize {
        // Ordering: acquire pairs with `give`: the links of the list are seen.
        let mut bits = self.head.0.0.load(Ordering::Acquire);
        loop {
            let word = FreeWord::from_bits(bits);
            let (mut at, mut count) = (word.first(), 0);
            while at != 0 && count < indices.len() {
                indices[count] = at - 1;
                count += 1;
                // Ordering: relaxed: if the node has been taken meanwhile the value is stale, and the CAS fails.
                at = link(at - 1).load(Ordering::Relaxed);
            }
            if count == 0 {
                return 0;
            }
            let Step::Write(next, ()) = word.remove(at) else { return 0 };
            // Ordering: acquire, so that what the giver did with a node comes before what the taker does. That this
            // step continues the release sequences of earlier `give`s needs no release.
            match self.head.0.0.compare_exchange_weak(bits, next.bits(), Ordering::Acquire, Ordering::Acquire)
            {
                Ok(_) => return count,
                Err(seen) => bits = seen,
            }
        }
    }

    /// Gives nodes back, by one step for all. Never blocks.
    pub fn give<'a>(&self, indices: &[u32], link: impl Fn(u32) -> &'a AtomicU32) {
        let (Some(&first), Some(&last)) = (indices.first(), indices.last()) else { return };
        for pair in indices.windows(2) {
            // Ordering: relaxed: published by the CAS below.
            link(pair[0]).store(pair[1] + 1, Ordering::Relaxed);
        }
        // Ordering: a guess; the CAS decides.
        let mut bits = self.head.0.0.load(Ordering::Relaxed);
        loop {
            let Step::Write(next, below) = FreeWord::from_bits(bits).add(first + 1) else { return };
            // Ordering: relaxed, as above.
            link(last).store(below, Ordering::Relaxed);
            // Ordering: release publishes the links, and ends what this thread did with the nodes.
            match self.head.0.0.compare_exchange_weak(bits, next.bits(), Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => return,
                Err(seen) => bits = seen,
            }
        }
    }
}
