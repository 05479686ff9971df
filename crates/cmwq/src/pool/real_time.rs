//! What a pool in real time has beside an ordinary one: the word by which a submission finds whom it relies on, and
//! what the system gave its threads. The essay is the core's on real time.

use super::Pool;
use crate::engine::EngineEvent;
use crate::item::Header;
use cmwq_core::id::{PwqId, Sleeper, WorkerId};
use cmwq_core::pool::record::Change;
use cmwq_core::pool::relied_on;
use cmwq_ring::sync::{AtomicU32, Ordering};
use cmwq_sys::policy::SchedPolicy;
use std::ptr::NonNull;
use std::sync::OnceLock;

use crate::steps::Step;

/// What a queue asked of the system for its threads, and what it got.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RealTime {
    /// The policy that was asked for.
    pub asked: SchedPolicy,
    /// The policy of the threads, as the system tells it; `None`: they are ordinary threads.
    pub got: Option<SchedPolicy>,
    /// Why the system refused, if it did.
    pub refused: Option<String>,
}

/// Whose stand-by mark was left last.
pub(super) struct Standing(AtomicU32);

const MANAGER: u32 = 0;
const FIRST_WORKER: u32 = 1;

impl Standing {
    /// For the holder of the lock, before the mark is left.
    pub(super) fn set(&self, sleeper: Sleeper) {
        let bits = match sleeper {
            Sleeper::Manager => MANAGER,
            Sleeper::Worker(WorkerId(worker)) => worker + FIRST_WORKER,
        };
        // Ordering: relaxed: the mark's own release orders it before the pushes that replace the mark, and those that
        // come upon the list.
        self.0.store(bits, Ordering::Relaxed);
    }

    /// For who has pushed.
    fn get(&self) -> Sleeper {
        // Ordering: relaxed: the push has acquired what the mark released, or what a later one did.
        match self.0.load(Ordering::Relaxed) {
            MANAGER => Sleeper::Manager,
            worker => Sleeper::Worker(WorkerId(worker - FIRST_WORKER)),
        }
    }
}

/// What only a pool in real time has.
pub(super) struct InRealTime {
    asked: SchedPolicy,
    /// L, read by submissions.
    pub(super) standing: Standing,
    /// What its first thread got.
    got: OnceLock<RealTime>,
}

impl InRealTime {
    pub(super) fn new(asked: SchedPolicy) -> InRealTime {
        InRealTime { asked, standing: Standing(AtomicU32::new(MANAGER)), got: OnceLock::new() }
    }
}

impl Pool {
    /// A submission to a pool in real time: it returns when the sleeper that its item needs has been woken
    /// (`B8 each for itself`).
    ///
    /// # Safety
    /// As for [`Pool::submit`].
    pub(super) unsafe fn submit_in_real_time(&self, own: &InRealTime, item: NonNull<Header>, pwq: PwqId) {
        // SAFETY: passed on.
        let owed = unsafe { self.inbox.push(item, pwq) };
        self.note(|| Change::Pushed(owed));
        self.at(Step::Pushed, owed);
        let issued = self.wake(relied_on(owed, own.standing.get()));
        self.submit_wakes.add(u64::from(issued));
    }

    /// On a new thread of this pool: asks the system for the policy. What it says is kept; a refusal is an event.
    pub(crate) fn enter_real_time(&self) {
        let Some(own) = &self.real_time else { return };
        let refused = cmwq_sys::policy::set(own.asked).err().map(|error| error.to_string());
        let got = RealTime { asked: own.asked, got: cmwq_sys::policy::current(), refused: refused.clone() };
        let _ = own.got.set(got);
        if let (Some(error), Some(engine)) = (refused, self.engine.upgrade()) {
            let pool = self.setup.name.clone();
            engine.tell(&EngineEvent::RealTimeRefused { pool, asked: own.asked, error });
        }
    }

    /// What the first thread of this pool got, if the pool is in real time and has had a thread.
    pub(crate) fn real_time(&self) -> Option<&RealTime> {
        self.real_time.as_ref()?.got.get()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_stands_is_who_was_set() {
        let standing = Standing(AtomicU32::new(MANAGER));
        assert_eq!(standing.get(), Sleeper::Manager);
        for sleeper in [Sleeper::Worker(WorkerId(0)), Sleeper::Manager, Sleeper::Worker(WorkerId(4095))] {
            standing.set(sleeper);
            assert_eq!(standing.get(), sleeper);
        }
    }
}
