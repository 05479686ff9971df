//! The list of the pwqs used in each phase, under threads: what a flush has to look at.

use crate::sync::{AtomicU64, Ordering};
use crate::{CacheLine, QueueCell};
use cmwq_core::limits::PHASE_SLOTS;
use cmwq_core::queue::{ListWord, slot};
use cmwq_core::step::Step;

/// The driver of [`ListWord`]s: for each phase slot a summary word, and below it one word for 32 members where there
/// are more than 32. A member is one pwq, or several in a row where there are more than 1024 of them.
#[derive(Debug)]
pub struct Listing {
    slots: Box<[Lists]>,
    pwqs: usize,
    span: usize,
}

#[derive(Debug)]
struct Lists {
    summary: CacheLine<AtomicU64>,
    words: Box<[AtomicU64]>,
}

const FAN: usize = ListWord::MEMBERS;

impl Listing {
    /// A list that can hold the pwqs with numbers below `pwqs`. Never blocks.
    pub fn new(pwqs: usize) -> Listing {
        let span = pwqs.div_ceil(FAN * FAN).max(1);
        let members = pwqs.div_ceil(span);
        let words = if members > FAN { members.div_ceil(FAN) } else { 0 };
        let lists = |_| Lists {
            summary: CacheLine(AtomicU64::new(0)),
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
        };
        Listing { slots: (0..PHASE_SLOTS).map(lists).collect(), pwqs, span }
    }

    /// Lists a pwq at a phase. `false`: the queue has left the phase. Then, as ever, the caller's second look finds its
    /// arrival not confirmed. Never blocks.
    #[cold]
    pub fn list(&self, pwq: usize, phase: u32, queue: &QueueCell) -> bool {
        let lists = &self.slots[slot(phase)];
        let member = pwq / self.span;
        if lists.words.is_empty() {
            return enter(&lists.summary, member, phase, queue);
        }
        // The word first: who finds the summary finds it.
        enter(&lists.words[member / FAN], member % FAN, phase, queue)
            && enter(&lists.summary, member / FAN, phase, queue)
    }

    /// Whether nothing is listed at a phase, for a flush that has *not* closed it: what was queued before the flush
    /// began is seen, what is queued meanwhile may be missed. Never blocks.
    #[inline]
    pub fn is_empty(&self, phase: u32) -> bool {
        // Ordering: acquire pairs with `enter`. A listing that happened before is seen by coherence; if the word has
        // gone on to a later phase of the slot, this one was passed before, and its items' work is seen.
        ListWord::from_bits(self.slots[slot(phase)].summary.load(Ordering::Acquire)).at(phase) == 0
    }

    /// Calls `visit` with the number of each pwq listed at a closed phase, and perhaps of some others, until that
    /// answers `false`. Answers whether it never did. Never blocks by itself.
    ///
    /// The last ones come first: who fills many pwqs mostly does so in their order, and so do their items end. A
    /// visitor that sleeps at the last one finds the others empty when it wakes; at the first one it would be woken at
    /// each.
    pub fn visit(&self, phase: u32, mut visit: impl FnMut(usize) -> bool) -> bool {
        let lists = &self.slots[slot(phase)];
        for upper in bits(look(&lists.summary, phase)) {
            if lists.words.is_empty() {
                if !self.visit_member(upper, &mut visit) {
                    return false;
                }
                continue;
            }
            for lower in bits(look(&lists.words[upper], phase)) {
                if !self.visit_member(upper * FAN + lower, &mut visit) {
                    return false;
                }
            }
        }
        true
    }

    fn visit_member(&self, member: usize, visit: &mut impl FnMut(usize) -> bool) -> bool {
        let first = member * self.span;
        (first..(first + self.span).min(self.pwqs)).rev().all(visit)
    }
}

fn enter(place: &AtomicU64, member: usize, phase: u32, queue: &QueueCell) -> bool {
    // Ordering: acquire: who finds itself listed by another sees the queue word as new as that one did, after `look`.
    let mut word = ListWord::from_bits(place.load(Ordering::Acquire));
    loop {
        // Another phase is older than ours if ours accepts *after* it was read; else ours has gone.
        if word.phase() != phase && queue.read().phase() != phase {
            return false;
        }
        match word.list(member as u32, phase) {
            Step::Keep(()) => return true,
            Step::Write(next, ()) => {
                // Ordering: release publishes what is listed below; acquire pairs with `look`: a listing that the
                // closer missed comes after its look on this word, and so sees the closed phase.
                let swap = place.compare_exchange_weak(
                    word.bits(),
                    next.bits(),
                    Ordering::AcqRel,
                    Ordering::Acquire,
                );
                match swap {
                    Ok(_) => return true,
                    Err(seen) => word = ListWord::from_bits(seen),
                }
            }
        }
    }
}

/// A closer's look: a read-modify-write that changes nothing.
fn look(place: &AtomicU64, phase: u32) -> u32 {
    // Ordering: with a plain load, listing and closer could each miss the other (store buffering).
    ListWord::from_bits(place.fetch_or(0, Ordering::AcqRel)).at(phase)
}

/// The highest first.
fn bits(mut set: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = set.checked_ilog2()?;
        set &= !(1 << bit);
        Some(bit as usize)
    })
}

#[cfg(all(test, not(cmwq_loom)))]
mod tests {
    use super::*;

    fn listed(list: &Listing, phase: u32) -> Vec<usize> {
        let mut found = Vec::new();
        assert!(list.visit(phase, |pwq| {
            found.push(pwq);
            true
        }));
        found
    }

    #[test]
    fn what_is_listed_is_visited_at_every_size() {
        for pwqs in [1, 31, 32, 33, 192, 1024, 1025, 5000] {
            let (list, queue) = (Listing::new(pwqs), QueueCell::default());
            assert!(list.is_empty(0) && listed(&list, 0).is_empty());
            for pwq in [0, pwqs / 2, pwqs - 1] {
                assert!(list.list(pwq, 0, &queue));
                let found = listed(&list, 0);
                assert!(found.contains(&pwq), "{pwq} of {pwqs}");
                assert!(found.len() <= 3 * list.span && found.iter().all(|&p| p < pwqs));
            }
            assert!(!list.is_empty(0) && list.is_empty(16));
        }
    }

    #[test]
    fn a_phase_that_has_gone_is_not_listed_over_its_successor() {
        let (list, queue) = (Listing::new(40), QueueCell::default());
        for phase in 0..16 {
            assert!(queue.update(|word| word.close(phase, phase)));
        }
        assert!(list.list(3, 16, &queue));
        assert!(!list.list(5, 0, &queue), "phase 0 uses the slot no longer");
        assert_eq!(listed(&list, 16), [3]);
    }

    #[test]
    fn the_last_are_visited_first() {
        for (pwqs, used) in [(8, [7, 4, 0]), (192, [160, 31, 3])] {
            let (list, queue) = (Listing::new(pwqs), QueueCell::default());
            assert!(used.iter().all(|&pwq| list.list(pwq, 0, &queue)));
            assert_eq!(listed(&list, 0), used);
        }
    }

    #[test]
    fn a_visit_ends_when_it_is_told_to() {
        let (list, queue) = (Listing::new(8), QueueCell::default());
        assert!(list.list(1, 0, &queue) && list.list(2, 0, &queue));
        let mut seen = 0;
        assert!(!list.visit(0, |_| {
            seen += 1;
            false
        }));
        assert_eq!(seen, 1);
    }
}
