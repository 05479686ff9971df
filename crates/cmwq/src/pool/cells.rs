//! What a pool knows of its workers without its lock.

use crate::item::Claimed;
use cmwq_core::id::WorkerId;
use cmwq_core::limits::{BATCH_ITEMS_MAX, POOL_WORKERS_MAX};
use cmwq_ring::sync::AtomicU32;
use cmwq_ring::{BatchCell, FutexSleep, Sleep, WakeCell};
use cmwq_sys::eventfd::EventFd;
use cmwq_sys::futex::LinuxFutex;
use std::cell::{Cell, UnsafeCell};
use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use crate::stats::WorkerStats;

/// How a sleeping thread is woken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WakeVia {
    /// A futex on the thread's wake word: no descriptor, the cheapest.
    #[default]
    Futex,
    /// An eventfd for each worker: one descriptor a worker, and a wake-up that a preempted waker cannot hide from the
    /// next one, on any kernel.
    EventFd,
}

/// The back-end chosen for one cell.
pub(crate) enum Backend {
    Futex(FutexSleep<LinuxFutex>),
    EventFd(EventFd),
}

impl Backend {
    pub(crate) fn new(via: WakeVia) -> io::Result<Backend> {
        Ok(match via {
            WakeVia::Futex => Backend::Futex(FutexSleep::default()),
            WakeVia::EventFd => Backend::EventFd(EventFd::new()?),
        })
    }
}

impl Sleep for Backend {
    fn sleep(&self, word: &AtomicU32, parked: u32, timeout: Option<Duration>) {
        match self {
            Backend::Futex(futex) => futex.sleep(word, parked, timeout),
            Backend::EventFd(fd) => fd.sleep(word, parked, timeout),
        }
    }

    fn wake(&self, word: &AtomicU32) {
        match self {
            Backend::Futex(futex) => futex.wake(word),
            Backend::EventFd(fd) => fd.wake(word),
        }
    }
}

/// One worker slot outside the core. Never freed before its pool: a waker may reach it late.
#[repr(align(128))]
pub(crate) struct WorkerCell {
    /// W.
    pub(crate) wake: WakeCell<Backend>,
    /// W.
    pub(crate) batch: BatchCell,
    /// L: the claimed items; the worker reads a place after it has taken it from `batch`.
    places: [UnsafeCell<Option<Claimed>>; BATCH_ITEMS_MAX],
    /// L: how many ends of the current batch have been reported to the core.
    pub(crate) reported: Cell<usize>,
    /// O: written by the worker, read by anyone.
    pub(crate) stats: WorkerStats,
}

// SAFETY: `places` and `reported` are touched under the pool lock, or (a place) by the worker to which the batch
// word has given it; the rest is atomics. `Claimed` is addresses and numbers.
unsafe impl Sync for WorkerCell {}
// SAFETY: as above.
unsafe impl Send for WorkerCell {}

impl WorkerCell {
    fn new(via: WakeVia) -> io::Result<WorkerCell> {
        Ok(WorkerCell {
            wake: WakeCell::new(Backend::new(via)?),
            batch: BatchCell::default(),
            places: std::array::from_fn(|_| UnsafeCell::new(None)),
            reported: Cell::new(0),
            stats: WorkerStats::default(),
        })
    }

    /// Fills a place.
    ///
    /// # Safety
    /// The caller is the worker, under the pool lock, and nothing of its last claim is left.
    pub(super) unsafe fn set_place(&self, place: usize, claimed: Claimed) {
        // SAFETY: the lock excludes other readers, and the worker reads only what it has taken.
        unsafe { *self.places[place].get() = Some(claimed) };
    }

    /// Reads a place.
    ///
    /// # Safety
    /// The caller holds the pool lock, or is the worker and owns the place by the batch word.
    pub(crate) unsafe fn place(&self, place: usize) -> Claimed {
        // SAFETY: places are written only under the lock when the worker owns none.
        let claimed = unsafe { *self.places[place].get() };
        claimed.expect("a claimed place is filled")
    }
}

const CHUNKS: usize = 11;
const FIRST: u32 = 8;

/// Worker cells by number, in chunks of growing size that never move.
pub(crate) struct Cells {
    chunks: [OnceLock<Box<[OnceLock<WorkerCell>]>>; CHUNKS],
}

/// Chunk and place in it: chunks of 8, 8, 16, 32, ... 4096 cells hold twice [`POOL_WORKERS_MAX`].
fn locate(worker: WorkerId) -> (usize, usize) {
    let n = worker.0;
    if n < FIRST {
        return (0, n as usize);
    }
    let chunk = (n / FIRST).ilog2() as usize + 1;
    (chunk, (n - (FIRST << (chunk - 1))) as usize)
}

fn chunk_len(chunk: usize) -> usize {
    (FIRST << chunk.saturating_sub(1)) as usize
}

// Workers that have been told to end keep their numbers until they have: there may be as many again.
const _: () = assert!(FIRST << (CHUNKS - 1) == 2 * POOL_WORKERS_MAX);

impl Cells {
    pub(super) fn new() -> Cells {
        Cells { chunks: [const { OnceLock::new() }; CHUNKS] }
    }

    /// The cell of a worker that has or had a thread.
    #[inline]
    pub(crate) fn get(&self, worker: WorkerId) -> &WorkerCell {
        self.find(worker).expect("a worker's cell is made before its thread")
    }

    fn find(&self, worker: WorkerId) -> Option<&WorkerCell> {
        let (chunk, place) = locate(worker);
        self.chunks[chunk].get()?[place].get()
    }

    /// Makes the cell of a new worker. Allocates.
    pub(super) fn make(&self, worker: WorkerId, via: WakeVia) -> io::Result<()> {
        let (chunk, place) = locate(worker);
        let chunk = self.chunks[chunk]
            .get_or_init(|| std::iter::repeat_with(OnceLock::new).take(chunk_len(chunk)).collect());
        if chunk[place].get().is_none() {
            // Only the one creation of this worker makes its cell.
            let _ = chunk[place].set(WorkerCell::new(via)?);
        }
        Ok(())
    }

    /// The cells that exist.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (WorkerId, &WorkerCell)> {
        let cells = self.chunks.iter().enumerate().filter_map(|(at, chunk)| Some((at, chunk.get()?)));
        cells.flat_map(|(at, chunk)| {
            let first = if at == 0 { 0 } else { FIRST << (at - 1) };
            chunk.iter().zip(first..).filter_map(|(cell, id)| Some((WorkerId(id), cell.get()?)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_worker_number_has_a_place_of_its_own() {
        let mut seen = std::collections::HashSet::new();
        for n in 0..2 * POOL_WORKERS_MAX {
            let (chunk, place) = locate(WorkerId(n));
            assert!(chunk < CHUNKS && place < chunk_len(chunk), "worker {n}");
            assert!(seen.insert((chunk, place)), "worker {n} shares its place");
        }
    }

    #[test]
    fn cells_are_listed_with_their_numbers() {
        let cells = Cells::new();
        for n in [0, 7, 8, 15, 16, 100] {
            cells.make(WorkerId(n), WakeVia::Futex).unwrap();
        }
        let listed: Vec<u32> = cells.iter().map(|(id, _)| id.0).collect();
        assert_eq!(listed, [0, 7, 8, 15, 16, 100]);
    }
}
