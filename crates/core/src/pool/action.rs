//! What a core decides, to be performed after the lock has been released.

use crate::id::{Sleeper, WorkerId};
use crate::limits::BATCH_ITEMS_MAX;
use crate::time::{Span, Tick};

/// What an awake worker is told to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// No worker asked.
    #[default]
    None,
    /// Run the items of [`Actions::batch`].
    Run,
    /// Take the manager's role first: create a thread for this worker, report, then look again.
    Create(WorkerId),
    /// Nothing to do: go idle, after a short spin if `spin` (nobody else is awake to notice new items).
    Rest {
        /// Whether this worker is the one that may spin.
        spin: bool,
    },
    /// Others hold items that have not started: end this hold, which takes them back (`recall` is set), and look again.
    Again,
    /// Sleep with this time-out and then report [`super::Event::WatchLook`].
    Watch(Span),
    /// End the thread.
    Exit,
}

/// A list of at most `N` values, without allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Few<T, const N: usize> {
    values: [Option<T>; N],
    len: usize,
}

impl<T: Copy, const N: usize> Default for Few<T, N> {
    fn default() -> Self {
        Few { values: [None; N], len: 0 }
    }
}

impl<T: Copy, const N: usize> Few<T, N> {
    /// Adds a value.
    ///
    /// # Panics
    /// When the list is full: a core that decides more than its bound is wrong.
    pub fn push(&mut self, value: T) {
        assert!(self.len < N, "a step decided more actions than its bound");
        self.values[self.len] = Some(value);
        self.len += 1;
    }

    /// Whether another value fits.
    pub fn is_full(&self) -> bool {
        self.len == N
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.len
    }

    /// The values in the order they were added.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = T> + '_ {
        self.values[..self.len].iter().flatten().copied()
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        self.len = 0;
    }
}

/// Wake-ups that culling or closing decides in one hold of the lock.
pub(super) const WAKES_MAX: usize = 8;
/// Wake-ups that other decisions of the same hold may add.
const WAKES_MORE: usize = 8;

/// What has been decided in one hold of the lock. Reused from hold to hold.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Actions<I: Copy> {
    /// What the asking worker does.
    pub verdict: Verdict,
    /// The items to run, in order.
    pub batch: Few<I, BATCH_ITEMS_MAX>,
    /// Sleepers to wake, after unlock.
    pub wake: Few<Sleeper, { WAKES_MAX + WAKES_MORE }>,
    /// Put this sleeper's stand-by mark into the inbox before unlocking; if items have arrived, take them and step
    /// [`super::Event::Cover`].
    pub stand_by: Option<Sleeper>,
    /// An item had to wait behind `max_active` while finished items may be unreported: recall every batch.
    pub recall: bool,
    /// The culler must look at the pool at this time.
    pub cull_at: Option<Tick>,
    /// The engine's manager must look at the pool again at this time.
    pub retry_at: Option<Tick>,
}

impl<I: Copy> Default for Actions<I> {
    fn default() -> Self {
        Actions {
            verdict: Verdict::None,
            batch: Few::default(),
            wake: Few::default(),
            stand_by: None,
            recall: false,
            cull_at: None,
            retry_at: None,
        }
    }
}

impl<I: Copy> Actions<I> {
    /// Whether anything is to be performed after unlock.
    pub fn has_deferred(&self) -> bool {
        !self.wake.is_empty() || self.cull_at.is_some() || self.retry_at.is_some()
    }

    /// Forgets what an earlier hold decided.
    pub fn clear(&mut self) {
        self.verdict = Verdict::None;
        self.batch.clear();
        self.wake.clear();
        self.stand_by = None;
        self.recall = false;
        self.cull_at = None;
        self.retry_at = None;
    }
}
