//! What a core is told of the world outside it: written down beside the step that asked, and told again in a replay.

use super::words::{Reader, Words};
use crate::id::{PwqId, WorkerId};
use crate::list::Items;
use core::cell::RefCell;
use std::collections::BTreeMap;

/// Items whose answers are written down. Links and the inactive mark are not: a core determines them itself.
pub struct Taped<'a, S> {
    /// The items.
    pub items: &'a mut S,
    /// The answers, in the order of the questions.
    pub answers: RefCell<&'a mut Vec<u64>>,
}

impl<S> Taped<'_, S> {
    fn note<T: Words>(&self, answer: T) -> T {
        answer.put(&mut self.answers.borrow_mut());
        answer
    }
}

impl<S: Items> Items for Taped<'_, S> {
    type Item = S::Item;

    fn next(&self, item: S::Item) -> Option<S::Item> {
        self.items.next(item)
    }
    fn set_next(&mut self, item: S::Item, next: Option<S::Item>) {
        self.items.set_next(item, next);
    }
    fn prev(&self, item: S::Item) -> Option<S::Item> {
        self.items.prev(item)
    }
    fn set_prev(&mut self, item: S::Item, prev: Option<S::Item>) {
        self.items.set_prev(item, prev);
    }
    fn is_inactive(&self, item: S::Item) -> bool {
        self.items.is_inactive(item)
    }
    fn set_inactive(&mut self, item: S::Item, inactive: bool) {
        self.items.set_inactive(item, inactive);
    }
    fn pwq(&self, item: S::Item) -> PwqId {
        self.note(self.items.pwq(item))
    }
    fn function(&self, item: S::Item) -> Option<usize> {
        self.note(self.items.function(item))
    }
    fn started(&self, worker: WorkerId) -> usize {
        self.note(self.items.started(worker))
    }
    fn leaseholder(&self) -> Option<WorkerId> {
        self.note(self.items.leaseholder())
    }
    fn is_leased(&self, item: S::Item, function: usize) -> bool {
        self.note(self.items.is_leased(item, function))
    }
    fn take_counts(&mut self, pwq: PwqId, want: u32) -> u32 {
        let taken = self.items.take_counts(pwq, want);
        self.note(taken)
    }
    fn give_counts(&mut self, pwq: PwqId, counts: u32) -> u32 {
        let back = self.items.give_counts(pwq, counts);
        self.note(back)
    }
    fn stop_waiting(&mut self, pwq: PwqId) {
        self.items.stop_waiting(pwq);
    }
    fn are_counts_wanted(&self, pwq: PwqId) -> bool {
        self.note(self.items.are_counts_wanted(pwq))
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Links {
    next: Option<u64>,
    prev: Option<u64>,
    inactive: bool,
}

/// The items of a replay: links of their own, and the recorded answers.
#[derive(Clone, Debug, Default)]
pub struct Replayed {
    links: BTreeMap<u64, Links>,
    answers: RefCell<Answers>,
}

#[derive(Clone, Debug, Default)]
struct Answers {
    words: Vec<u64>,
    at: usize,
    /// The core has asked for what is not recorded.
    is_short: bool,
}

impl Replayed {
    /// The answers of the next step.
    pub(super) fn load(&mut self, words: Vec<u64>) {
        *self.answers.get_mut() = Answers { words, at: 0, is_short: false };
    }

    /// Whether the core has asked exactly for what is recorded.
    pub(super) fn is_spent(&self) -> bool {
        let answers = self.answers.borrow();
        !answers.is_short && answers.at == answers.words.len()
    }

    fn of(&self, item: u64) -> Links {
        self.links.get(&item).copied().unwrap_or_default()
    }

    fn links(&mut self, item: u64) -> &mut Links {
        self.links.entry(item).or_default()
    }

    fn told<T: Words>(&self, otherwise: T) -> T {
        let mut answers = self.answers.borrow_mut();
        let mut input = Reader::new(&answers.words[answers.at..]);
        let told = T::get(&mut input);
        let left = input.len();
        answers.at = answers.words.len() - left;
        answers.is_short |= told.is_none();
        told.unwrap_or(otherwise)
    }
}

impl Items for Replayed {
    type Item = u64;

    fn next(&self, item: u64) -> Option<u64> {
        self.of(item).next
    }
    fn set_next(&mut self, item: u64, next: Option<u64>) {
        self.links(item).next = next;
    }
    fn prev(&self, item: u64) -> Option<u64> {
        self.of(item).prev
    }
    fn set_prev(&mut self, item: u64, prev: Option<u64>) {
        self.links(item).prev = prev;
    }
    fn is_inactive(&self, item: u64) -> bool {
        self.of(item).inactive
    }
    fn set_inactive(&mut self, item: u64, inactive: bool) {
        self.links(item).inactive = inactive;
    }
    fn pwq(&self, _item: u64) -> PwqId {
        self.told(PwqId(0))
    }
    fn function(&self, _item: u64) -> Option<usize> {
        self.told(None)
    }
    fn started(&self, _worker: WorkerId) -> usize {
        self.told(0)
    }
    fn leaseholder(&self) -> Option<WorkerId> {
        self.told(None)
    }
    fn is_leased(&self, _item: u64, _function: usize) -> bool {
        self.told(false)
    }
    fn take_counts(&mut self, _pwq: PwqId, _want: u32) -> u32 {
        self.told(0)
    }
    fn give_counts(&mut self, _pwq: PwqId, _counts: u32) -> u32 {
        self.told(0)
    }
    fn stop_waiting(&mut self, _pwq: PwqId) {}
    fn are_counts_wanted(&self, _pwq: PwqId) -> bool {
        self.told(false)
    }
}
