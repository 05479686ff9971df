//! The coloured walk: a yardstick. Every flush visits every pwq, idle or not, behind the lock of its pool, which is
//! kept over consecutive pwqs of one pool.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Colours there are; one fewer can be outstanding.
const COLOURS: usize = 16;

fn after(colour: usize) -> usize {
    (colour + 1) % COLOURS
}

/// Counts of one pwq, guarded by the lock of its pool. Aligned so that no two share cache lines.
#[derive(Default)]
#[repr(align(256))]
struct Pwq {
    work_colour: usize,
    flush_colour: Option<usize>,
    in_flight: [usize; COLOURS],
}

struct Flusher {
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

/// A queue flushed by the coloured walk.
pub(super) struct Walk {
    queue: Mutex<Queue>,
    first: Mutex<Option<Arc<Flusher>>>,
    to_flush: AtomicUsize,
    pools: Vec<Mutex<Vec<Pwq>>>,
    places: Vec<(usize, usize)>,
}

impl Walk {
    /// A queue with one pwq per entry of `pool_of`, which names the pool of each.
    pub(super) fn new(pool_of: &[usize]) -> Self {
        let mut pools: Vec<Vec<Pwq>> = Vec::new();
        pools.resize_with(pool_of.iter().max().map_or(0, |last| last + 1), Vec::new);
        let places = pool_of.iter().map(|&pool| {
            pools[pool].push(Pwq::default());
            (pool, pools[pool].len() - 1)
        });
        let places = places.collect();
        let pools = pools.into_iter().map(Mutex::new).collect();
        Walk {
            queue: Mutex::default(),
            first: Mutex::default(),
            to_flush: AtomicUsize::new(0),
            pools,
            places,
        }
    }

    /// Counts one item in at `pwq`; answers its colour, which [`Walk::finish`] takes back.
    pub(super) fn submit(&self, pwq: usize) -> usize {
        let (pool, at) = self.places[pwq];
        let mut pool = self.pools[pool].lock().unwrap();
        let colour = pool[at].work_colour;
        pool[at].in_flight[colour] += 1;
        colour
    }

    /// Counts one item of `colour` out at `pwq`.
    pub(super) fn finish(&self, pwq: usize, colour: usize) {
        let (pool, at) = self.places[pwq];
        let mut pool = self.pools[pool].lock().unwrap();
        let pwq = &mut pool[at];
        pwq.in_flight[colour] -= 1;
        if pwq.flush_colour == Some(colour) && pwq.in_flight[colour] == 0 {
            pwq.flush_colour = None;
            self.drop_one();
        }
    }

    /// Waits until every item counted in before the call is counted out.
    pub(super) fn flush(&self) {
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
                    queue.flush_colour = next;
                    return;
                }
            } else {
                queue.queued.push_back((mine, Arc::clone(&me)));
                self.walk(None, next);
            }
        }
        drop(queue);
        me.wait();
        self.cascade(&me);
    }

    fn cascade(&self, me: &Arc<Flusher>) {
        let mut queue: MutexGuard<'_, Queue> = self.queue.lock().unwrap();
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
            let Some((_, next)) = queue.queued.pop_front() else { return };
            *self.first.lock().unwrap() = Some(next);
            if self.walk(Some(queue.flush_colour), queue.work_colour) {
                return;
            }
            *self.first.lock().unwrap() = None;
        }
    }

    /// Paints every pwq with `work`, and arms those with items of `flush`; whether any had to be armed.
    fn walk(&self, flush: Option<usize>, work: usize) -> bool {
        let mut armed = false;
        if flush.is_some() {
            // Ordering: no partner; the pool locks order it before the finishers that count down.
            self.to_flush.store(1, Ordering::Relaxed);
        }
        let mut held: Option<(usize, MutexGuard<'_, Vec<Pwq>>)> = None;
        for &(pool, at) in &self.places {
            let mut guard = match held.take() {
                Some((same, guard)) if same == pool => guard,
                other => {
                    drop(other);
                    self.pools[pool].lock().unwrap()
                }
            };
            let pwq = &mut guard[at];
            if let Some(colour) = flush.filter(|&colour| pwq.in_flight[colour] > 0) {
                pwq.flush_colour = Some(colour);
                // Ordering: as above; the bias keeps the count above zero until the walk is over.
                self.to_flush.fetch_add(1, Ordering::Relaxed);
                armed = true;
            }
            pwq.work_colour = work;
            held = Some((pool, guard));
        }
        drop(held);
        if flush.is_some() {
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

    #[test]
    fn idle_flush_returns_through_every_wrap() {
        let walk = Walk::new(&[0, 0, 1]);
        (0..3 * COLOURS).for_each(|_| walk.flush());
    }

    #[test]
    fn forty_flushers_wait_for_the_blocked_item_and_all_return() {
        let walk = Arc::new(Walk::new(&[0, 1, 1]));
        let colour = walk.submit(1);
        let (send, done) = mpsc::channel();
        for _ in 0..40 {
            let (walk, send) = (Arc::clone(&walk), send.clone());
            std::thread::spawn(move || {
                walk.flush();
                send.send(()).unwrap();
            });
        }
        assert!(done.recv_timeout(Duration::from_millis(200)).is_err(), "a flush returned with an owed item");
        walk.finish(1, colour);
        (0..40).for_each(|_| done.recv_timeout(Duration::from_secs(30)).expect("a flusher hangs"));
    }

    #[test]
    fn a_flush_does_not_wait_for_later_items() {
        let walk = Arc::new(Walk::new(&[0]));
        let owed = walk.submit(0);
        let (send, done) = mpsc::channel();
        let flusher = Arc::clone(&walk);
        std::thread::spawn(move || {
            flusher.flush();
            send.send(()).unwrap();
        });
        while walk.queue.lock().unwrap().work_colour == owed {
            std::thread::yield_now();
        }
        let later = walk.submit(0);
        assert_ne!(owed, later);
        walk.finish(0, owed);
        done.recv_timeout(Duration::from_secs(30)).expect("the flush waits for a stranger");
        walk.finish(0, later);
    }
}
