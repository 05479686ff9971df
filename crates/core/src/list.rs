//! An intrusive first-in first-out list over handles, without pointers.
//!
//! The list stores handles; the links live wherever [`Items`] keeps them (inside the items in the runtime, in arrays
//! in a model). Nothing here allocates.

use crate::id::{PwqId, WorkerId};

/// Access to what the core must read and write of an item, by handle.
///
/// A handle may be used while the item is pending and its pool's lock is held: then its links belong to the pool
/// (invariant `W3 pending owns links` of the work essay).
pub trait Items {
    /// A handle: an address in the runtime, a small number in a model.
    type Item: Copy + Eq + core::hash::Hash + core::fmt::Debug;

    /// The next item in the list this one is linked in.
    fn next(&self, item: Self::Item) -> Option<Self::Item>;
    /// Sets [`Items::next`].
    fn set_next(&mut self, item: Self::Item, next: Option<Self::Item>);
    /// The previous item in the list this one is linked in.
    fn prev(&self, item: Self::Item) -> Option<Self::Item>;
    /// Sets [`Items::prev`].
    fn set_prev(&mut self, item: Self::Item, prev: Option<Self::Item>);
    /// The pwq the item was submitted to.
    fn pwq(&self, item: Self::Item) -> PwqId;
    /// The item's function, for an item whose owner may free or reuse it while it runs. Such an item is kept from
    /// running twice at once by looking for (handle, function) among the running ones. `None` for items whose own
    /// word carries the running state.
    fn function(&self, item: Self::Item) -> Option<usize>;
    /// Whether the item waits behind its queue's `max_active`.
    fn is_inactive(&self, item: Self::Item) -> bool;
    /// Sets [`Items::is_inactive`].
    fn set_inactive(&mut self, item: Self::Item, inactive: bool);
    /// How many items of its current batch a worker has started, those it has reported included; the last of them may
    /// still run.
    fn started(&self, worker: WorkerId) -> usize;
    /// The leaseholder: it takes items without the lock, so that the core does not know what it is inside. See the
    /// inbox
    /// word.
    fn leaseholder(&self) -> Option<WorkerId> {
        None
    }
    /// Takes up to `want` counts of the pwq's node. With none left the pwq is announced as waiting, and a grant will
    /// come ([`crate::pool::Event::Granted`]). See the essay on pwqs. Only for pwqs with [`crate::pwq::Limit::Node`].
    fn take_counts(&mut self, pwq: PwqId, _want: u32) -> u32 {
        unreachable!("{pwq} has its own limit")
    }
    /// Gives back counts of the pwq's node, to those that wait if there are any. Answers how many came back to this
    /// very pwq because it was its turn.
    fn give_counts(&mut self, pwq: PwqId, _counts: u32) -> u32 {
        unreachable!("{pwq} has its own limit")
    }
    /// The pwq no longer waits for a count.
    fn stop_waiting(&mut self, pwq: PwqId) {
        unreachable!("{pwq} has its own limit")
    }
    /// Whether any pwq of this one's node may wait for a count.
    fn are_counts_wanted(&self, pwq: PwqId) -> bool {
        unreachable!("{pwq} has its own limit")
    }
    /// Whether the leaseholder is inside this very item, or has been and has taken none since.
    fn is_leased(&self, _item: Self::Item, _function: usize) -> bool {
        false
    }
}

/// A list of items in order. Equality and hash see the ends and the length; the links belong to [`Items`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fifo<I> {
    ends: Option<(I, I)>,
    len: u32,
}

impl<I> Default for Fifo<I> {
    fn default() -> Self {
        Fifo { ends: None, len: 0 }
    }
}

impl<I: Copy> Fifo<I> {
    /// The first and the last item, and the number of items.
    pub(crate) fn parts(&self) -> (Option<(I, I)>, u32) {
        (self.ends, self.len)
    }

    /// The list with these [`Fifo::parts`].
    pub(crate) fn from_parts(ends: Option<(I, I)>, len: u32) -> Self {
        Fifo { ends, len }
    }
}

impl<I: Copy + Eq> Fifo<I> {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the list has no items.
    pub fn is_empty(&self) -> bool {
        self.ends.is_none()
    }

    /// The number of items.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// The first item.
    pub fn first(&self) -> Option<I> {
        self.ends.map(|(head, _)| head)
    }

    /// Appends an item.
    pub fn push_back<S: Items<Item = I>>(&mut self, items: &mut S, item: I) {
        items.set_next(item, None);
        match self.ends {
            None => {
                items.set_prev(item, None);
                self.ends = Some((item, item));
            }
            Some((head, tail)) => {
                items.set_prev(item, Some(tail));
                items.set_next(tail, Some(item));
                self.ends = Some((head, item));
            }
        }
        self.len += 1;
    }

    /// Puts an item before all others.
    pub fn push_front<S: Items<Item = I>>(&mut self, items: &mut S, item: I) {
        items.set_prev(item, None);
        match self.ends {
            None => {
                items.set_next(item, None);
                self.ends = Some((item, item));
            }
            Some((head, tail)) => {
                items.set_next(item, Some(head));
                items.set_prev(head, Some(item));
                self.ends = Some((item, tail));
            }
        }
        self.len += 1;
    }

    /// Takes the first item.
    pub fn pop_front<S: Items<Item = I>>(&mut self, items: &mut S) -> Option<I> {
        let (head, tail) = self.ends?;
        match items.next(head) {
            None => self.ends = None,
            Some(second) => {
                items.set_prev(second, None);
                self.ends = Some((second, tail));
            }
        }
        self.len -= 1;
        Some(head)
    }

    /// Takes an item that is known to be in this list out of it.
    pub fn unlink<S: Items<Item = I>>(&mut self, items: &mut S, item: I) {
        let Some((head, tail)) = self.ends else { return };
        let (prev, next) = (items.prev(item), items.next(item));
        match prev {
            Some(prev) => items.set_next(prev, next),
            None => debug_assert!(head == item, "an item without a predecessor is the head"),
        }
        match next {
            Some(next) => items.set_prev(next, prev),
            None => debug_assert!(tail == item, "an item without a successor is the tail"),
        }
        let head = if head == item { next } else { Some(head) };
        let tail = if tail == item { prev } else { Some(tail) };
        self.ends = head.zip(tail);
        self.len -= 1;
    }

    /// The items in order.
    pub fn iter<'a, S: Items<Item = I>>(&self, items: &'a S) -> impl Iterator<Item = I> + use<'a, I, S> {
        let mut at = self.first();
        core::iter::from_fn(move || {
            let item = at?;
            at = items.next(item);
            Some(item)
        })
    }
}

#[cfg(test)]
#[path = "list/tests.rs"]
mod tests;
