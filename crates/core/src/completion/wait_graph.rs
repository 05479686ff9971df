//! Who waits for whom, among items that wait inside their own functions.
#![doc = include_str!("../../flow/9-waits.md")]

/// What an item waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WaitsFor {
    /// An item, by its address.
    Item(usize),
    /// Items of a queue, by its number.
    Queue(u64),
}

/// An item that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Waiter {
    /// Its address: one item waits once at a time.
    pub item: usize,
    /// Its queue.
    pub queue: u64,
    /// The limit under which it is active: items under one limit have one number.
    pub limit: usize,
    /// What it waits for.
    pub waits_for: WaitsFor,
}

/// What the graph must be told when it looks.
pub trait Facts {
    /// Whether this waiter's wait is over already, though it has not taken itself out.
    fn is_over(&mut self, waiter: &Waiter) -> bool;
    /// The limit that holds back an item which does not run, if everything that is active under it waits: `waiters`
    /// answers how many waiters there are under a limit.
    fn held_back_by(&mut self, item: usize, waiters: &dyn Fn(usize) -> usize) -> Option<usize>;
    /// Whether `waiter`, which waits for a queue, waits for this item of it.
    fn is_waited_for(&mut self, waiter: &Waiter, item: &Waiter) -> bool;
}

/// The items that wait.
#[derive(Clone, Debug, Default)]
pub struct WaitGraph {
    waiters: Vec<Waiter>,
}

enum Needs {
    Nothing,
    All(Vec<usize>),
    OneOf(Vec<usize>),
}

impl WaitGraph {
    /// Nobody waits.
    pub const fn new() -> WaitGraph {
        WaitGraph { waiters: Vec::new() }
    }

    /// An item begins to wait.
    pub fn add(&mut self, waiter: Waiter) {
        debug_assert!(self.find(waiter.item).is_none(), "an item waits once at a time");
        self.waiters.push(waiter);
    }

    /// It no longer does.
    pub fn remove(&mut self, item: usize) {
        if let Some(at) = self.find(item) {
            self.waiters.swap_remove(at);
        }
    }

    /// The items that wait, in no order.
    pub fn waiters(&self) -> &[Waiter] {
        &self.waiters
    }

    fn find(&self, item: usize) -> Option<usize> {
        self.waiters.iter().position(|w| w.item == item)
    }

    fn needs(&self, at: usize, facts: &mut impl Facts) -> Needs {
        let waiter = &self.waiters[at];
        if facts.is_over(waiter) {
            return Needs::Nothing;
        }
        let all = |f: &mut dyn FnMut(&Waiter) -> bool| {
            (0..self.waiters.len()).filter(|&at| f(&self.waiters[at])).collect::<Vec<_>>()
        };
        match waiter.waits_for {
            WaitsFor::Queue(queue) => {
                Needs::All(all(&mut |w| w.queue == queue && facts.is_waited_for(waiter, w)))
            }
            WaitsFor::Item(item) => {
                if let Some(at) = self.find(item) {
                    return Needs::All(vec![at]);
                }
                let waiters = |limit| self.waiters.iter().filter(|w| w.limit == limit).count();
                match facts.held_back_by(item, &waiters) {
                    Some(limit) => Needs::OneOf(all(&mut |w| w.limit == limit)),
                    None => Needs::Nothing,
                }
            }
        }
    }

    /// Whether this waiter can never go on. Then the answer is how it comes back to itself, or to another one that
    /// cannot: each waits for the next one.
    pub fn deadlock(&self, item: usize, facts: &mut impl Facts) -> Option<Vec<Waiter>> {
        let first = self.find(item)?;
        let mut needs: Vec<(usize, Needs)> = Vec::new();
        let mut left = vec![first];
        while let Some(at) = left.pop() {
            if needs.iter().any(|(seen, _)| *seen == at) {
                continue;
            }
            let need = self.needs(at, facts);
            if let Needs::All(others) | Needs::OneOf(others) = &need {
                left.extend(others);
            }
            needs.push((at, need));
        }
        // Whoever can go on is taken out, until nobody can.
        loop {
            let stuck: Vec<usize> = needs.iter().map(|(at, _)| *at).collect();
            let is_stuck = |need: &Needs| match need {
                Needs::Nothing => false,
                Needs::All(others) => others.iter().any(|other| stuck.contains(other)),
                Needs::OneOf(others) => others.iter().all(|other| stuck.contains(other)),
            };
            needs.retain(|(_, need)| is_stuck(need));
            if needs.len() == stuck.len() {
                break;
            }
        }
        let mut path: Vec<usize> = Vec::new();
        let mut at = first;
        while !path.contains(&at) {
            path.push(at);
            let (Needs::All(others) | Needs::OneOf(others)) = &needs.iter().find(|(n, _)| *n == at)?.1 else {
                return None;
            };
            at = *others.iter().find(|other| needs.iter().any(|(n, _)| n == *other))?;
        }
        Some(path.into_iter().map(|at| self.waiters[at]).collect())
    }
}

#[cfg(test)]
#[path = "wait_graph_tests.rs"]
mod tests;
