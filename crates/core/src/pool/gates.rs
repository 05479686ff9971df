//! What ends, grants and changed limits do to the gates of a pool.

use super::action::Actions;
use super::core::PoolCore;
use crate::id::PwqId;
use crate::list::Items;
use core::hash::Hash;

impl<I: Copy + Eq + Hash + core::fmt::Debug> PoolCore<I> {
    /// An active item of this pwq has ended or was withdrawn: whoever waits takes its place.
    pub(super) fn end<S: Items<Item = I>>(&mut self, items: &mut S, pwq: PwqId) {
        let gate = &mut self.gates[pwq.index()];
        let before = gate.is_wanted();
        gate.finish(pwq, items);
        self.activate(items, pwq, before);
    }

    pub(super) fn set_max_active<S: Items<Item = I>>(&mut self, items: &mut S, pwq: PwqId, max_active: u32) {
        self.gates[pwq.index()].set_max_active(max_active);
        self.activate(items, pwq, false);
    }

    pub(super) fn granted<S: Items<Item = I>>(&mut self, items: &mut S, pwq: PwqId, counts: u32) {
        let gate = &mut self.gates[pwq.index()];
        let before = gate.is_wanted();
        gate.grant(counts);
        self.activate(items, pwq, before);
    }

    /// Others of the node wait: nothing is kept, and ends that nobody has reported are (`G2 no hidden end`).
    pub(super) fn wanted<S: Items<Item = I>>(&mut self, items: &mut S, pwq: PwqId, actions: &mut Actions<I>) {
        let gate = &mut self.gates[pwq.index()];
        let before = gate.is_wanted();
        gate.want(pwq, items);
        actions.recall |= !self.batches.is_empty();
        self.activate(items, pwq, before);
    }

    /// Lets through what there is room for.
    fn activate<S: Items<Item = I>>(&mut self, items: &mut S, pwq: PwqId, was_wanted: bool) {
        let gate = &mut self.gates[pwq.index()];
        while let Some(next) = gate.next(pwq, items) {
            self.nr_inactive -= 1;
            self.worklist.push_back(items, next);
        }
        self.note(pwq, was_wanted);
    }

    /// After a gate has had to do with its node.
    pub(super) fn note(&mut self, pwq: PwqId, was_wanted: bool) {
        let gate = &mut self.gates[pwq.index()];
        self.nr_wanted = self.nr_wanted + u32::from(gate.is_wanted()) - u32::from(was_wanted);
        if gate.touch() {
            self.touched.push(pwq);
        }
    }

    /// Ends a hold: what its pwqs have taken from their nodes and do not use goes back. After every other event.
    #[inline]
    pub fn end_hold<S: Items<Item = I>>(&mut self, items: &mut S) {
        if !self.touched.is_empty() {
            self.give_counts_back(items);
        }
    }

    #[cold]
    #[inline(never)]
    fn give_counts_back<S: Items<Item = I>>(&mut self, items: &mut S) {
        while let Some(pwq) = self.touched.pop() {
            let gate = &mut self.gates[pwq.index()];
            let before = gate.is_wanted();
            gate.end_hold(pwq, items);
            self.nr_wanted = self.nr_wanted + u32::from(gate.is_wanted()) - u32::from(before);
        }
    }
}
