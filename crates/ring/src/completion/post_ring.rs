//! The intrusive ring: nodes that their posters own until they have posted them.

use super::Bell;
use crate::CacheLine;
use crate::inbox::{Link, reverse};
use crate::sync::{AtomicU64, Ordering};
use cmwq_core::completion::{HeadWord, Owed, Post, RestWord, Rester, Urgency};
use cmwq_core::step::Step;
use core::marker::PhantomData;
use core::ptr::{self, NonNull};
use core::time::Duration;

/// The lowest bits of a node's address, which are zero.
const ALIGN_BITS: u32 = 4;

/// The driver of [`HeadWord`] and [`RestWord`]. A node is named by its address.
///
/// Nodes are of any type with room for one [`Link`], and of an alignment of 16 at least. Posting allocates nothing and
/// takes no lock.
pub struct PostRing<N, B> {
    head: CacheLine<AtomicU64>,
    rest: CacheLine<AtomicU64>,
    bell: B,
    nodes: PhantomData<fn(NonNull<N>) -> NonNull<N>>,
}

/// Nodes linked newest to oldest, to be posted at once.
#[derive(Debug)]
pub struct Chain<N> {
    newest: NonNull<N>,
    oldest: NonNull<N>,
    count: u32,
}

/// What [`PostRing::take`] found.
#[derive(Debug)]
pub struct Taken<N> {
    /// The oldest node, with the newer ones behind it by [`Link::below`], and the newest.
    pub nodes: Option<(NonNull<N>, NonNull<N>)>,
    /// How many they are.
    pub count: usize,
    /// Whether one of them was forced.
    pub is_forced: bool,
    /// Whether the ring is closed: nothing will follow.
    pub is_closed: bool,
}

impl<N: Link> Chain<N> {
    /// A chain of one node.
    pub fn one(node: NonNull<N>) -> Chain<N> {
        Chain { newest: node, oldest: node, count: 1 }
    }

    /// Adds a newer node.
    ///
    /// # Safety
    /// The node is valid, owned by the caller and in no chain.
    pub unsafe fn push(&mut self, node: NonNull<N>) {
        // SAFETY: the caller's.
        unsafe { N::set_below(node, Some(self.newest)) };
        self.newest = node;
        self.count = self.count.saturating_add(1);
    }

    /// The newest node; the others are below it, until the one that is [`Chain::oldest`].
    pub fn newest(&self) -> NonNull<N> {
        self.newest
    }

    /// The node that was the chain's first.
    pub fn oldest(&self) -> NonNull<N> {
        self.oldest
    }
}

fn name<N>(node: NonNull<N>) -> u64 {
    let address = node.as_ptr().expose_provenance() as u64;
    let name = address >> ALIGN_BITS;
    assert!(
        name < HeadWord::NODES_END && address.trailing_zeros() >= ALIGN_BITS,
        "a node of a completion ring lies at a multiple of 16 below 2^48, not at {address:#x}"
    );
    name
}

fn named<N>(name: u64) -> Option<NonNull<N>> {
    NonNull::new(ptr::with_exposed_provenance_mut((name << ALIGN_BITS) as usize))
}

impl<N: Link, B: Bell> PostRing<N, B> {
    /// An empty ring.
    pub fn new(bell: B) -> Self {
        PostRing {
            head: CacheLine(AtomicU64::new(HeadWord::default().bits())),
            rest: CacheLine(AtomicU64::new(RestWord::default().bits())),
            bell,
            nodes: PhantomData,
        }
    }

    /// What wakes the receiver.
    pub fn bell(&self) -> &B {
        &self.bell
    }

    /// Posts a chain. A closed ring gives it back, as it was.
    ///
    /// # Context
    /// From any thread, also from a signal handler. Never blocks, allocates nothing, and waits for nobody.
    ///
    /// # Errors
    /// The chain, when the ring is closed.
    ///
    /// # Panics
    /// If a node lies where 44 bits cannot name it.
    ///
    /// # Safety
    /// The nodes are valid until they have been taken and dealt with, and owned by the caller.
    #[inline]
    pub unsafe fn post(&self, chain: Chain<N>, urgency: Urgency) -> Result<(), Chain<N>> {
        // SAFETY: the caller's.
        let head = unsafe { self.put(chain, urgency) }?;
        self.settle(head);
        Ok(())
    }

    /// P1, the first step of [`PostRing::post`]: whoever gets a head owes [`PostRing::settle`]. Never blocks.
    ///
    /// # Errors
    /// As for [`PostRing::post`].
    ///
    /// # Safety
    /// As for [`PostRing::post`].
    #[inline]
    pub unsafe fn put(&self, chain: Chain<N>, urgency: Urgency) -> Result<HeadWord, Chain<N>> {
        let newest = name(chain.newest);
        // Ordering: a guess; the CAS decides.
        let mut bits = self.head.load(Ordering::Relaxed);
        loop {
            let Step::Write(next, Post::Posted { below }) =
                HeadWord::from_bits(bits).post(newest, chain.count, urgency)
            else {
                return Err(chain);
            };
            // SAFETY: R2 whole takes: the chain is the caller's until the CAS succeeds.
            unsafe { N::set_below(chain.oldest, named(below)) };
            // Ordering: release publishes the nodes to `take`; acquire pairs with `look`: a post that comes after the
            // receiver's second look sees that it rests. Weaker: the taker reads unwritten nodes; nobody wakes it.
            match self.head.compare_exchange_weak(bits, next.bits(), Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return Ok(next),
                Err(seen) => bits = seen,
            }
        }
    }

    /// P2 to P4, after a put or a close that made the head this: sees to it that a receiver for which that is due
    /// wakes. Never blocks.
    #[inline]
    pub fn settle(&self, head: HeadWord) {
        if let Owed::Wake(parked) = self.owed(head) {
            self.issue(parked);
        }
    }

