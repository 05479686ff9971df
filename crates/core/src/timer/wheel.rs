//! A hierarchical timing wheel: arming, taking back and firing cost the same however many timers are armed.
//!
//! Time is cut into grains. A timer's *level* is the highest group of six bits in which its grain differs from the
//! wheel's; its slot there is the value of that group. The wheel moves from one occupied slot to the next: a slot of
//! level 0 holds one grain, whose timers are due; one of a higher level is spread over lower levels when the wheel
//! gets there. Every timer is spread at most once a level.

use crate::time::{Span, Tick};

/// The resolution: a timer fires at the first multiple of it that is not before its time.
pub const GRAIN: Span = Span(1 << GRAIN_BITS);
const GRAIN_BITS: u32 = 15;
/// Bits of a grain's number that choose a slot of one level.
const SLOT_BITS: u32 = 6;
const SLOTS: usize = 1 << SLOT_BITS;
/// Enough for every time that a `Tick` can hold.
const LEVELS: usize = 9;
/// Entries a block.
const BLOCK: usize = 256;
const NONE: u32 = u32::MAX;

/// One arming of one timer. Keys are never given twice within 2^32 armings of the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimerKey {
    at: u32,
    arming: u32,
}

#[derive(Debug)]
struct Entry<T> {
    /// The grain at which it is due.
    due: u64,
    next: u32,
    prev: u32,
    /// Counts the armings of this place.
    arming: u32,
    slot: u16,
    payload: Option<T>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    first: u32,
    last: u32,
    /// Not after the earliest grain of its timers. Taking a timer back does not raise it.
    earliest: u64,
}

const EMPTY: Slot = Slot { first: NONE, last: NONE, earliest: u64::MAX };

/// Armed timers, each with a payload.
#[derive(Debug)]
pub struct Wheel<T> {
    /// The grain the wheel has got to. Nothing that is due before it is left.
    now: u64,
    slots: Box<[Slot]>,
    occupied: [u64; LEVELS],
    /// Places for timers; a block is never moved, so that growing costs no more than a block.
    blocks: Vec<Box<[Entry<T>]>>,
    /// Free places, linked by `next`.
    free: u32,
    len: usize,
}

impl<T> Default for Wheel<T> {
    fn default() -> Self {
        let slots = vec![EMPTY; LEVELS * SLOTS].into_boxed_slice();
        Wheel { now: 0, slots, occupied: [0; LEVELS], blocks: Vec::new(), free: NONE, len: 0 }
    }
}

fn grain_not_before(at: Tick) -> u64 {
    at.0.div_ceil(GRAIN.0)
}

fn start_of(grain: u64) -> Tick {
    Tick(grain.saturating_mul(GRAIN.0))
}

impl<T> Wheel<T> {
    /// A wheel without timers.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many timers are armed.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no timer is armed.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// When a timer for this time fires, if the wheel is looked at then: never before it.
    pub fn fires_at(at: Tick) -> Tick {
        start_of(grain_not_before(at))
    }

    /// Arms a timer. One whose time has passed is due at once. Allocates when more are armed than ever before.
    pub fn arm(&mut self, at: Tick, payload: T) -> TimerKey {
        if self.free == NONE {
            self.grow();
        }
        let place = self.free;
        let due = grain_not_before(at).max(self.now);
        let entry = self.entry_mut(place);
        let (next_free, arming) = (entry.next, entry.arming);
        entry.due = due;
        entry.payload = Some(payload);
        self.free = next_free;
        self.len += 1;
        self.link(place);
        TimerKey { at: place, arming }
    }

    /// Takes a timer back. `None`: it has fired, or has been taken back before.
    pub fn take_back(&mut self, key: TimerKey) -> Option<T> {
        let entry = self.entry(key.at)?;
        if entry.arming != key.arming || entry.payload.is_none() {
            return None;
        }
        self.unlink(key.at);
        self.release(key.at)
    }

    /// The payload of an armed timer.
    pub fn get(&self, key: TimerKey) -> Option<&T> {
        self.entry(key.at).filter(|e| e.arming == key.arming)?.payload.as_ref()
    }

    /// When to look next: the time of the earliest timer. After timers were taken back it may be earlier than that,
    /// never later. `None`: nothing is armed.
    pub fn next(&self) -> Option<Tick> {
        let firsts = (0..LEVELS).filter_map(|level| self.first_slot(level));
        firsts.map(|slot| self.slots[slot].earliest).min().map(start_of)
    }

