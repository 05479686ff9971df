//! Threads of the model.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub use shuttle::thread::yield_now;
pub use shuttle::thread_local;

/// The handle of a thread.
#[derive(Debug)]
pub struct JoinHandle<T> {
    inner: shuttle::thread::JoinHandle<T>,
    ended: Arc<AtomicBool>,
}

impl<T> JoinHandle<T> {
    /// As in [`std::thread`].
    pub fn is_finished(&self) -> bool {
        // Ordering: threads of the model are coroutines of one.
        self.ended.load(Ordering::Relaxed)
    }

    /// As in [`std::thread`].
    ///
    /// # Errors
    /// None: a thread that panics ends the exploration.
    pub fn join(self) -> std::thread::Result<T> {
        self.inner.join()
    }
}

/// Creates a thread.
///
/// # Errors
/// None.
pub fn spawn(name: String, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    let ended = Arc::new(AtomicBool::new(false));
    let end = Arc::clone(&ended);
    let inner = shuttle::thread::Builder::new().name(name).spawn(move || {
        body();
        // Ordering: as above.
        end.store(true, Ordering::Relaxed);
    })?;
    Ok(JoinHandle { inner, ended })
}

/// Sleeps are exact.
pub fn sleep_exactly() {}

/// Sleeps until the time has passed.
pub fn sleep(time: Duration) {
    super::sleepers::sleep(time);
}

/// Another thread may go on here.
pub(super) fn yield_here() {
    shuttle::thread::sleep(Duration::ZERO);
}
