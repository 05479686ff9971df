//! The inbox word: what has been submitted to a pool and not yet been seen under its lock, and who must be told.
//!
//! One word, so that a push learns in the same step whether anybody looks (invariant `B1 baton`). The handle in
//! `List` is the most recent push; the rest hangs behind it, newest first.

use crate::id::Sleeper;
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
    /// A submission adds `item`.
    pub const fn push(self, item: I) -> Step<InboxWord<I>, Pushed<I>> {
        let pushed = match self {
            InboxWord::Empty => Pushed { below: None, wake: None },
            InboxWord::StandBy(sleeper) => Pushed { below: None, wake: Some(sleeper) },
            InboxWord::List(below) => Pushed { below: Some(below), wake: None },
        };
        Step::Write(InboxWord::List(item), pushed)
    }

    /// A worker that holds the pool lock takes everything.
    pub const fn take(self) -> Step<InboxWord<I>, Taken<I>> {
        match self {
            InboxWord::Empty => Step::Keep(Taken::Nothing),
            InboxWord::StandBy(sleeper) => Step::Write(InboxWord::Empty, Taken::Withdrawn(sleeper)),
            InboxWord::List(item) => Step::Write(InboxWord::Empty, Taken::List(item)),
        }
    }

    /// A worker that holds the pool lock and will not look again leaves the baton to whoever pushes next. `false`:
    /// there are items, look again. Never writes over a list (a blind store would lose it).
    pub const fn stand_by(self, sleeper: Sleeper) -> Step<InboxWord<I>, bool> {
        match self {
            InboxWord::Empty | InboxWord::StandBy(_) => Step::Write(InboxWord::StandBy(sleeper), true),
            InboxWord::List(_) => Step::Keep(false),
        }
    }
}

#[cfg(test)]
#[path = "inbox_word_tests.rs"]
mod tests;
