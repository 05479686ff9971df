//! The loops of the kernel's benchmark over caller-owned items, safe to drive from outside.

use super::{Completion, RawWork};
use crate::queue::{Queue, Submit};
use crate::worker::WaitPolicy;
use cmwq_sys::cycles;
use std::ptr::NonNull;

/// What one item took, by the cycle counter of [`cmwq_sys::cycles`].
#[derive(Clone, Copy, Debug)]
pub struct Round {
    /// The submission alone.
    pub submit: u64,
    /// From before the submission until the caller knew that the item had run.
    pub round_trip: u64,
    /// The counter at the end.
    pub end: u64,
}

/// An item with a completion, each on cache lines of its own.
#[repr(C, align(64))]
struct Signalled {
    raw: RawWork,
    done: NonNull<Completion>,
}

/// One producer with one item in flight: the item is made anew each round and signals before its function returns, so
/// that the next round may find the worker still finishing.
#[derive(Debug)]
pub struct Producer {
    /// Owned; from a box.
    item: NonNull<Signalled>,
    /// Owned; from a box.
    done: NonNull<Completion>,
    queue: Queue,
}

// SAFETY: what it points to is its own; items may be submitted from any thread.
unsafe impl Send for Producer {}

impl Producer {
    /// A producer for this queue.
    pub fn new(queue: &Queue) -> Producer {
        let done = NonNull::from(Box::leak(Box::new(Completion::default())));
        let item = NonNull::from(Box::leak(Box::new(Signalled { raw: RawWork::new(signal), done })));
        Producer { item, done, queue: queue.clone() }
    }

    /// Queues the item and waits until it has run, as the policy says.
    ///
    /// # Panics
    /// When the queue refuses the item.
    #[inline]
    pub fn round(&mut self, policy: WaitPolicy) -> Round {
        let raw = self.make_anew();
        let start = cycles::now();
        // SAFETY: the box does not move, and the drop frees it only after a flush.
        let submit = unsafe { RawWork::queue(raw, &self.queue) };
        let submitted = cycles::now();
        assert_eq!(submit, Submit::Queued);
        self.wait(policy);
        let end = cycles::now();
        Round { submit: submitted.wrapping_sub(start), round_trip: end.wrapping_sub(start), end }
    }

    /// The same without readings of the counter, which take as long as a submission.
    ///
    /// # Panics
    /// As for [`Producer::round`].
    #[inline]
    pub fn round_unmeasured(&mut self, policy: WaitPolicy) {
        let raw = self.make_anew();
        // SAFETY: the box does not move, and the drop frees it only after a flush.
        let submit = unsafe { RawWork::queue(raw, &self.queue) };
        assert_eq!(submit, Submit::Queued);
        self.wait(policy);
    }

    #[inline]
    fn make_anew(&mut self) -> NonNull<RawWork> {
        // SAFETY: the drop frees it.
        let done = unsafe { self.done.as_ref() };
        done.reinit();
        let raw = self.item.cast::<RawWork>();
        // SAFETY: the box is ours; the last round's function has been told apart by its signal, after which nobody
        // reads it.
        unsafe { raw.write(RawWork::new(signal)) };
        raw
    }

    #[inline]
    fn wait(&self, policy: WaitPolicy) {
        // SAFETY: the drop frees it.
        unsafe { self.done.as_ref() }.wait_on(&self.queue, policy);
    }
}

impl Drop for Producer {
    fn drop(&mut self) {
        // The function may be issuing the wake-up still. Where a flush is refused the boxes are left to it.
        if self.queue.flush().is_ok() {
            // SAFETY: made by a box in `new`, and after the flush no function uses it.
            drop(unsafe { Box::from_raw(self.item.as_ptr()) });
            // SAFETY: as above.
            drop(unsafe { Box::from_raw(self.done.as_ptr()) });
        }
    }
}

/// # Safety
/// The item is the first field of a `Signalled`, which a `Producer` keeps alive.
unsafe fn signal(item: NonNull<RawWork>) {
    let item = item.cast::<Signalled>();
    // SAFETY: the producer keeps the item alive and unchanged until the signal.
    let done = unsafe { (*item.as_ptr()).done };
    // SAFETY: the producer keeps the completion alive until it has flushed the queue.
    unsafe { done.as_ref() }.complete();
}

/// Many items that are queued without waiting, then flushed together.
#[derive(Debug)]
pub struct Batch {
    /// Owned; from a boxed slice.
    items: NonNull<[RawWork]>,
    queue: Queue,
    /// Whether items may be pending.
    is_open: bool,
}

// SAFETY: what it points to is its own; items may be submitted from any thread.
unsafe impl Send for Batch {}

impl Batch {
    /// This many items for this queue.
    pub fn new(queue: &Queue, count: usize) -> Batch {
        let items: Box<[RawWork]> = (0..count).map(|_| RawWork::new(nothing)).collect();
        Batch { items: NonNull::from(Box::leak(items)), queue: queue.clone(), is_open: false }
    }

    /// Makes up to `count` items anew and queues them one after another, telling what each submission took, then
    /// flushes the queue. Answers how many items there were.
    ///
    /// # Panics
    /// When the queue refuses an item, or inside an item of the queue.
    #[inline]
    pub fn round(&mut self, count: usize, mut sample: impl FnMut(u64)) -> usize {
        if self.is_open {
            self.flush();
        }
        self.is_open = true;
        let count = count.min(self.items.len());
        let first = self.items.cast::<RawWork>();
        for index in 0..count {
            // SAFETY: within the slice.
            let raw = unsafe { first.add(index) };
            // SAFETY: the slice is ours, and nothing is pending after the last round's flush.
            unsafe { raw.write(RawWork::new(nothing)) };
            let start = cycles::now();
            // SAFETY: the slice does not move, and is freed only after a flush.
            let submit = unsafe { RawWork::queue(raw, &self.queue) };
            let submitted = cycles::now();
            assert_eq!(submit, Submit::Queued);
            sample(submitted.wrapping_sub(start));
        }
        self.flush();
        count
    }

    fn flush(&mut self) {
        self.queue.flush().expect("the caller is not inside an item of the queue");
        self.is_open = false;
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        // Where a flush is refused the items are left to the queue.
        if !self.is_open || self.queue.flush().is_ok() {
            // SAFETY: made by a box in `new`, and nothing is pending.
            drop(unsafe { Box::from_raw(self.items.as_ptr()) });
        }
    }
}

/// # Safety
/// None needed.
unsafe fn nothing(_item: NonNull<RawWork>) {}

#[cfg(test)]
mod tests;
