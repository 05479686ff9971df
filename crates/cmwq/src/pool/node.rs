//! The limit that the pwqs of one queue in one NUMA node share, and the mail between their pools.
//!
//! Two pools' locks are never held together: a count that becomes free in one pool and is another's turn goes there as
//! mail, through the inbox, after the lock has been released.

use super::saturation::Waiting;
use super::{Hold, Pool, Pwq};
use crate::item::{Header, MESSAGE};
use cmwq_core::id::PwqId;
use cmwq_core::pool::Event;
use cmwq_core::work::WorkWord;
use cmwq_ring::{Counted, NodeCell};
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::{Arc, OnceLock};

/// The counts of one queue in one node.
pub(crate) struct Node {
    pub(crate) counts: NodeCell,
    /// Its pwqs, by number. Set before the queue's first submission.
    members: OnceLock<Box<[NonNull<Pwq>]>>,
}

// SAFETY: members are addresses of pwqs, which live as long as their pools; the pools of an engine live until its last
// thread has ended, and only threads of the engine and handles of the queue use a node.
unsafe impl Send for Node {}
// SAFETY: as above.
unsafe impl Sync for Node {}

/// A pwq's place in its node.
#[derive(Clone)]
pub(crate) struct Membership {
    pub(crate) node: Arc<Node>,
    pub(crate) number: usize,
}

/// Something for a pwq of another pool, or for the manager, to be sent after unlock.
pub(crate) enum Post {
    Grant(NonNull<Pwq>),
    Wanted(NonNull<Pwq>),
    /// An item of this pwq waits, the first of its queue.
    Waits(NonNull<Pwq>, Waiting),
}

impl Node {
    pub(crate) fn new(max: u32, members: usize) -> Arc<Node> {
        Arc::new(Node { counts: NodeCell::new(max, members), members: OnceLock::new() })
    }

    /// Once, before the first submission.
    pub(crate) fn set_members(&self, members: Box<[NonNull<Pwq>]>) {
        let _ = self.members.set(members);
    }

    pub(crate) fn members(&self) -> &[NonNull<Pwq>] {
        self.members.get().map_or(&[], |members| members)
    }

    /// Changes the limit on behalf of no pool.
    pub(crate) fn set_max(&self, max: u32) {
        let mut granted = Vec::new();
        self.counts.set_max(max, |member| granted.push(Post::Grant(self.members()[member])));
        granted.into_iter().for_each(Post::send);
    }

    /// Takes counts for a member; tells the others if it is the first to wait.
    pub(super) fn take(&self, number: usize, want: u32, posts: &mut Vec<Post>) -> u32 {
        match self.counts.take(number, want) {
            Counted::Got(counts) => counts,
            Counted::Waits { first } => {
                if first {
                    let others = self.members().iter().enumerate().filter(|(at, _)| *at != number);
                    posts.extend(others.map(|(_, pwq)| Post::Wanted(*pwq)));
                }
                0
            }
        }
    }

    /// Gives back counts; answers how many come back to this very member.
    pub(super) fn give(&self, number: usize, counts: u32, posts: &mut Vec<Post>) -> u32 {
        let mut own = 0;
        self.counts.give(counts, |member| {
            if member == number {
                own += 1;
            } else {
                posts.push(Post::Grant(self.members()[member]));
            }
        });
        own
    }
}

impl Pool {
    /// The number that a pwq of this pool has in a node, if it is a member.
    pub(crate) fn number_in(&self, node: &Arc<Node>, pwq: NonNull<Pwq>) -> Option<usize> {
        let _guard = self.lock.lock();
        // SAFETY: N1 members: pwqs live as long as their pool.
        let pwq = unsafe { pwq.as_ref() };
        // SAFETY: L1 one holder: the guard is held.
        let member = unsafe { pwq.node() }?;
        Arc::ptr_eq(&member.node, node).then_some(member.number)
    }
}

impl Post {
    /// Sends it. Not under a pool's lock.
    pub(super) fn send(self) {
        let (pwq, is_grant) = match self {
            Post::Grant(pwq) => (pwq, true),
            Post::Wanted(pwq) => (pwq, false),
            Post::Waits(pwq, waiting) => return Pwq::report(pwq, waiting),
        };
        // SAFETY: N1 members: pwqs live as long as their pools, and those until the engine's last thread has ended.
        let pwq = unsafe { pwq.as_ref() };
        let is_first = if is_grant { pwq.mail.grant() } else { pwq.mail.want() };
        if is_first {
            // SAFETY: N2 one sender: who made the mail non-empty owns the message until it is in the inbox.
            unsafe { pwq.pool().submit(NonNull::from(&pwq.message), PwqId::NONE) };
        }
    }
}

/// The message of a pwq, which says only that there is mail.
pub(super) fn message() -> Header {
    Header::new(&MESSAGE, WorkWord::IDLE, 0, Location::caller())
}

impl Hold<'_> {
    /// A message has been taken from the inbox.
    pub(super) fn read_mail(&mut self, pwq: &Pwq) {
        let mail = pwq.mail.take();
        if mail.wanted {
            self.step(Event::Wanted(pwq.id));
        }
        if mail.granted > 0 {
            self.step(Event::Granted(pwq.id, mail.granted));
        }
    }
}
