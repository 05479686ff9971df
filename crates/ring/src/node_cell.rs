//! The counts of one NUMA node of one queue under threads.

use crate::CacheLine;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use cmwq_core::pwq::{NodeWord, Passing, Waited, next_in_line};
use cmwq_core::step::Step;

/// What a member that asked for a count learns.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// So many counts, at least one.
    Got(u32),
    /// None: it will be granted one. `first`: nobody waited before, so the other members must be told.
    Waits {
        /// Nobody waited before.
        first: bool,
    },
}

/// The driver of [`NodeWord`], and the bits of the members that wait. A member is a pwq, by its number in the node;
/// it asks and withdraws under its pool's lock, so never twice at once.
#[derive(Debug)]
pub struct NodeCell {
    word: CacheLine<AtomicU64>,
    /// A bit a member.
    waiting: Box<[AtomicU64]>,
    members: usize,
    /// The member at which the next look for a waiting one begins.
    turn: AtomicU32,
}

impl NodeCell {
    /// A node with this limit and so many members, none of which waits.
    pub fn new(max: u32, members: usize) -> NodeCell {
        NodeCell {
            word: CacheLine(AtomicU64::new(NodeWord::new(max).bits())),
            waiting: (0..members.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            members,
            turn: AtomicU32::new(0),
        }
    }

    /// The word as it is now. Never blocks.
    pub fn read(&self) -> NodeWord {
        // Ordering: acquire pairs with every transition's release: who sees that somebody waits sees the bit.
        NodeWord::from_bits(self.word.load(Ordering::Acquire))
    }

    fn update<A>(&self, transition: impl Fn(NodeWord) -> Step<NodeWord, A>) -> A {
        let mut word = self.read();
        loop {
            match transition(word) {
                Step::Keep(answer) => return answer,
                Step::Write(next, answer) => {
                    // Ordering: release publishes the bit set before `wait` to whoever passes a count on; acquire, so
                    // that who takes a count sees what was done under it before, and who passes one on sees the bits
                    // of all that have announced themselves.
                    let swap = self.word.compare_exchange_weak(
                        word.bits(),
                        next.bits(),
                        Ordering::AcqRel,
                        Ordering::Acquire,
                    );
                    match swap {
                        Ok(_) => return answer,
                        Err(seen) => word = NodeWord::from_bits(seen),
                    }
                }
            }
        }
    }

    /// A member takes up to `want` counts; with none left it waits from now on. Never blocks.
    pub fn take(&self, member: usize, want: u32) -> Counted {
        let taken = self.update(|word| word.take(want));
        if taken > 0 {
            return Counted::Got(taken);
        }
        self.set(member);
        match self.update(NodeWord::wait) {
            // If somebody has cleared the bit before, a grant is on its way as well.
            Waited::Got => {
                self.clear(member);
                Counted::Got(1)
            }
            Waited::Waits { first } => Counted::Waits { first },
        }
    }

    /// A member no longer waits. A grant may be on its way all the same. Never blocks.
    pub fn stop_waiting(&self, member: usize) {
        self.clear(member);
    }

    /// Gives back counts. `grant` is called for each one that goes to a member that waited, with its number. Never
    /// blocks.
    pub fn give(&self, count: u32, grant: impl FnMut(usize)) {
        self.pass_on(self.update(|word| word.give(count)), grant);
    }

    /// Changes the limit; `grant` as for [`NodeCell::give`]. Never blocks.
    pub fn set_max(&self, max: u32, grant: impl FnMut(usize)) {
        self.update(|word| word.set_max(max));
        self.pass_on(self.update(NodeWord::more), grant);
    }

    fn pass_on(&self, mut passing: Passing, mut grant: impl FnMut(usize)) {
        while let Passing::InHand { turn } = passing {
            passing = match self.next() {
                Some(member) => {
                    // Ordering: relaxed: where to begin is only a matter of fairness.
                    self.turn.store(member as u32 + 1, Ordering::Relaxed);
                    grant(member);
                    self.update(NodeWord::more)
                }
                None => self.update(|word| word.quiet(turn)),
            };
        }
    }

    /// The next member that waits; it no longer does.
    fn next(&self) -> Option<usize> {
        // Ordering: relaxed, as in `pass_on`.
        let from = self.turn.load(Ordering::Relaxed) as usize;
        loop {
            // Ordering: relaxed: the bits of those that have announced themselves in the word are visible by its
            // acquire; the clear decides.
            let bits = |at: usize| self.waiting[at].load(Ordering::Relaxed);
            let member = next_in_line(self.members, from, bits)?;
            if self.clear(member) {
                return Some(member);
            }
        }
    }

    fn set(&self, member: usize) {
        // Ordering: relaxed: published by the word.
        self.waiting[member / 64].fetch_or(1 << (member % 64), Ordering::Relaxed);
    }

    /// Whether the bit was set.
    fn clear(&self, member: usize) -> bool {
        let bit = 1 << (member % 64);
        // Ordering: relaxed: who clears a bit is decided on this word alone.
        self.waiting[member / 64].fetch_and(!bit, Ordering::Relaxed) & bit != 0
    }
}
