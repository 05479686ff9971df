//! Cases whose items are run by the workers of an engine. The yardsticks count them in addition to what the engine
//! counts anyway, which is some 50 ns of the microseconds that a wake-up takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use cmwq::{Queue, Submit, Work};

use super::cell::{Case, Cell, Design};
use super::colours::Coloured;
use super::subject;
use super::turns::Turn;
use crate::output::Failure;

/// A design whose items are run by workers.
pub(super) struct Worked {
    queue: Queue,
    yardstick: Option<Arc<Coloured>>,
}

/// An item that knows how often it has run.
struct Counted {
    work: Work,
    pwq: usize,
    runs: Arc<AtomicU64>,
    colour: Arc<AtomicUsize>,
}

impl Worked {
    /// All designs use the same queue, and so the same workers.
    pub(super) fn new(design: Design, cell: &Cell, queue: &Queue) -> Worked {
        Worked { queue: queue.clone(), yardstick: subject::yardstick(design, cell) }
    }

    /// One turn.
    pub(super) fn turn(&self, cell: &Cell, until: Instant) -> Result<Turn, Failure> {
        if cell.case == Case::DenseWorkers {
            let items: Vec<Counted> = (0..cell.cpus as usize).map(|pwq| self.item(pwq)).collect();
            return self.rounds(&items, until);
        }
        let results: Vec<_> = std::thread::scope(|scope| {
            let rounds = |n| self.rounds(&[self.item((n % cell.cpus) as usize)], until);
            let threads: Vec<_> = (0..cell.threads).map(|n| scope.spawn(move || rounds(n))).collect();
            threads.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
        });
        let mut whole = Turn::default();
        for result in results {
            whole.add(result.map_err(|_| Failure::missed("a thread panicked"))??);
        }
        Ok(whole)
    }

    fn item(&self, pwq: usize) -> Counted {
        let (runs, colour) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicUsize::new(0)));
        let (counted, painted, yardstick) = (Arc::clone(&runs), Arc::clone(&colour), self.yardstick.clone());
        let work = Work::new(move |_| {
            // Ordering: relaxed: the flush that owes the item orders it before the look.
            counted.fetch_add(1, Ordering::Relaxed);
            if let Some(yardstick) = &yardstick {
                // Ordering: relaxed: stored before the item was queued, which orders it.
                yardstick.finish(pwq, painted.load(Ordering::Relaxed));
            }
        });
        Counted { work, pwq, runs, colour }
    }

    fn flush(&self) -> Result<(), Failure> {
        match &self.yardstick {
            Some(yardstick) => yardstick.flush(),
            None => self.queue.flush().map_err(Failure::input)?,
        }
        Ok(())
    }

    /// Queues the items, flushes, looks whether they have run; again and again.
    fn rounds(&self, items: &[Counted], until: Instant) -> Result<Turn, Failure> {
        let (mut turn, mut queued) = (Turn::default(), 0);
        while Instant::now() < until {
            let begun = Instant::now();
            for item in items {
                if let Some(yardstick) = &self.yardstick {
                    // Ordering: relaxed: queueing the item orders it before the item's load.
                    item.colour.store(yardstick.submit(item.pwq), Ordering::Relaxed);
                }
                match self.queue.queue_on(item.pwq as u32, &item.work) {
                    Submit::Queued => {}
                    other => return Err(Failure::missed(format!("an idle item was not queued: {other:?}"))),
                }
            }
            queued += 1;
            self.flush()?;
            turn.sample(begun.elapsed(), 1);
            // Ordering: relaxed: as above.
            if items.iter().any(|item| item.runs.load(Ordering::Relaxed) < queued) {
                turn.broken += 1;
                // The next round needs idle items.
                self.queue.flush().map_err(Failure::input)?;
            }
        }
        // The functions of the last items may not have returned yet.
        self.queue.flush().map_err(Failure::input)?;
        Ok(turn)
    }
}
