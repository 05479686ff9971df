//! The pwqs of the yardsticks, each behind the lock of its pool, and which of them a flush visits.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};

use super::colours::COLOURS;

/// Which pwqs a flush visits.
pub(super) enum Reach {
    /// All of them, idle or not: what the kernel had.
    All,
    /// Those used since they were last found idle, on a list for each node: what it has now. Each list has a lock and
    /// a mirror of the colour for new items, which a pwq that is not listed takes when it is used again.
    Active { nodes: usize },
}

/// What is behind a pool's lock. Aligned so that no two share cache lines.
#[derive(Default)]
#[repr(align(256))]
struct Pwq(Mutex<Counts>);

#[derive(Default)]
struct Counts {
    work_colour: usize,
    flush_colour: Option<usize>,
    in_flight: [usize; COLOURS],
    total_in_flight: usize,
    is_listed: bool,
    items: VecDeque<(usize, usize)>,
}

#[derive(Default)]
#[repr(align(256))]
struct Node(Mutex<List>);

#[derive(Default)]
struct List {
    work_colour: usize,
    pwqs: Vec<usize>,
}

/// Whether an item was the last that a flush waits for at its pwq.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Retired {
    Other,
    LastOfFlush,
}

/// The pwqs of one queue.
pub(super) struct Pwqs {
    pwqs: Box<[Pwq]>,
    /// Without any, every pwq is visited.
    nodes: Box<[Node]>,
}

impl Pwqs {
    pub(super) fn new(cpus: usize, reach: Reach) -> Pwqs {
        let nodes = match reach {
            Reach::All => 0,
            Reach::Active { nodes } => nodes,
        };
        Pwqs {
            pwqs: (0..cpus).map(|_| Pwq::default()).collect(),
            nodes: (0..nodes).map(|_| Node::default()).collect(),
        }
    }

    fn lock(&self, pwq: usize) -> MutexGuard<'_, Counts> {
        self.pwqs[pwq].0.lock().unwrap()
    }

    /// Counts one item in, and answers its colour.
    fn count_in(&self, pwq: usize, counts: &mut Counts) -> usize {
        if !self.nodes.is_empty() && !counts.is_listed {
            let node = pwq * self.nodes.len() / self.pwqs.len();
            let mut list = self.nodes[node].0.lock().unwrap();
            counts.work_colour = list.work_colour;
            counts.is_listed = true;
            list.pwqs.push(pwq);
        }
        let colour = counts.work_colour;
        counts.in_flight[colour] += 1;
        counts.total_in_flight += 1;
        colour
    }

    pub(super) fn submit(&self, pwq: usize) -> usize {
        let mut counts = self.lock(pwq);
        self.count_in(pwq, &mut counts)
    }

    pub(super) fn finish(&self, pwq: usize, colour: usize) -> Retired {
        self.lock(pwq).count_out(colour)
    }

    pub(super) fn push(&self, pwq: usize, item: usize) {
        let mut counts = self.lock(pwq);
        let colour = self.count_in(pwq, &mut counts);
        counts.items.push_back((item, colour));
    }

    /// Runs what is listed, each outside the lock; `drop_one` is told of what a flush waits for.
    pub(super) fn run(&self, pwq: usize, mut run: impl FnMut(usize), drop_one: impl Fn()) {
        let mut counts = self.lock(pwq);
        while let Some((item, colour)) = counts.items.pop_front() {
            drop(counts);
            run(item);
            counts = self.lock(pwq);
            if counts.count_out(colour) == Retired::LastOfFlush {
                drop_one();
            }
        }
    }

    /// Paints pwqs with `work`, and arms those with items of `flush`, telling `arm`; whether there were any.
    pub(super) fn visit(&self, flush: Option<usize>, work: usize, mut arm: impl FnMut()) -> bool {
        let mut armed = false;
        let mut visit = |pwq: usize| {
            let mut counts = self.lock(pwq);
            if let Some(colour) = flush.filter(|&colour| counts.in_flight[colour] > 0) {
                counts.flush_colour = Some(colour);
                arm();
                armed = true;
            }
            counts.work_colour = work;
            counts
        };
        if self.nodes.is_empty() {
            (0..self.pwqs.len()).for_each(|pwq| drop(visit(pwq)));
        }
        for node in &self.nodes {
            let mut listed = {
                let mut list = node.0.lock().unwrap();
                list.work_colour = work;
                std::mem::take(&mut list.pwqs)
            };
            listed.retain(|&pwq| {
                let mut counts = visit(pwq);
                counts.is_listed = counts.total_in_flight > 0;
                counts.is_listed
            });
            let mut list = node.0.lock().unwrap();
            if list.pwqs.is_empty() {
                list.pwqs = listed;
            } else {
                list.pwqs.append(&mut listed);
            }
        }
        armed
    }
}

impl Counts {
    fn count_out(&mut self, colour: usize) -> Retired {
        self.total_in_flight -= 1;
        self.in_flight[colour] -= 1;
        if self.flush_colour == Some(colour) && self.in_flight[colour] == 0 {
            self.flush_colour = None;
            return Retired::LastOfFlush;
        }
        Retired::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn armed(pwqs: &Pwqs, flush: usize, work: usize) -> usize {
        let mut count = 0;
        pwqs.visit(Some(flush), work, || count += 1);
        count
    }

    #[test]
    fn a_pwq_that_was_idle_takes_the_colour_of_its_node() {
        for reach in [Reach::All, Reach::Active { nodes: 2 }] {
            let pwqs = Pwqs::new(4, reach);
            assert_eq!(armed(&pwqs, 0, 1), 0);
            assert_eq!(pwqs.submit(3), 1);
            assert_eq!(armed(&pwqs, 1, 2), 1);
            assert_eq!(pwqs.submit(3), 2);
            assert_eq!(pwqs.finish(3, 1), Retired::LastOfFlush);
            assert_eq!(pwqs.finish(3, 2), Retired::Other);
            assert_eq!(armed(&pwqs, 2, 3), 0, "it is idle and leaves its list");
            assert_eq!(armed(&pwqs, 3, 4), 0);
            assert_eq!(pwqs.submit(3), 4, "it was repainted or took the mirror's colour");
        }
    }
}
