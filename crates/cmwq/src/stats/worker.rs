//! What one worker counts about itself.

use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};

/// A counter that one thread writes, or several write rarely. Relaxed: a number for people, ordering nothing.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// For the only writer: no read-modify-write.
    pub(crate) fn bump(&self) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// For several writers.
    pub(crate) fn add(&self, n: u64) {
        self.0.fetch_add(n, Ordering::Relaxed);
    }

    pub(crate) fn set(&self, n: u64) {
        self.0.store(n, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A yes or no that is only a hint: what acts on it decides again under a lock. Relaxed.
#[derive(Debug, Default)]
pub(crate) struct Hint(AtomicBool);

impl Hint {
    pub(crate) fn set(&self, value: bool) {
        self.0.store(value, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Written by the worker, read by anyone.
#[derive(Debug, Default)]
pub(crate) struct WorkerStats {
    /// Items started, over all threads that had this slot.
    pub(crate) started: Counter,
    /// Times it went to sleep.
    pub(crate) parks: Counter,
    /// The number of the queue whose item runs; 0 when none.
    pub(crate) queue: Counter,
    /// Where that item was submitted.
    place: AtomicPtr<Location<'static>>,
}

impl WorkerStats {
    pub(crate) fn begin(&self, queue: u64, place: &'static Location<'static>) {
        self.started.bump();
        self.queue.set(queue);
        self.place.store(ptr::from_ref(place).cast_mut(), Ordering::Relaxed);
    }

    /// The same item as before another that was run inside it.
    pub(crate) fn go_on(&self, queue: u64, place: &'static Location<'static>) {
        self.queue.set(queue);
        self.place.store(ptr::from_ref(place).cast_mut(), Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.queue.set(0);
    }

    /// The queue and the place of the item that runs. The two may belong to consecutive items.
    pub(crate) fn current(&self) -> Option<(u64, &'static Location<'static>)> {
        let queue = self.queue.get();
        let place = self.place.load(Ordering::Relaxed);
        // SAFETY: only addresses of `'static` locations are stored.
        let place = unsafe { place.as_ref() }?;
        (queue != 0).then_some((queue, place))
    }
}
