//! What the handles of a ring of values share: the intrusive ring, and the nodes.

use super::{Bell, FreeList, PostRing, Receiver, Ring};
use crate::Link;
use crate::sync::{AtomicU32, Ordering, prefetch_for_read};
use cmwq_core::completion::FreeWord;
use core::cell::UnsafeCell;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use std::sync::Arc;

/// How many free nodes the receiver of a small ring collects before it gives them back, and of any ring at most.
const FREED: usize = 32;
const FREED_MAX: usize = 64;
/// Who keeps nodes of a large ring keeps one in so many.
const PART: usize = 64;
/// How many nodes in front of the one it reads the receiver asks for.
const NODES_AHEAD: usize = 32;
/// A take of fewer values is a small one.
const DENSE_LESS: usize = 32;

/// How many values a ring has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// So many; a post that finds no room is refused and gives the value back. Room that a [`Poster`](super::Poster)
    /// keeps, that is reserved, or that a stopped poster holds, is not room for others.
    Bounded(u32),
    /// So many without allocation; further posts allocate, which takes locks: they are outside the promise.
    Growing(u32),
}

impl Capacity {
    /// The largest: more are not told apart.
    pub const MAX: u32 = FreeWord::NODES_MAX;

    fn nodes(self) -> u32 {
        match self {
            Capacity::Bounded(nodes) | Capacity::Growing(nodes) => nodes,
        }
    }
}

/// A node with a value.
#[repr(C, align(16))]
pub(super) struct Node<T> {
    below: UnsafeCell<Option<NonNull<Node<T>>>>,
    value: UnsafeCell<MaybeUninit<T>>,
}

// SAFETY: one field, accessed by nobody else; the alignment is 16.
unsafe impl<T> Link for Node<T> {
    unsafe fn below(this: NonNull<Self>) -> Option<NonNull<Self>> {
        // SAFETY: valid, says the caller.
        let place = unsafe { this.as_ref() }.below.get();
        // SAFETY: R2 whole takes: the caller's.
        unsafe { *place }
    }

    unsafe fn set_below(this: NonNull<Self>, below: Option<NonNull<Self>>) {
        // SAFETY: valid, says the caller.
        let place = unsafe { this.as_ref() }.below.get();
        // SAFETY: R2 whole takes: the caller's.
        unsafe { *place = below };
    }
}

impl<T> Node<T> {
    fn new() -> Self {
        Node { below: UnsafeCell::new(None), value: UnsafeCell::new(MaybeUninit::uninit()) }
    }

    /// # Safety
    /// The node is the caller's and has no value.
    pub(super) unsafe fn fill(this: NonNull<Self>, value: T) {
        // SAFETY: valid, since it is the caller's.
        let place = unsafe { this.as_ref() }.value.get();
        // SAFETY: the caller's, as said.
        unsafe { (*place).write(value) };
    }

    /// # Safety
    /// The node is the caller's and has a value, which it has no longer afterwards.
    pub(super) unsafe fn empty(this: NonNull<Self>) -> T {
        // SAFETY: valid, since it is the caller's.
        let place = unsafe { this.as_ref() }.value.get();
        // SAFETY: the caller's, as said.
        let value = unsafe { &*place };
        // SAFETY: it has a value, which is not read again.
        unsafe { value.assume_init_read() }
    }
}

/// What belongs to whoever is the receiver.
pub(super) struct Side<T> {
    /// What has been taken from the ring, oldest first; from `given` on it has not been given out. Addresses, so
    /// that the receiver need not write the nodes, whose cache lines would have to move once more.
    batch: Vec<NonNull<Node<T>>>,
    given: usize,
    /// Whether one of the batch was forced.
    pub(super) is_forced: bool,
    /// Whether messages come one by one, faster than the receiver could rest.
    pub(super) is_dense: bool,
    freed: [u32; FREED_MAX],
    freed_count: usize,
}

pub(super) struct Shared<T, B: Bell> {
    pub(super) ring: PostRing<Node<T>, B>,
    nodes: Box<[Node<T>]>,
    free: FreeList,
    /// Of the free list, for each node.
    links: Box<[AtomicU32]>,
    is_growing: bool,
    /// How many handles can post.
    pub(super) posters: AtomicU32,
    /// 1 while there is a receiver.
    receiver: AtomicU32,
    side: UnsafeCell<Side<T>>,
}

// SAFETY: values are given from thread to thread by the ring; the side belongs to the one receiver.
unsafe impl<T: Send, B: Bell + Sync> Sync for Shared<T, B> {}
// SAFETY: as above; the nodes are the ring's.
unsafe impl<T: Send, B: Bell + Send> Send for Shared<T, B> {}

/// Makes a ring of values, woken by `bell`.
///
/// # Context
/// Allocates all nodes. Does not block.
///
/// # Panics
/// If the capacity is 0 or larger than [`Capacity::MAX`], and if the allocator places nodes above 2^48.
pub fn ring<T: Send, B: Bell>(capacity: Capacity, bell: B) -> (Ring<T, B>, Receiver<T, B>) {
    let count = capacity.nodes();
    assert!(
        (1..=Capacity::MAX).contains(&count),
        "a ring has room for 1 to {} values, not {count}",
        Capacity::MAX
    );
    let nodes: Box<[Node<T>]> = (0..count).map(|_| Node::new()).collect();
    let batch = Vec::with_capacity(count as usize);
    let side =
        Side { batch, given: 0, is_forced: false, is_dense: false, freed: [0; FREED_MAX], freed_count: 0 };
    let shared = Arc::new(Shared {
        ring: PostRing::new(bell),
        nodes,
        free: FreeList::default(),
        links: (0..count).map(|_| AtomicU32::new(0)).collect(),
        is_growing: matches!(capacity, Capacity::Growing(_)),
        posters: AtomicU32::new(1),
        receiver: AtomicU32::new(1),
        side: UnsafeCell::new(side),
    });
    shared.give(&Vec::from_iter(0..count));
    (Ring::new(shared.clone()), Receiver::new(shared))
}

