//! The inbox word: what has been submitted to a pool and not yet been seen under its lock, and who must be told.
//!
//! One word, so that a push learns in the same step whether anybody looks (invariant `B1 baton`). The handle in
//! `List` is the most recent push; the rest hangs behind it, newest first.
//!
//! The lease: a worker that is up, alone in its pool and holds the `max_active` place of an item it has ended may leave
//! `Leased` with the number of that item's pwq. A first push from that pwq makes it `One`, and the leaseholder may
//! take that item without the pool lock: the item gets the place of the ended one. Anything else - a second push, a push
//! from another pwq, a take or a stand-by mark under the lock - ends the lease in the same step, so that who takes what is
//! decided on this word alone (invariant `B5 lease`).

use crate::id::{PwqId, Sleeper};
use crate::step::Step;

/// The value of a pool's inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InboxWord<I> {
    /// Nothing submitted; somebody who is awake (or has been woken, or looks by the clock) will look again.
    Empty,
    /// Nothing submitted and nobody will look: whoever pushes must wake the sleeper named here.
    StandBy(Sleeper),
    /// Items submitted; whoever was obliged to look still is.
    List(I),
    /// Nothing submitted; the leaseholder looks, and may take one item of this pwq without the lock.
    Leased(PwqId),
    /// One item submitted, which the leaseholder may take without the lock.
    One(I),
}

/// What a push learns.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pushed<I> {
    /// What the pushed item must link to; filled in before the word is written.
    pub below: Option<I>,
    /// The push replaced a stand-by mark: the caller now owes this wake-up.
    pub wake: Option<Sleeper>,
}

/// What a take finds.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Taken<I> {
    /// Nothing.
    Nothing,
    /// Nothing; the stand-by mark has been withdrawn and its sleeper is owed nothing.
    Withdrawn(Sleeper),
    /// The newest item of the list; the rest hangs behind it.
    List(I),
}

impl<I: Copy> InboxWord<I> {
    /// A submission adds `item` of a pwq.
    pub fn push(self, item: I, pwq: PwqId) -> Step<InboxWord<I>, Pushed<I>> {
        let (below, wake) = match self {
            InboxWord::Leased(leased) if leased == pwq => {
                return Step::Write(InboxWord::One(item), Pushed { below: None, wake: None });
            }
            InboxWord::Empty | InboxWord::Leased(_) => (None, None),
            InboxWord::StandBy(sleeper) => (None, Some(sleeper)),
            InboxWord::List(below) | InboxWord::One(below) => (Some(below), None),
        };
        Step::Write(InboxWord::List(item), Pushed { below, wake })
    }

    /// A worker that holds the pool lock takes everything. Ends a lease.
    pub fn take(self) -> Step<InboxWord<I>, Taken<I>> {
        match self {
            InboxWord::Empty => Step::Keep(Taken::Nothing),
            InboxWord::Leased(_) => Step::Write(InboxWord::Empty, Taken::Nothing),
            InboxWord::StandBy(sleeper) => Step::Write(InboxWord::Empty, Taken::Withdrawn(sleeper)),
            InboxWord::List(item) | InboxWord::One(item) => Step::Write(InboxWord::Empty, Taken::List(item)),
        }
    }

    /// A worker that holds the pool lock and will not look again leaves the baton to whoever pushes next. `false`:
    /// there are items, look again. Never writes over a list (a blind store would lose it).
    pub fn stand_by(self, sleeper: Sleeper) -> Step<InboxWord<I>, bool> {
        match self {
            InboxWord::Empty | InboxWord::StandBy(_) | InboxWord::Leased(_) => {
                Step::Write(InboxWord::StandBy(sleeper), true)
            }
            InboxWord::List(_) | InboxWord::One(_) => Step::Keep(false),
        }
    }

    /// A worker that holds the pool lock and is alone takes a lease. `false`: something is there.
    pub fn lease(self, pwq: PwqId) -> Step<InboxWord<I>, bool> {
        match self {
            InboxWord::Empty => Step::Write(InboxWord::Leased(pwq), true),
            _ => Step::Keep(false),
        }
    }

    /// The leaseholder, without the lock, takes the one item and keeps the lease. `None`: nothing, or the lease has ended.
    pub fn take_one(self, pwq: PwqId) -> Step<InboxWord<I>, Option<I>> {
        match self {
            InboxWord::One(item) => Step::Write(InboxWord::Leased(pwq), Some(item)),
            _ => Step::Keep(None),
        }
    }
}

#[cfg(test)]
#[path = "inbox_word_tests.rs"]
mod tests;
