//! The handles that post values.

use super::shared::{Node, Shared};
use super::{Bell, Chain, Receiver};
use crate::sync::{Ordering, prefetch_for_write};
use cmwq_core::completion::Urgency;
use core::fmt;
use core::ptr::NonNull;
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// How many nodes a [`Poster`] of a small ring keeps, and how many one keeps at most.
const KEPT: usize = 16;
const KEPT_MAX: usize = 64;

/// A ring of values, for those who post: a handle that can be cloned and shared.
///
/// Posting to a ring allocates nothing while there is room, takes no lock, and depends on no other poster's next
/// step: when a post has returned, the receiver, if it rests and the post is due, has been woken. When the last
/// handle is dropped the ring is closed.
pub struct Ring<T, B: Bell> {
    shared: Arc<Shared<T, B>>,
}

/// A ring's handle for one thread that posts much: it keeps free nodes, so that most posts are one read-modify-write.
///
/// It keeps up to 16 of them, of a ring of more than 1024 a 64th, up to 64. To fetch them moves some cache lines
/// between processors, nearly as many for few as for many.
pub struct Poster<T, B: Bell> {
    ring: Ring<T, B>,
    kept: [u32; KEPT_MAX],
    count: usize,
}

/// Room for one value, reserved: a post that cannot find the ring full. Dropped unused, it gives the room back.
pub struct Place<T, B: Bell> {
    ring: ManuallyDrop<Ring<T, B>>,
    node: NonNull<Node<T>>,
}

// SAFETY: the node is free, and the place's alone.
unsafe impl<T: Send, B: Bell + Send + Sync> Send for Place<T, B> {}

/// Why a post was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PostRefusal {
    /// No room is left in a bounded ring.
    Full,
    /// The ring has been closed.
    Closed,
    /// The receiver is gone. What it had not taken can be had by [`Ring::take_over`].
    NoReceiver,
}

impl fmt::Display for PostRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PostRefusal::Full => {
                "the completion ring is full: its receiver is behind, or its capacity too small"
            }
            PostRefusal::Closed => "the completion ring is closed",
            PostRefusal::NoReceiver => "the receiver of the completion ring is gone",
        })
    }
}

impl std::error::Error for PostRefusal {}

/// A value that was refused, given back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PostError<T> {
    /// The value.
    pub value: T,
    /// Why.
    pub refusal: PostRefusal,
}

impl<T> fmt::Debug for PostError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostError").field("refusal", &self.refusal).finish_non_exhaustive()
    }
}

impl<T> fmt::Display for PostError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal.fmt(f)
    }
}

impl<T> std::error::Error for PostError<T> {}

impl<T, B: Bell> Ring<T, B> {
    pub(super) fn new(shared: Arc<Shared<T, B>>) -> Self {
        Ring { shared }
    }

    /// Posts a value and wakes the receiver, whatever that waits for.
    ///
    /// # Context
    /// From any thread. Never blocks; allocates only in a growing ring that has no node left.
    ///
    /// # Errors
    /// [`PostError`], with the value.
    pub fn post(&self, value: T) -> Result<(), PostError<T>> {
        self.post_as(value, Urgency::Forced)
    }

    /// Posts a value that only counts: the receiver is woken when as many are there as it waits for.
    ///
    /// # Context
    /// As for [`Ring::post`].
    ///
    /// # Errors
    /// [`PostError`], with the value.
    pub fn post_lazy(&self, value: T) -> Result<(), PostError<T>> {
        self.post_as(value, Urgency::Lazy)
    }

    fn post_as(&self, value: T, urgency: Urgency) -> Result<(), PostError<T>> {
        match self.shared.acquire() {
            // SAFETY: acquired.
            Some(node) => unsafe { self.post_on(node, value, urgency) },
            None => Err(PostError { value, refusal: self.refusal() }),
        }
    }

    /// # Safety
    /// The node is the caller's and has no value; it is not used afterwards.
    #[inline]
    unsafe fn post_on(&self, node: NonNull<Node<T>>, value: T, urgency: Urgency) -> Result<(), PostError<T>> {
        // SAFETY: the caller's.
        unsafe { Node::fill(node, value) };
        // SAFETY: nodes live as long as the ring, or until they have been taken.
        match unsafe { self.shared.ring.post(Chain::one(node), urgency) } {
            Ok(()) => Ok(()),
            Err(_) => {
                // SAFETY: given back, with its value.
                let value = unsafe { Node::empty(node) };
                // SAFETY: as above.
                unsafe { self.shared.release(node) };
                Err(PostError { value, refusal: self.refusal() })
            }
        }
    }