    /// Takes a timer that is due at `now`; `None` when none is. Timers come in the order of their grains; those of one
    /// grain in no order that is promised. At most `work` timers are moved (fired or spread over lower levels), counted
    /// down; at zero the answer is `None` although some may be due.
    pub fn fire(&mut self, now: Tick, work: &mut u32) -> Option<T> {
        let until = now.0 / GRAIN.0;
        while *work > 0 {
            let Some((level, slot, start)) = self.earliest_slot() else { break };
            if start > until {
                break;
            }
            self.now = self.now.max(start);
            let place = self.slots[slot].first;
            *work -= 1;
            self.unlink(place);
            if level == 0 {
                return self.release(place);
            }
            self.link(place);
        }
        if *work > 0 {
            // Every slot that begins up to now has been emptied.
            self.now = self.now.max(until);
        }
        None
    }

    /// Takes back every timer that answers to this. Looks at all of them.
    pub fn take_back_all(&mut self, mut whose: impl FnMut(&T) -> bool) -> Vec<T> {
        let places = 0..(self.blocks.len() * BLOCK) as u32;
        let armed: Vec<u32> = places
            .filter(|&p| self.entry(p).and_then(|e| e.payload.as_ref()).is_some_and(&mut whose))
            .collect();
        let take = |place| {
            self.unlink(place);
            self.release(place)
        };
        armed.into_iter().filter_map(take).collect()
    }

    // ---- places ----

    fn entry(&self, place: u32) -> Option<&Entry<T>> {
        let place = place as usize;
        self.blocks.get(place / BLOCK).map(|block| &block[place % BLOCK])
    }

    fn entry_mut(&mut self, place: u32) -> &mut Entry<T> {
        let place = place as usize;
        &mut self.blocks[place / BLOCK][place % BLOCK]
    }

    #[cold]
    fn grow(&mut self) {
        let first = (self.blocks.len() * BLOCK) as u32;
        let next_of = |i: usize| if i + 1 == BLOCK { NONE } else { first + i as u32 + 1 };
        let empty = |i| Entry { due: 0, next: next_of(i), prev: NONE, arming: 0, slot: 0, payload: None };
        self.blocks.push((0..BLOCK).map(empty).collect());
        self.free = first;
    }

    /// Frees an unlinked place.
    fn release(&mut self, place: u32) -> Option<T> {
        let free = self.free;
        let entry = self.entry_mut(place);
        entry.arming = entry.arming.wrapping_add(1);
        entry.next = free;
        let payload = entry.payload.take();
        self.free = place;
        self.len -= 1;
        payload
    }

    // ---- slots ----

    /// The level and slot of a grain that is not before the wheel's.
    fn place_of(&self, due: u64) -> (usize, usize) {
        let highest = 63 - ((self.now ^ due) | 1).leading_zeros();
        let level = (highest / SLOT_BITS) as usize;
        let within = (due >> (SLOT_BITS * level as u32)) as usize % SLOTS;
        (level, level * SLOTS + within)
    }

    fn link(&mut self, place: u32) {
        let due = self.entry_mut(place).due;
        let (level, at) = self.place_of(due);
        let slot = &mut self.slots[at];
        let last = core::mem::replace(&mut slot.last, place);
        slot.earliest = slot.earliest.min(due);
        if last == NONE {
            slot.first = place;
            self.occupied[level] |= 1 << (at % SLOTS);
        } else {
            self.entry_mut(last).next = place;
        }
        let entry = self.entry_mut(place);
        (entry.prev, entry.next, entry.slot) = (last, NONE, at as u16);
    }

    fn unlink(&mut self, place: u32) {
        let &mut Entry { prev, next, slot, .. } = self.entry_mut(place);
        let at = usize::from(slot);
        match prev {
            NONE => self.slots[at].first = next,
            prev => self.entry_mut(prev).next = next,
        }
        match next {
            NONE => self.slots[at].last = prev,
            next => self.entry_mut(next).prev = prev,
        }
        if self.slots[at].first == NONE {
            self.slots[at] = EMPTY;
            self.occupied[at / SLOTS] &= !(1 << (at % SLOTS));
        }
    }

    /// The first occupied slot of a level. Slots before the wheel's own place in it are empty.
    fn first_slot(&self, level: usize) -> Option<usize> {
        let occupied = self.occupied[level];
        (occupied != 0).then(|| level * SLOTS + occupied.trailing_zeros() as usize)
    }

    /// The occupied slot that begins first: its level, its index, the grain it begins with. Of two that begin
    /// together the
    /// one of the higher level: it has been begun to be spread, and may hold what is due before the other's.
    fn earliest_slot(&self) -> Option<(usize, usize, u64)> {
        let found = |level| {
            let slot = self.first_slot(level)?;
            let shift = SLOT_BITS * level as u32;
            let above = self.now & !(((1u128 << (shift + SLOT_BITS)) - 1) as u64);
            Some((level, slot, above | ((slot % SLOTS) as u64) << shift))
        };
        (0..LEVELS).rev().filter_map(found).min_by_key(|&(_, _, start)| start)
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
