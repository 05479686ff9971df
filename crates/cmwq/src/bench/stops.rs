//! Stopping threads at [steps](super::Step) until they are let go.

use super::At;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Stops of one engine; a hook for [`EngineBuilder::on_step`](crate::EngineBuilder::on_step).
///
/// ```
/// use cmwq::bench::{Step, Stops};
/// use std::time::Duration;
///
/// let stops = Stops::default();
/// let engine = cmwq::Engine::builder().on_step(stops.hook()).build()?;
/// let queue = engine.queue("example").build()?;
/// let stop = stops.stop_next(|at| at.step == Step::Starting);
/// let item = queue.spawn(|| ());
/// assert!(stop.wait(Duration::from_secs(60)), "the worker has claimed the item");
/// assert!(!item.is_finished());
/// stop.let_go();
/// item.join().unwrap();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Stops {
    armed: Arc<Mutex<Vec<Arc<Inner>>>>,
}

type Which = dyn Fn(&At<'_>) -> bool + Send + Sync;

struct Inner {
    which: Box<Which>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Armed,
    Stopped,
    Open,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Stops {
    /// What the engine is to call.
    pub fn hook(&self) -> impl Fn(&At<'_>) + Send + Sync + 'static {
        let stops = self.clone();
        move |at| stops.at(at)
    }

    /// Stops the next thread that comes to such a step, once. Several stops may be armed; the oldest that fits serves.
    pub fn stop_next(&self, which: impl Fn(&At<'_>) -> bool + Send + Sync + 'static) -> Stop {
        let inner = Arc::new(Inner {
            which: Box::new(which),
            state: Mutex::new(State::Armed),
            changed: Condvar::new(),
        });
        lock(&self.armed).push(Arc::clone(&inner));
        Stop { inner }
    }

    /// To be called from a hook of one's own.
    pub fn at(&self, at: &At<'_>) {
        let mut armed = lock(&self.armed);
        // Those that were let go before anybody came.
        armed.retain(|stop| *lock(&stop.state) == State::Armed);
        let Some(found) = armed.iter().position(|stop| (stop.which)(at)) else { return };
        let stop = armed.remove(found);
        drop(armed);
        let mut state = lock(&stop.state);
        if *state == State::Armed {
            *state = State::Stopped;
            stop.changed.notify_all();
        }
        while *state == State::Stopped {
            state = stop.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl fmt::Debug for Stops {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stops").field("armed", &lock(&self.armed).len()).finish()
    }
}

/// One stop. When it is dropped the thread is let go; if none has come, none will be stopped.
pub struct Stop {
    inner: Arc<Inner>,
}

impl Stop {
    /// Waits until a thread is stopped here. `false`: none has come in this time.
    #[must_use]
    pub fn wait(&self, timeout: Duration) -> bool {
        let until = Instant::now() + timeout;
        let mut state = lock(&self.inner.state);
        while *state == State::Armed {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            let waited = self.inner.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        true
    }

    /// Whether a thread is stopped here.
    pub fn is_reached(&self) -> bool {
        *lock(&self.inner.state) == State::Stopped
    }

    /// Lets the thread go on.
    pub fn let_go(self) {
        drop(self);
    }
}

impl Drop for Stop {
    fn drop(&mut self) {
        *lock(&self.inner.state) = State::Open;
        self.inner.changed.notify_all();
    }
}

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stop").field("is_reached", &self.is_reached()).finish()
    }
}
