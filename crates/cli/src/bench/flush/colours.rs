//! Sixteen colours and the flushes that wait for them: the queue's side of both yardsticks. Which pwqs a flush visits
//! is the difference between them (see `pwqs`).

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};

use super::pwqs::{Pwqs, Reach, Retired};

/// Colours there are; one fewer can be outstanding.
pub(super) const COLOURS: usize = 16;

fn after(colour: usize) -> usize {
    (colour + 1) % COLOURS
}

/// One flush under way.
pub(super) struct Flusher {
    done: Mutex<bool>,
    wake: Condvar,
}

impl Flusher {
    fn complete(&self) {
        *self.done.lock().unwrap() = true;
        self.wake.notify_one();
    }

    fn wait(&self) {
        let mut done = self.done.lock().unwrap();
        while !*done {
            done = self.wake.wait(done).unwrap();
        }
    }
}

#[derive(Default)]
struct Queue {
    work_colour: usize,
    flush_colour: usize,
    queued: VecDeque<(usize, Arc<Flusher>)>,
    overflow: Vec<Arc<Flusher>>,
}

/// A queue whose items have colours.
pub(super) struct Coloured {
    queue: Mutex<Queue>,
    first: Mutex<Option<Arc<Flusher>>>,
    to_flush: AtomicUsize,
    pwqs: Pwqs,
}

impl Coloured {
    /// A queue with one pwq per CPU, each in a pool of its own.
    pub(super) fn new(cpus: usize, reach: Reach) -> Self {
        Coloured {
            queue: Mutex::default(),
            first: Mutex::default(),
            to_flush: AtomicUsize::new(0),
            pwqs: Pwqs::new(cpus, reach),
        }
    }

    /// Counts one item in at `pwq`; answers its colour, which [`Coloured::finish`] takes back.
    pub(super) fn submit(&self, pwq: usize) -> usize {
        self.pwqs.submit(pwq)
    }

    /// Counts one item of `colour` out at `pwq`.
    pub(super) fn finish(&self, pwq: usize, colour: usize) {
        if self.pwqs.finish(pwq, colour) == Retired::LastOfFlush {
            self.drop_one();
        }
    }

    /// Puts an item into the list of `pwq`, and counts it in.
    pub(super) fn push(&self, pwq: usize, item: usize) {
        self.pwqs.push(pwq, item);
    }

    /// Runs the items in the list of `pwq` as a worker does, and counts them out.
    pub(super) fn run(&self, pwq: usize, run: impl FnMut(usize)) {
        self.pwqs.run(pwq, run, || self.drop_one());
    }

    /// Waits until every item counted in before the call is counted out.
    pub(super) fn flush(&self) {
        if let Some(me) = self.begin_flush() {
            self.end_flush(&me);
        }
    }

    /// Makes the cut. `None`: there is nothing to wait for.
    pub(super) fn begin_flush(&self) -> Option<Arc<Flusher>> {
        let me = Arc::new(Flusher { done: Mutex::new(false), wake: Condvar::new() });
        let mut queue = self.queue.lock().unwrap();
        let (mine, next) = (queue.work_colour, after(queue.work_colour));
        if next == queue.flush_colour {
            queue.overflow.push(Arc::clone(&me));
        } else {
            queue.work_colour = next;
            if queue.flush_colour == mine {
                *self.first.lock().unwrap() = Some(Arc::clone(&me));
                if !self.walk(Some(mine), next) {
                    *self.first.lock().unwrap() = None;
                    queue.flush_colour = next;
                    return None;
                }
            } else {
                queue.queued.push_back((mine, Arc::clone(&me)));
                self.walk(None, next);
            }
        }
        Some(me)
    }

    /// Waits until what was counted in before the cut is counted out.
    pub(super) fn end_flush(&self, me: &Arc<Flusher>) {
        me.wait();
        self.cascade(me);
    }