    /// P2: what is owed. Never blocks.
    #[inline]
    pub fn owed(&self, head: HeadWord) -> Owed {
        // Ordering: relaxed: that it comes after the push, and is as new as the receiver's second look before that, is
        // the acquire of `put`.
        RestWord::from_bits(self.rest.load(Ordering::Relaxed)).owed(head)
    }

    /// P3 and P4: wakes, then marks. Never blocks.
    #[cold]
    pub fn issue(&self, parked: RestWord) {
        self.bell.ring(parked.rester());
        self.mark(parked);
    }

    /// P4: the wake-up of this rest has returned. Never blocks.
    pub fn mark(&self, parked: RestWord) {
        let Step::Write(next, ()) = parked.issued(parked) else { return };
        // Another rest's word differs in its epoch: R5 own rest.
        // Ordering: release: the wake-up comes before the mark, for whoever acts on the mark. Relaxed on failure: the
        // rest is over.
        let _ = self.rest.compare_exchange(parked.bits(), next.bits(), Ordering::Release, Ordering::Relaxed);
    }

    /// Closes the ring, for whoever calls; what has been posted stays. Never blocks.
    pub fn close(&self) {
        // Ordering: as for a post: the close is one.
        let old = self.head.fetch_or(HeadWord::CLOSE, Ordering::AcqRel);
        let Step::Write(head, _) = HeadWord::from_bits(old).close() else { return };
        self.settle(head);
    }

    /// Whether the ring is closed. Out of date when it returns, unless true.
    pub fn is_closed(&self) -> bool {
        // Ordering: a hint.
        HeadWord::from_bits(self.head.load(Ordering::Relaxed)).is_closed()
    }

    /// How many messages have been posted and not taken, [`HeadWord::LENGTH_MAX`] for that many or more. Out of date
    /// when it returns.
    pub fn length(&self) -> u32 {
        // Ordering: a hint.
        HeadWord::from_bits(self.head.load(Ordering::Relaxed)).length()
    }

    /// T1, receiver: takes everything, in the order of posting. Never blocks.
    pub fn take(&self) -> Taken<N> {
        let mut taken = self.take_newest_first();
        if let Some((newest, _)) = taken.nodes {
            // SAFETY: R2 whole takes: the list is this thread's.
            let (oldest, count) = unsafe { reverse(newest) };
            taken.nodes = Some((oldest, newest));
            taken.count = count;
        }
        taken
    }

    /// T1, receiver: takes everything as it lies there: in front the newest node, with the older ones behind it by
    /// [`Link::below`]. Their count is not known yet, and given as zero, and so is the oldest, in whose place there
    /// is the newest. Never blocks.
    pub fn take_newest_first(&self) -> Taken<N> {
        // Ordering: a hint. A stale "empty" is harmless: who rests decides by `look`.
        let mut head = HeadWord::from_bits(self.head.load(Ordering::Relaxed));
        if head.newest() != 0 {
            // Ordering: acquire pairs with each put's release: they are read-modify-writes, so that the release
            // sequence covers all nodes of the list.
            head = HeadWord::from_bits(self.head.fetch_and(HeadWord::KEPT, Ordering::Acquire));
        }
        let nodes = named::<N>(head.newest()).map(|newest| (newest, newest));
        Taken { nodes, count: 0, is_forced: head.is_forced(), is_closed: head.is_closed() }
    }

    /// T2 and T3, receiver: is about to rest until `need` messages are there. `false`: they are, or one is forced, or
    /// the ring is closed, and it does not rest. Never blocks.
    #[must_use = "a receiver that is not armed must not wait"]
    pub fn arm(&self, need: u32, rester: Rester) -> bool {
        let rest = self.read_rest();
        let Step::Write(parked, ()) = rest.park(need, rester) else { return false };
        // Ordering: relaxed: published by `look`, or not relied on.
        self.rest.store(parked.bits(), Ordering::Relaxed);
        if self.look().is_due(parked.need()) {
            self.resume();
            return false;
        }
        true
    }

    /// T3, R3 look by writing.
    fn look(&self) -> HeadWord {
        // Ordering: release publishes PARKED to the acquire of each later put. It writes what it reads; a load instead
        // could be answered before PARKED is visible, and both sides would miss each other.
        HeadWord::from_bits(self.head.fetch_or(0, Ordering::AcqRel))
    }

    /// T5, receiver: is up. Never blocks.
    pub fn resume(&self) {
        let Step::Write(next, ()) = self.read_rest().resume() else { return };
        // A poster that still reads PARKED leaves a token too many.
        // Ordering: acquire pairs with `mark`, so that a mark of this rest comes before the next PARKED for
        // everybody. A plain store would do, since the mark is a compare-and-swap, but the model does not know that.
        self.rest.swap(next.bits(), Ordering::Acquire);
    }

    /// The receiver's own view of its word: only the epoch is used, which nobody else changes.
    fn read_rest(&self) -> RestWord {
        // Ordering: relaxed: the epoch is the receiver's own.
        RestWord::from_bits(self.rest.load(Ordering::Relaxed))
    }

    /// T2 to T5, receiver: rests until `need` messages are there, one is forced, the ring is closed, or so much time
    /// has passed; perhaps for less. Blocks.
    pub fn rest(&self, need: u32, left: Option<Duration>) {
        if self.arm(need, Rester::Thread) {
            self.bell.wait(left);
            self.resume();
        }
    }
}

impl<N, B: core::fmt::Debug> core::fmt::Debug for PostRing<N, B> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PostRing").field("bell", &self.bell).finish_non_exhaustive()
    }
}
