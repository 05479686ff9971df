//! How the core reaches into items: the only pointer chasing of lists.

use super::Pool;
use super::node::{Membership, Post};
use super::pwq::PwqHome;
use crate::item::{Handle, Header};
use cmwq_core::id::{PwqId, WorkerId};
use cmwq_core::list::Items;
use std::ptr::NonNull;

/// The items of one pool, for the holder of its lock.
pub(super) struct Links<'a> {
    pub(super) pool: &'a Pool,
    /// The worker that takes single items without the lock.
    pub(super) leaseholder: Option<WorkerId>,
    /// The pool's pwqs, by number.
    pub(super) pwqs: &'a [(PwqHome, bool)],
    /// What is to be sent to other pools after unlock.
    pub(super) posts: &'a mut Vec<Post>,
}

impl<'a> Links<'a> {
    /// An item of these begins to wait behind its limit.
    fn note_waiting(&mut self, header: &Header) {
        let at = header.pwq.get().expect("a pushed item names its pwq (W1)");
        // SAFETY: pwqs live as long as their pool.
        let pwq = unsafe { at.as_ref() };
        // SAFETY: L1 one holder: links exist while the pool's lock is held.
        if let Some(waiting) = unsafe { pwq.waits(header.place.get()) } {
            self.posts.push(Post::Waits(at, waiting));
        }
    }

    fn node(&self, pwq: PwqId) -> &'a Membership {
        let (pwq, _) = &self.pwqs[pwq.index()];
        // SAFETY: L1 one holder: links exist while the pool's lock is held.
        unsafe { pwq.node() }.expect("a pwq without a limit of its own has a node")
    }
}

/// The header of a pending item.
fn header<'a>(item: Handle) -> &'a Header {
    // SAFETY: W5 pending keeps alive: the core asks only about items that are linked or in a batch, under the lock.
    unsafe { item.0.as_ref() }
}

fn handle(at: Option<NonNull<Header>>) -> Option<Handle> {
    at.map(Handle)
}

impl Items for Links<'_> {
    type Item = Handle;

    fn next(&self, item: Handle) -> Option<Handle> {
        handle(header(item).next.get())
    }

    fn set_next(&mut self, item: Handle, next: Option<Handle>) {
        header(item).next.set(next.map(|h| h.0));
    }

    fn prev(&self, item: Handle) -> Option<Handle> {
        handle(header(item).prev.get())
    }

    fn set_prev(&mut self, item: Handle, prev: Option<Handle>) {
        header(item).prev.set(prev.map(|h| h.0));
    }

    fn pwq(&self, item: Handle) -> PwqId {
        let pwq = header(item).pwq.get().expect("a pushed item names its pwq (W1)");
        // SAFETY: pwqs live as long as their pool.
        unsafe { pwq.as_ref() }.id
    }

    fn function(&self, item: Handle) -> Option<usize> {
        let vtable = header(item).vtable;
        vtable.owned_by_caller.then(|| crate::item::function_of(item))
    }

    fn is_inactive(&self, item: Handle) -> bool {
        header(item).inactive.get()
    }

    fn set_inactive(&mut self, item: Handle, inactive: bool) {
        let header = header(item);
        header.inactive.set(inactive);
        if inactive {
            self.note_waiting(header);
        }
    }

    fn leaseholder(&self) -> Option<WorkerId> {
        self.leaseholder
    }

    fn is_leased(&self, item: Handle, function: usize) -> bool {
        self.pool.leased.is(item, function)
    }

    fn take_counts(&mut self, pwq: PwqId, want: u32) -> u32 {
        let Membership { node, number } = self.node(pwq);
        node.take(*number, want, self.posts)
    }

    fn give_counts(&mut self, pwq: PwqId, counts: u32) -> u32 {
        let Membership { node, number } = self.node(pwq);
        node.give(*number, counts, self.posts)
    }

    fn stop_waiting(&mut self, pwq: PwqId) {
        let Membership { node, number } = self.node(pwq);
        node.counts.stop_waiting(*number);
    }

    fn are_counts_wanted(&self, pwq: PwqId) -> bool {
        self.node(pwq).node.counts.read().is_waiting()
    }

    fn started(&self, worker: WorkerId) -> usize {
        self.pool.cell(worker).batch.started()
    }
}
