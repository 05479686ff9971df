//! A design, and the items that go through it: run by who queues them, or by workers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use cmwq::bench::Inline;
use cmwq::{Engine, Queue, Topology, WaitPolicy};

use super::cell::{Cell, Design};
use super::colours::Coloured;
use super::pwqs::Reach;
use crate::output::Failure;

/// The queue of a machine with any number of CPUs, whose threads are on those there are.
pub(super) fn queue(cell: &Cell) -> Result<Queue, Failure> {
    let machine = format!("node:{}/core:{}", cell.nodes, cell.cpus / cell.nodes);
    let topology = Topology::synthetic(&machine).map_err(Failure::input)?;
    // The yardsticks' flushers sleep at once: so do all others, or the figures would tell of spinning.
    let engine =
        Engine::builder().topology(topology).wait(WaitPolicy::Park).build().map_err(Failure::input)?;
    engine.queue("flushed").per_cpu().build().map_err(Failure::input)
}

/// The yardstick of a design, if it is one.
pub(super) fn yardstick(design: Design, cell: &Cell) -> Option<Arc<Coloured>> {
    let reach = match design {
        Design::Walk => Reach::All,
        Design::Active => Reach::Active { nodes: cell.nodes as usize },
        Design::Cmwq | Design::None => return None,
    };
    Some(Arc::new(Coloured::new(cell.cpus as usize, reach)))
}

/// A design whose items are run by who queues them.
pub(super) enum Subject {
    Coloured { queue: Arc<Coloured>, items: Box<[Item]> },
    Cmwq { queue: Queue, inline: Inline },
}

/// Of a yardstick.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Item {
    is_pending: AtomicBool,
    runs: AtomicU64,
}

impl Subject {
    pub(super) fn new(design: Design, cell: &Cell, items: usize) -> Result<Subject, Failure> {
        if let Some(queue) = yardstick(design, cell) {
            return Ok(Subject::Coloured { queue, items: (0..items).map(|_| Item::default()).collect() });
        }
        let queue = queue(cell)?;
        let inline = Inline::new(&queue, items, design == Design::Cmwq);
        Ok(Subject::Cmwq { queue, inline })
    }

    #[inline]
    pub(super) fn submit(&self, item: usize, pwq: usize) {
        match self {
            Subject::Coloured { queue, items } => {
                // Ordering: acquire pairs with the release of who ran it last.
                assert!(!items[item].is_pending.swap(true, Ordering::AcqRel), "the item is pending");
                queue.push(pwq, item);
            }
            Subject::Cmwq { inline, .. } => inline.submit(item, pwq),
        }
    }

    #[inline]
    pub(super) fn run(&self, pwq: usize) {
        match self {
            Subject::Coloured { queue, items } => queue.run(pwq, |item| {
                let item = &items[item];
                // Ordering: relaxed: written by one runner at a time.
                item.runs.store(item.runs.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                // Ordering: release pairs with the next submission's acquire.
                item.is_pending.store(false, Ordering::Release);
            }),
            Subject::Cmwq { inline, .. } => inline.run(pwq),
        }
    }

    #[inline]
    pub(super) fn flush(&self) {
        match self {
            Subject::Coloured { queue, .. } => queue.flush(),
            Subject::Cmwq { queue, .. } => queue.flush().expect("the caller is not inside an item"),
        }
    }

    /// A flush with `inside` between its cut and its wait.
    pub(super) fn flush_around(&self, inside: impl FnOnce()) {
        match self {
            Subject::Coloured { queue, .. } => {
                let flush = queue.begin_flush();
                inside();
                if let Some(flush) = flush {
                    queue.end_flush(&flush);
                }
            }
            Subject::Cmwq { queue, .. } => {
                let mut flush = std::pin::pin!(queue.flush_async());
                inside();
                // What it waits for has run.
                let polled = flush.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                assert!(matches!(polled, Poll::Ready(())), "everything queued has run");
            }
        }
    }

    /// How often an item has run.
    pub(super) fn runs(&self, item: usize) -> u64 {
        match self {
            // Ordering: relaxed: the flush that owes the item orders it.
            Subject::Coloured { items, .. } => items[item].runs.load(Ordering::Relaxed),
            Subject::Cmwq { inline, .. } => inline.runs(item),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::flush::cell::Case;

    #[test]
    fn every_design_runs_items_inside_and_before_its_flush() {
        let cell = Cell { case: Case::OneActive, cpus: 4, nodes: 2, threads: 1, turn_ms: 1 };
        for design in [Design::Walk, Design::Active, Design::Cmwq] {
            let subject = Subject::new(design, &cell, 4).unwrap();
            for round in 1..50 {
                (0..4).for_each(|item| subject.submit(item, item));
                subject.flush_around(|| (0..4).for_each(|pwq| subject.run(pwq)));
                assert!((0..4).all(|item| subject.runs(item) == 2 * round - 1));
                (0..4).for_each(|item| subject.submit(item, 3));
                subject.run(3);
                subject.flush();
                assert!((0..4).all(|item| subject.runs(item) == 2 * round));
            }
        }
    }
}