    fn cascade(&self, me: &Arc<Flusher>) {
        let mut queue = self.queue.lock().unwrap();
        {
            let mut first = self.first.lock().unwrap();
            if !first.as_ref().is_some_and(|first| Arc::ptr_eq(first, me)) {
                return;
            }
            *first = None;
        }
        loop {
            while queue.queued.front().is_some_and(|(colour, _)| *colour == queue.flush_colour) {
                queue.queued.pop_front().unwrap().1.complete();
            }
            queue.flush_colour = after(queue.flush_colour);
            if !queue.overflow.is_empty() {
                let shared = queue.work_colour;
                queue.work_colour = after(shared);
                let waiting = std::mem::take(&mut queue.overflow);
                queue.queued.extend(waiting.into_iter().map(|flusher| (shared, flusher)));
                self.walk(None, queue.work_colour);
            }
            let Some((colour, next)) = queue.queued.pop_front() else { return };
            *self.first.lock().unwrap() = Some(Arc::clone(&next));
            if self.walk(Some(queue.flush_colour), queue.work_colour) {
                return;
            }
            // Nothing is left of its colour: it is told with the others of that colour.
            *self.first.lock().unwrap() = None;
            queue.queued.push_front((colour, next));
        }
    }

    /// Paints what the reach says with `work`, and arms what has items of `flush`; whether any had to be armed.
    fn walk(&self, flush: Option<usize>, work: usize) -> bool {
        if flush.is_some() {
            // Ordering: no partner; the pool locks order it before the finishers that count down.
            self.to_flush.store(1, Ordering::Relaxed);
        }
        let armed = self.pwqs.visit(flush, work, || {
            // Ordering: as above; the bias keeps the count above zero until the walk is over.
            self.to_flush.fetch_add(1, Ordering::Relaxed);
        });
        if flush.is_some() {
            if !armed {
                return false;
            }
            self.drop_one();
        }
        armed
    }

    fn drop_one(&self) {
        // Ordering: release of each finisher's work, acquired by the one who drops the last.
        if self.to_flush.fetch_sub(1, Ordering::AcqRel) == 1
            && let Some(first) = self.first.lock().unwrap().as_ref()
        {
            first.complete();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::time::Duration;

    fn both(pwqs: usize) -> [Coloured; 2] {
        [Coloured::new(pwqs, Reach::All), Coloured::new(pwqs, Reach::Active { nodes: 1 })]
    }

    #[test]
    fn idle_flush_returns_through_every_wrap() {
        for queue in both(3) {
            (0..3 * COLOURS).for_each(|_| queue.flush());
        }
    }

    #[test]
    fn forty_flushers_wait_for_the_blocked_item_and_all_return() {
        for queue in both(3).map(Arc::new) {
            let colour = queue.submit(1);
            let (send, done) = mpsc::channel();
            for _ in 0..40 {
                let (queue, send) = (Arc::clone(&queue), send.clone());
                std::thread::spawn(move || {
                    queue.flush();
                    send.send(()).unwrap();
                });
            }
            let early = done.recv_timeout(Duration::from_millis(200));
            assert!(early.is_err(), "a flush returned with an owed item");
            queue.finish(1, colour);
            (0..40).for_each(|_| done.recv_timeout(Duration::from_secs(30)).expect("a flusher hangs"));
        }
    }

    #[test]
    fn a_flush_does_not_wait_for_later_items() {
        for queue in both(1).map(Arc::new) {
            let owed = queue.submit(0);
            let flush = queue.begin_flush().expect("there is an item");
            let later = queue.submit(0);
            assert_ne!(owed, later);
            queue.finish(0, owed);
            queue.end_flush(&flush);
            queue.finish(0, later);
        }
    }

    #[test]
    fn threads_that_queue_and_flush_find_their_items_counted_out() {
        for queue in both(4).map(Arc::new) {
            std::thread::scope(|scope| {
                for thread in 0..6 {
                    let queue = &queue;
                    scope.spawn(move || {
                        for round in 0..2_000 {
                            let pwq = (thread + round) % 4;
                            queue.push(pwq, thread);
                            queue.run(pwq, |item| assert!(item < 6));
                            queue.flush();
                        }
                    });
                }
            });
        }
    }
}
