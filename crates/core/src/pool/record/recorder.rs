//! The recorder of one pool: bounded, the newest stay.
//!
//! Two segments, each a snapshot and what followed it. When the newer one is full, the older one is forgotten and a
//! new one begins; so between half of the room and all of it is kept, and what is kept begins with a snapshot.

use super::tape::Taped;
use super::words::Words;
use super::{ADD, END_HOLD, REUSE, Recording, STEP, snapshot};
use crate::id::PwqId;
use crate::list::Items;
use crate::pool::{Actions, Event, PoolCore};
use crate::pwq::Limit;
use crate::time::Tick;
use core::cell::RefCell;
use core::fmt::Debug;
use core::hash::Hash;

#[derive(Clone, Debug, Default)]
struct Segment {
    snapshot: Vec<u64>,
    entries: Vec<u64>,
}

/// Records the steps of one core. Everything is done under the lock that guards the core.
#[derive(Debug)]
pub struct Recorder {
    older: Option<Segment>,
    newer: Segment,
    /// Words of entries in one segment.
    room: usize,
    /// Words that have been forgotten.
    forgotten: u64,
    answers: Vec<u64>,
    /// What was decided after the last step, and what is before the next.
    after: Vec<u64>,
    before: Vec<u64>,
}

impl Recorder {
    /// Records a core from here on, with room for this many bytes of entries. Snapshots come on top.
    pub fn new<I, S>(core: &PoolCore<I>, items: &S, bytes: usize) -> Self
    where
        I: Words + Copy + Eq + Hash + Debug,
        S: Items<Item = I>,
    {
        let mut newer = Segment::default();
        snapshot::put(core, items, &mut newer.snapshot);
        // Two segments of words of eight bytes.
        let room = bytes / 16;
        Recorder {
            older: None,
            newer,
            room,
            forgotten: 0,
            answers: Vec::new(),
            after: Vec::new(),
            before: Vec::new(),
        }
    }

    /// Steps the core and records it.
    pub fn step<I, S>(
        &mut self,
        core: &mut PoolCore<I>,
        now: Tick,
        event: Event<I>,
        items: &mut S,
        actions: &mut Actions<I>,
    ) where
        I: Words + Copy + Eq + Hash + Debug,
        S: Items<Item = I>,
    {
        self.before.clear();
        actions.put(&mut self.before);
        self.answers.clear();
        let mut taped = Taped { items, answers: RefCell::new(&mut self.answers) };
        core.step(now, event, &mut taped, actions);
        let out = &mut self.newer.entries;
        out.push(STEP);
        now.put(out);
        event.put(out);
        let differs = self.before != self.after;
        differs.put(out);
        if differs {
            out.extend_from_slice(&self.before);
        }
        self.answers.put(out);
        self.after.clear();
        actions.put(&mut self.after);
        out.extend_from_slice(&self.after);
    }

    /// Ends a hold and records it; a full segment gives way to a new one.
    pub fn end_hold<I, S>(&mut self, core: &mut PoolCore<I>, items: &mut S)
    where
        I: Words + Copy + Eq + Hash + Debug,
        S: Items<Item = I>,
    {
        self.answers.clear();
        core.end_hold(&mut Taped { items, answers: RefCell::new(&mut self.answers) });
        self.newer.entries.push(END_HOLD);
        self.answers.put(&mut self.newer.entries);
        if self.newer.entries.len() >= self.room {
            self.turn(core, items);
        }
    }

    fn turn<I, S>(&mut self, core: &PoolCore<I>, items: &S)
    where
        I: Words + Copy + Eq + Hash + Debug,
        S: Items<Item = I>,
    {
        let mut next = self.older.take().unwrap_or_default();
        self.forgotten += next.entries.len() as u64;
        next.entries.clear();
        next.snapshot.clear();
        snapshot::put(core, items, &mut next.snapshot);
        self.older = Some(core::mem::replace(&mut self.newer, next));
        self.after.clear();
    }

    /// A pwq has joined with this limit.
    pub fn add_pwq(&mut self, limit: Limit) {
        self.newer.entries.push(ADD);
        limit.put(&mut self.newer.entries);
    }

    /// A pwq whose queue is gone has been given away.
    pub fn reuse_pwq(&mut self, pwq: PwqId, limit: Limit) {
        self.newer.entries.push(REUSE);
        pwq.put(&mut self.newer.entries);
        limit.put(&mut self.newer.entries);
    }

    /// What has been recorded so far, under the pool's name.
    pub fn recording(&self, pool: &str) -> Recording {
        let first = self.older.as_ref().unwrap_or(&self.newer);
        let mut entries = first.entries.clone();
        if self.older.is_some() {
            entries.extend_from_slice(&self.newer.entries);
        }
        Recording {
            pool: pool.to_owned(),
            forgotten: self.forgotten,
            snapshot: first.snapshot.clone(),
            entries,
            transitions: Vec::new(),
        }
    }
}
