//! A path to count the instructions of: items that are submitted, run and finish, one in flight, nobody spinning.
//!
//! `path_length chain ITEMS`: each item queues the next one, all on one thread.
//! `path_length round ITEMS`: the main thread queues an item and parks until it has run. Both park at each wait.
//!
//! Under an instruction counter the difference of two counts of items is what they cost (see `cargo xtask path`). Ends
//! the process at once: a build that does not count submissions cannot wait for a queue to be empty.

use cmwq::{Engine, Queue, Submit, WaitPolicy, Work};
use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread;

/// Two works that queue each other.
fn chain(queue: &Arc<Queue>, items: u64) -> Result<(), Box<dyn Error>> {
    let left = Arc::new(AtomicU64::new(items));
    let (ended, end) = mpsc::channel();
    let works: Arc<[OnceLock<Work>; 2]> = Arc::default();
    for (at, place) in works.iter().enumerate() {
        let (works, queue, left, ended) =
            (Arc::clone(&works), Arc::clone(queue), Arc::clone(&left), ended.clone());
        let work = Work::new(move |_| {
            // Ordering: relaxed: items run one after the other.
            if left.fetch_sub(1, Ordering::Relaxed) == 1 {
                let _ = ended.send(());
            } else if let Some(next) = works[1 - at].get() {
                assert_eq!(queue.queue(next), Submit::Queued, "one item is in flight");
            }
        });
        let _ = place.set(work);
    }
    let first = works[0].get().ok_or("set above")?;
    let _ = queue.queue(first);
    Ok(end.recv()?)
}

fn round(queue: &Queue, items: u64) {
    let has_run = Arc::new(AtomicBool::new(false));
    let (signal, waiter) = (Arc::clone(&has_run), thread::current());
    let work = Work::new(move |_| {
        // Ordering: release pairs with the main thread's acquire.
        signal.store(true, Ordering::Release);
        waiter.unpark();
    });
    for _ in 0..items {
        // The function may not have returned yet: then the item is handed over to its own worker.
        assert_eq!(queue.queue(&work), Submit::Queued, "one item is in flight");
        // Ordering: acquire pairs with the item's release.
        while !has_run.swap(false, Ordering::Acquire) {
            thread::park();
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let engine = Engine::builder().workers_max(1).wait(WaitPolicy::Park).build()?;
    let queue = Arc::new(engine.queue("path").build()?);
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["chain", items] => chain(&queue, items.parse()?)?,
        ["round", items] => round(&queue, items.parse()?),
        _ => return Err("usage: path_length chain|round ITEMS".into()),
    }
    std::process::exit(0)
}
