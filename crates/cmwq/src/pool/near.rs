//! Where workers were last seen, as a hint for threads that wait for them.
//!
//! A thread that waits for a worker on its own CPU should give way at once: the worker cannot run before. The hints
//! lie in a
//! table that outlives every pool, because who waits for a closure may outlive the pool that runs it. Pools share
//! places
//! when there are many: a wrong hint costs a pause or an early `sched_yield`.

use cmwq_sys::affinity::current_cpu;
use std::sync::atomic::{AtomicU32, Ordering};

// The real ones also in a model: all schedules of a process share them.
static SEEN: [AtomicU32; 256] = [const { AtomicU32::new(u32::MAX) }; 256];
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A pool's place in the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Near(u8);

impl Near {
    /// The next place in turn.
    pub(super) fn take() -> Near {
        // Ordering: relaxed: a number, ordering nothing.
        Near(NEXT.fetch_add(1, Ordering::Relaxed) as u8)
    }

    /// A worker of the pool runs on this CPU.
    pub(crate) fn note(self, cpu: u32) {
        // Ordering: relaxed: a hint.
        SEEN[usize::from(self.0)].store(cpu, Ordering::Relaxed);
    }

    /// Whether a worker of the pool was last seen on the CPU the caller is on.
    pub(crate) fn is_here(self) -> bool {
        // Ordering: relaxed: a hint.
        SEEN[usize::from(self.0)].load(Ordering::Relaxed) == current_cpu()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_seen_elsewhere_is_not_here() {
        let near = Near::take();
        near.note(u32::MAX);
        assert!(!near.is_here());
    }
}