    /// Why a post just failed.
    fn refusal(&self) -> PostRefusal {
        match (self.shared.ring.is_closed(), self.shared.has_receiver()) {
            (_, false) => PostRefusal::NoReceiver,
            (true, true) => PostRefusal::Closed,
            (false, true) => PostRefusal::Full,
        }
    }

    /// Posts all values at once, in their order, and wakes the receiver: it gets them in one batch. Leaves the vector
    /// empty, or as it was.
    ///
    /// # Context
    /// As for [`Ring::post`].
    ///
    /// # Errors
    /// Why it was refused; the values are still in the vector.
    pub fn post_chain(&self, values: &mut Vec<T>) -> Result<(), PostRefusal> {
        self.post_chain_as(values, Urgency::Forced)
    }

    /// Like [`Ring::post_chain`], for values that only count.
    ///
    /// # Context
    /// As for [`Ring::post`].
    ///
    /// # Errors
    /// As for [`Ring::post_chain`].
    pub fn post_chain_lazy(&self, values: &mut Vec<T>) -> Result<(), PostRefusal> {
        self.post_chain_as(values, Urgency::Lazy)
    }

    fn post_chain_as(&self, values: &mut Vec<T>, urgency: Urgency) -> Result<(), PostRefusal> {
        let wanted = values.len();
        let mut chain: Option<Chain<Node<T>>> = None;
        for _ in 0..wanted {
            let Some(node) = self.shared.acquire() else {
                if let Some(chain) = chain {
                    self.unlink(&chain, |_| {});
                }
                return Err(self.refusal());
            };
            match &mut chain {
                // SAFETY: acquired, in no chain.
                Some(chain) => unsafe { chain.push(node) },
                none => *none = Some(Chain::one(node)),
            }
        }
        let Some(chain) = chain else { return Ok(()) };
        // From the newest node to the oldest, as the vector is emptied from its end.
        let mut at = chain.newest();
        while let Some(value) = values.pop() {
            // SAFETY: the chain is the caller's, and its nodes have no value.
            unsafe { Node::fill(at, value) };
            if at == chain.oldest() {
                break;
            }
            // SAFETY: as above: there are as many nodes as values.
            at = unsafe { crate::Link::below(at) }.expect("a chain has its oldest node at its end");
        }
        // SAFETY: as in `post_on`.
        let posted = unsafe { self.shared.ring.post(chain, urgency) };
        posted.map_err(|chain| {
            // SAFETY: given back, with their values.
            self.unlink(&chain, |node| values.push(unsafe { Node::empty(node) }));
            values.reverse();
            self.refusal()
        })
    }

    /// Gives the nodes of a chain back, newest first.
    fn unlink(&self, chain: &Chain<Node<T>>, mut each: impl FnMut(NonNull<Node<T>>)) {
        let mut at = chain.newest();
        loop {
            each(at);
            // Only the oldest node's link is not set, or leads to what is not of the chain.
            // SAFETY: the chain is the caller's.
            let below = if at == chain.oldest() { None } else { unsafe { crate::Link::below(at) } };
            // SAFETY: as above, and without a value.
            unsafe { self.shared.release(at) };
            let Some(next) = below else { return };
            at = next;
        }
    }

    /// Reserves room for one value, so that a later post cannot find the ring full.
    ///
    /// # Context
    /// As for [`Ring::post`].
    ///
    /// # Errors
    /// Why there is none.
    pub fn reserve(&self) -> Result<Place<T, B>, PostRefusal> {
        if self.shared.ring.is_closed() {
            return Err(self.refusal());
        }
        let node = self.shared.acquire().ok_or_else(|| self.refusal())?;
        Ok(Place { ring: ManuallyDrop::new(self.clone()), node })
    }

    /// A handle for one thread that posts much.
    pub fn poster(&self) -> Poster<T, B> {
        Poster { ring: self.clone(), kept: [0; KEPT_MAX], count: 0 }
    }

    /// Closes the ring: posts are refused from now on, the receiver is woken, and what has been posted can still be
    /// taken.
    ///
    /// # Context
    /// As for [`Ring::post`].
    pub fn close(&self) {
        self.shared.ring.close();
    }

    /// Whether the ring is closed. If not, out of date when it returns.
    pub fn is_closed(&self) -> bool {
        self.shared.ring.is_closed()
    }

    /// How many values have been posted and are not yet in the receiver's hands. Out of date when it returns.
    pub fn length(&self) -> u32 {
        self.shared.ring.length()
    }