impl<T, B: Bell> Shared<T, B> {
    /// How many nodes of a large pool one thread may keep.
    #[inline]
    pub(super) fn part(&self) -> usize {
        self.nodes.len() / PART
    }

    /// Takes indices of free nodes of the pool. Never blocks.
    pub(super) fn take(&self, indices: &mut [u32]) -> usize {
        self.free.take(indices, |index| &self.links[index as usize])
    }

    pub(super) fn give(&self, indices: &[u32]) {
        self.free.give(indices, |index| &self.links[index as usize]);
    }

    pub(super) fn node(&self, index: u32) -> NonNull<Node<T>> {
        NonNull::from(&self.nodes[index as usize])
    }

    /// Which node of the pool it is; none for one that was allocated when that was empty.
    #[inline]
    fn index(&self, node: NonNull<Node<T>>) -> Option<u32> {
        let first = self.nodes.as_ptr().addr();
        let index = node.as_ptr().addr().wrapping_sub(first) / size_of::<Node<T>>();
        (index < self.nodes.len()).then_some(index as u32)
    }

    /// A node to post on, if there is room.
    pub(super) fn acquire(&self) -> Option<NonNull<Node<T>>> {
        let mut index = [0];
        if self.take(&mut index) == 1 {
            return Some(self.node(index[0]));
        }
        self.is_growing.then(|| NonNull::from(Box::leak(Box::new(Node::new()))))
    }

    /// # Safety
    /// The node is the caller's, has no value, and is not used afterwards.
    pub(super) unsafe fn release(&self, node: NonNull<Node<T>>) {
        match self.index(node) {
            Some(index) => self.give(&[index]),
            // SAFETY: a grown node was made by `acquire`, and is the caller's.
            None => drop(unsafe { Box::from_raw(node.as_ptr()) }),
        }
    }

    /// Whether there is a receiver. Out of date when it returns.
    pub(super) fn has_receiver(&self) -> bool {
        // Ordering: for a message only.
        self.receiver.load(Ordering::Relaxed) == 1
    }

    /// Makes the caller the receiver, if there is none.
    pub(super) fn become_receiver(&self) -> bool {
        // Ordering: acquire pairs with `leave_receiver`: the side is as the last receiver left it.
        self.receiver.compare_exchange(0, 1, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    pub(super) fn leave_receiver(&self) {
        // Ordering: release publishes the side to the next receiver.
        self.receiver.store(0, Ordering::Release);
    }

    /// # Safety
    /// The caller is the one receiver, and has no other reference to its side.
    #[expect(clippy::mut_from_ref, reason = "the receiver's part of the shared state")]
    pub(super) unsafe fn side(&self) -> &mut Side<T> {
        // SAFETY: the caller's.
        unsafe { &mut *self.side.get() }
    }

    /// Takes what has been posted into the batch. Answers whether the ring is closed.
    ///
    /// # Safety
    /// As for [`Shared::side`].
    pub(super) unsafe fn fetch(&self) -> bool {
        let taken = self.ring.take_newest_first();
        // SAFETY: the caller's.
        let side = unsafe { self.side() };
        if let Some((newest, _)) = taken.nodes {
            let first = side.batch.len();
            let mut at = Some(newest);
            while let Some(node) = at {
                // Posters use nodes in the order of their addresses, mostly: the next ones are there.
                prefetch_for_read(node.as_ptr().wrapping_sub(NODES_AHEAD));
                side.batch.push(node);
                // SAFETY: R2 whole takes: the list is the receiver's.
                at = unsafe { Node::below(node) };
            }
            side.batch[first..].reverse();
            side.is_forced |= taken.is_forced;
            side.is_dense = side.batch.len() - first < DENSE_LESS;
        }
        taken.is_closed
    }

    /// The oldest value of the batch.
    ///
    /// # Safety
    /// As for [`Shared::side`].
    #[inline]
    pub(super) unsafe fn next(&self) -> Option<T> {
        // SAFETY: the caller's.
        let side = unsafe { self.side() };
        let oldest = *side.batch.get(side.given)?;
        side.given += 1;
        // SAFETY: R2 whole takes: the batch is the receiver's, and every posted node has a value.
        let value = unsafe { Node::empty(oldest) };
        match self.index(oldest) {
            Some(index) => {
                side.freed[side.freed_count] = index;
                side.freed_count += 1;
            }
            // SAFETY: made by `acquire`, and the receiver's.
            None => drop(unsafe { Box::from_raw(oldest.as_ptr()) }),
        }
        let is_last = side.given == side.batch.len();
        if is_last {
            side.batch.clear();
            side.given = 0;
            side.is_forced = false;
        }
        if is_last || side.freed_count == self.part().clamp(FREED, FREED_MAX) {
            self.give(&side.freed[..side.freed_count]);
            side.freed_count = 0;
        }
        Some(value)
    }
}

impl<T> Side<T> {
    /// How many values the batch has that have not been given out.
    pub(super) fn count(&self) -> usize {
        self.batch.len() - self.given
    }
}

impl<T, B: Bell> Drop for Shared<T, B> {
    fn drop(&mut self) {
        // SAFETY: nobody else has the ring.
        unsafe { self.fetch() };
        // SAFETY: as above.
        while let Some(value) = unsafe { self.next() } {
            drop(value);
        }
    }
}
