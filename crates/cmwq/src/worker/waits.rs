//! Items that wait inside their own functions, and the error they get instead of waiting for ever.
//!
//! The graph is one for the process: items of one engine may wait for those of another. It is touched only by an item
//! that is about to sleep. Lock order: the graph, then the directory of pools, then one pool.

use super::{Runner, with_runner};
use crate::item::Header;
use crate::pool::{HeldBack, held_back, limit_of};
use crate::queue::QueueInner;
use cmwq_core::completion::{Facts, WaitGraph, Waiter, WaitsFor};
use cmwq_ring::Lock;
use cmwq_ring::sync::Global;
use cmwq_sys::futex::LinuxFutex;
use std::fmt;
use std::panic::Location;
use std::ptr::NonNull;
use std::sync::Arc;

/// Items that wait for each other in a circle, so that none of them could ever go on: the first is the one that got
/// this as an error instead of waiting, and each waits for the next, the last for the first. (A wait for oneself has
/// one step.) The circle may pass through a limit: an item that `max_active` holds back waits for those that are
/// active.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    steps: Vec<CycleStep>,
}

/// One item of a [`Cycle`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CycleStep {
    /// The name of its queue.
    pub queue: Arc<str>,
    /// Where it was submitted.
    pub submitted_at: &'static Location<'static>,
}

impl Cycle {
    /// The items, each waiting for the next one.
    pub fn steps(&self) -> &[CycleStep] {
        &self.steps
    }
}

impl fmt::Display for Cycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, step) in self.steps.iter().enumerate() {
            let before = if nth == 0 { "" } else { " waits for " };
            write!(f, "{before}the item of queue {:?} submitted at {}", step.queue, step.submitted_at)?;
        }
        f.write_str(if self.steps.len() > 1 { " waits for the first" } else { " waits for itself" })
    }
}

/// What an item is about to wait for.
pub(crate) enum Wait<'a> {
    /// An item, and how to tell that the wait is over. Reads words only; the item is kept by the caller.
    Item(NonNull<Header>, &'a dyn Fn() -> bool),
    /// A queue, up to a phase; without one, all that is in flight.
    Queue(&'a QueueInner, Option<u32>),
}

/// The same, kept while the item waits.
enum Kept {
    /// `None`: over when it has gone from the graph.
    Item(*const (dyn Fn() -> bool + 'static)),
    Queue(*const QueueInner, Option<u32>),
}

struct Note {
    item: usize,
    /// The slot of the phase at which it was submitted.
    slot: u8,
    kept: Kept,
    step: CycleStep,
}

// SAFETY: what is pointed to is the waiting thread's, which takes the note away, under the lock, before it goes on; it
// is only read meanwhile, by calls that any thread may make.
unsafe impl Send for Note {}

#[derive(Default)]
struct Waits {
    graph: WaitGraph,
    notes: Vec<Note>,
}

static WAITS: Global<Lock<Waits, LinuxFutex>> = Global::new(|| Lock::new(Waits::default()));

/// While it lives the calling item counts as waiting.
#[must_use]
pub(crate) struct Waiting {
    item: usize,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut waits = WAITS.get().lock();
        waits.graph.remove(self.item);
        let at = waits.notes.iter().position(|note| note.item == self.item);
        let note = at.map(|at| waits.notes.swap_remove(at));
        drop(waits);
        drop(note);
    }
}

/// The calling item, if the caller is inside one, begins to wait. The wait must be over before what it refers to goes.
///
/// # Errors
/// The circle that the wait would close.
pub(crate) fn begin<'a>(wait: &Wait<'a>) -> Result<Option<Waiting>, Cycle> {
    with_runner(|runner| runner.map(|runner| runner.begin_wait(wait)).transpose())
}

/// The circle of an item that waits for itself.
pub(crate) fn own_cycle() -> Cycle {
    let steps = with_runner(|runner| runner.map(|runner| vec![runner.step()]));
    Cycle { steps: steps.unwrap_or_default() }
}

impl Runner<'_> {
    fn step(&self) -> CycleStep {
        let queue = self.running().map_or(0, |(_, queue)| queue);
        let name = self.pool.engine.upgrade().and_then(|engine| engine.queue_name(queue));
        let submitted_at = self.submitted_at().unwrap_or(Location::caller());
        CycleStep { queue: name.unwrap_or_else(|| Arc::from("")), submitted_at }
    }

    fn begin_wait(&self, wait: &Wait<'_>) -> Result<Waiting, Cycle> {
        let (me, queue) = self.running().expect("only a runner inside an item is asked");
        let (pwq, slot) = self.running_at().expect("an item that runs was queued somewhere");
        let limit = limit_of(self.pool, pwq);
        let item = me.addr().get();
        let (kept, waits_for) = match wait {
            Wait::Item(target, is_over) => {
                let is_over: *const (dyn Fn() -> bool + '_) = *is_over;
                // SAFETY: only the lifetime changes; the note is taken away before the wait's end (see `Note`).
                let kept = unsafe {
                    std::mem::transmute::<*const (dyn Fn() -> bool + '_), *const dyn Fn() -> bool>(is_over)
                };
                (Kept::Item(kept), WaitsFor::Item(target.as_ptr().expose_provenance()))
            }
            Wait::Queue(target, phase) => {
                (Kept::Queue(std::ptr::from_ref(*target), *phase), WaitsFor::Queue(target.id))
            }
        };
        let note = Note { item, slot, kept, step: self.step() };
        let mut waits = WAITS.get().lock();
        let Waits { graph, notes } = &mut *waits;
        graph.add(Waiter { item, queue, limit, waits_for });
        notes.push(note);
        let path = graph.deadlock(item, &mut Known { notes });
        let waiting = Waiting { item };
        let Some(path) = path else { return Ok(waiting) };
        let step = |w: Waiter| notes.iter().find(|note| note.item == w.item).map(|note| note.step.clone());
        let steps = path.into_iter().filter_map(step).collect();
        drop(waits);
        drop(waiting);
        Err(Cycle { steps })
    }
}

/// What the graph asks, under its lock.
struct Known<'a> {
    notes: &'a [Note],
}

impl Known<'_> {
    fn note(&self, waiter: &Waiter) -> &Note {
        self.notes.iter().find(|note| note.item == waiter.item).expect("each waiter has left a note")
    }
}

impl Facts for Known<'_> {
    fn is_over(&mut self, waiter: &Waiter) -> bool {
        match self.note(waiter).kept {
            // SAFETY: the waiter is in the graph, so that what it left lives (see `Note`).
            Kept::Item(is_over) => unsafe { (*is_over)() },
            // What a queue still owes is told by `is_waited_for`.
            Kept::Queue(..) => false,
        }
    }

    fn held_back_by(&mut self, item: usize, waiters: &dyn Fn(usize) -> usize) -> Option<usize> {
        let item = std::ptr::with_exposed_provenance_mut::<Header>(item);
        // SAFETY: somebody in the graph waits for it and keeps it alive.
        let header = unsafe { item.as_ref() }?;
        let HeldBack { limit, active } = held_back(header)?;
        (waiters(limit) >= active as usize).then_some(limit)
    }

    fn is_waited_for(&mut self, waiter: &Waiter, item: &Waiter) -> bool {
        let Kept::Queue(queue, phase) = self.note(waiter).kept else { return false };
        // SAFETY: the waiter is in the graph, so that the queue lives (see `Note`).
        let queue = unsafe { &*queue };
        phase.is_none_or(|phase| queue.is_before(self.note(item).slot, phase))
    }
}
