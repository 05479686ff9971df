//! What a worker is doing, as its pool sees it.

use crate::list::Fifo;
use crate::time::Tick;

/// The life of a worker: `Gone -> Starting -> Awake <-> Busy`, `Awake -> Idle -> Awake`, `Idle -> Dying -> Gone`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// The slot is free.
    Gone,
    /// Its thread is being created or has not yet run. It will look at the pool by itself.
    Starting,
    /// It runs and is about to look at the pool (perhaps spinning for new items).
    Awake,
    /// It runs items.
    Busy,
    /// It sleeps or is about to.
    Idle,
    /// It sleeps with a time-out and looks whether the busy ones get on.
    Watching,
    /// It has been told to end.
    Dying,
}

/// One worker slot of a pool.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Worker<I> {
    /// What it does.
    pub state: State,
    /// It has been picked to be woken and has not run since.
    pub picked: bool,
    /// Its item blocks.
    pub blocked: bool,
    /// Its item is CPU-intensive.
    pub cpu_intensive: bool,
    /// When it last went idle, was stamped, or claimed items.
    pub last_active: Tick,
    /// Items that must run on this worker because it runs the same item now.
    pub scheduled: Fifo<I>,
    /// The items of its batch that have been neither reported nor taken back, when it has claimed several: for
    /// exclusion and recall.
    pub batch: Vec<I>,
    /// Items of its batch whose end it has reported.
    pub nr_reported: u32,
}

impl<I> Worker<I> {
    /// A free slot.
    pub fn gone() -> Self {
        Worker {
            state: State::Gone,
            picked: false,
            blocked: false,
            cpu_intensive: false,
            last_active: Tick(0),
            scheduled: Fifo::default(),
            batch: Vec::new(),
            nr_reported: 0,
        }
    }

    /// Whether it counts as running for concurrency management.
    pub fn is_running(&self) -> bool {
        matches!(self.state, State::Awake | State::Busy) && !self.blocked && !self.cpu_intensive
    }
}