    /// Becomes the receiver in the place of one that is gone, with all that it had not given out. The ring stays
    /// closed. `None`: there is a receiver.
    ///
    /// # Context
    /// Never blocks.
    pub fn take_over(&self) -> Option<Receiver<T, B>> {
        self.shared.become_receiver().then(|| Receiver::new(self.shared.clone()))
    }
}

impl<T, B: Bell> Clone for Ring<T, B> {
    fn clone(&self) -> Self {
        // Ordering: relaxed: a count; this handle keeps it from zero.
        self.shared.posters.fetch_add(1, Ordering::Relaxed);
        Ring { shared: self.shared.clone() }
    }
}

impl<T, B: Bell> Drop for Ring<T, B> {
    fn drop(&mut self) {
        // Ordering: release and acquire: the close comes after the last post of every handle. Weaker: that is refused.
        if self.shared.posters.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.shared.ring.close();
        }
    }
}

impl<T, B: Bell> fmt::Debug for Ring<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ring").field("length", &self.length()).field("closed", &self.is_closed()).finish()
    }
}

impl<T, B: Bell> Poster<T, B> {
    #[inline]
    fn node(&mut self) -> Option<NonNull<Node<T>>> {
        if self.count == 0 {
            let share = self.ring.shared.part().clamp(KEPT, KEPT_MAX);
            self.count = self.ring.shared.take(&mut self.kept[..share]);
            if self.count == 0 {
                return self.ring.shared.acquire();
            }
            // In the order of the list, which is that in which the receiver went through them.
            self.kept[..self.count].reverse();
            for index in &self.kept[..self.count] {
                prefetch_for_write(self.ring.shared.node(*index).as_ptr());
            }
        }
        self.count -= 1;
        Some(self.ring.shared.node(self.kept[self.count]))
    }

    #[inline]
    fn post_as(&mut self, value: T, urgency: Urgency) -> Result<(), PostError<T>> {
        match self.node() {
            // SAFETY: the node is this handle's.
            Some(node) => unsafe { self.ring.post_on(node, value, urgency) },
            None => Err(PostError { value, refusal: self.ring.refusal() }),
        }
    }

    /// As [`Ring::post`].
    ///
    /// # Context
    /// As for [`Ring::post`].
    ///
    /// # Errors
    /// [`PostError`], with the value.
    #[inline]
    pub fn post(&mut self, value: T) -> Result<(), PostError<T>> {
        self.post_as(value, Urgency::Forced)
    }

    /// As [`Ring::post_lazy`].
    ///
    /// # Context
    /// As for [`Ring::post`].
    ///
    /// # Errors
    /// [`PostError`], with the value.
    #[inline]
    pub fn post_lazy(&mut self, value: T) -> Result<(), PostError<T>> {
        self.post_as(value, Urgency::Lazy)
    }

    /// The ring.
    pub fn ring(&self) -> &Ring<T, B> {
        &self.ring
    }
}

impl<T, B: Bell> Drop for Poster<T, B> {
    fn drop(&mut self) {
        self.ring.shared.give(&self.kept[..self.count]);
    }
}

impl<T, B: Bell> fmt::Debug for Poster<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poster").field("ring", &self.ring).field("kept", &self.count).finish()
    }
}

impl<T, B: Bell> Place<T, B> {
    /// Posts the value there, and wakes the receiver.
    ///
    /// # Context
    /// Never blocks, allocates nothing.
    ///
    /// # Errors
    /// [`PostError`], with the value, if the ring has been closed.
    pub fn post(self, value: T) -> Result<(), PostError<T>> {
        self.post_as(value, Urgency::Forced)
    }

    /// Posts the value there; it only counts, as by [`Ring::post_lazy`].
    ///
    /// # Context
    /// Never blocks, allocates nothing.
    ///
    /// # Errors
    /// [`PostError`], with the value, if the ring has been closed.
    pub fn post_lazy(self, value: T) -> Result<(), PostError<T>> {
        self.post_as(value, Urgency::Lazy)
    }

    fn post_as(self, value: T, urgency: Urgency) -> Result<(), PostError<T>> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: the place is not used again, nor dropped.
        let ring = unsafe { ManuallyDrop::take(&mut this.ring) };
        // SAFETY: the node is the place's, without a value.
        unsafe { ring.post_on(this.node, value, urgency) }
    }
}

impl<T, B: Bell> Drop for Place<T, B> {
    fn drop(&mut self) {
        // SAFETY: the node is the place's, without a value.
        unsafe { self.ring.shared.release(self.node) };
        // SAFETY: dropped once.
        unsafe { ManuallyDrop::drop(&mut self.ring) };
    }
}

impl<T, B: Bell> fmt::Debug for Place<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").field("ring", &*self.ring).finish_non_exhaustive()
    }
}
