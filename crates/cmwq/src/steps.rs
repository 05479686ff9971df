//! Named steps at which a test or a benchmark may look on, delay a thread, or stop it for as long as it likes.
//!
//! A protocol is right when it is right whichever thread stops between whichever two steps, and real threads stop there
//! once in a million. So the steps have names, and an engine may have a hook that is called at each of them. Without
//! the feature `bench` there is no hook and nothing is compiled; with it and without a hook a step costs one test of a
//! pointer. The essay on workers has the table.

#[cfg(feature = "bench")]
use crate::item::{discard, quietly};
#[cfg(feature = "bench")]
use crate::worker::who;
use cmwq_core::id::Sleeper;
#[cfg(feature = "bench")]
use cmwq_core::id::WorkerId;
#[cfg(feature = "bench")]
use std::sync::Arc;

/// A step of the runtime. A thread is *at* it: it has done what comes before it and nothing of what comes after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(not(feature = "bench"), allow(unreachable_pub, reason = "hooks are the benchmarks' and tests'"))]
#[non_exhaustive]
pub enum Step {
    /// A delayed item has been claimed, and is on no timer yet.
    Arming,
    /// A submission has pushed its item onto the inbox, and has not yet woken whom the push owes a wake-up, if it does.
    Pushed,
    /// The lock is held; nothing has been told to the core.
    Locked,
    /// The lock is held, and the inbox has been taken; its items are not listed.
    Taken,
    /// The lock is held, and everything is decided.
    Unlocking,
    /// A wake-up has been decided in a hold, and not been claimed on the sleeper's wake word. After unlock, except in
    /// the shape that wakes under the lock.
    Decided,
    /// A wake-up has been claimed on the sleeper's wake word and not been issued.
    Claimed,
    /// A worker has claimed items, and issued what its hold decided; the items are not started.
    Starting,
    /// A worker has run what it has claimed, and has not come to the lock.
    Ran,
    /// A worker has announced its sleep, unlocked and issued what its hold decided; it does not sleep yet.
    Parking,
    /// A worker is up again and has not come to the lock; it may have been told to end.
    Woken,
    /// A thread is to be made for a worker.
    Making,
    /// It has been made, or could not be, and the core has not been told.
    Made,
    /// The thread of a new worker runs and has not come to the lock.
    Born,
    /// A worker has ended and its slot is free; its thread has still to go.
    Left,
    /// The engine's manager thread is about to look after a pool that called it.
    Looking,
    /// The engine's manager thread is about to cull a pool whose time has come.
    Culling,
}

/// What a thread is.
#[cfg(feature = "bench")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Who {
    /// A worker, also while it submits from inside an item.
    Worker(WorkerId),
    /// An engine's manager thread.
    Manager,
    /// A thread of the program.
    Other,
}

/// A thread at a step.
#[cfg(feature = "bench")]
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// The step.
    pub step: Step,
    /// The thread.
    pub who: Who,
    /// The sleeper that a wake-up is for, or the worker that is made.
    pub whom: Option<Sleeper>,
    /// The pool, by its name in [`PoolStats`](crate::PoolStats); empty at [`Step::Arming`].
    pub pool: &'a str,
}

#[cfg(feature = "bench")]
type Hook = dyn Fn(&At<'_>) + Send + Sync;

/// The hook of an engine, if it has one.
#[derive(Clone, Default)]
pub(crate) struct Steps {
    #[cfg(feature = "bench")]
    hook: Option<Arc<Hook>>,
}

impl Steps {
    #[cfg(feature = "bench")]
    pub(crate) fn new(hook: impl Fn(&At<'_>) + Send + Sync + 'static) -> Self {
        Steps { hook: Some(Arc::new(hook)) }
    }

    /// The calling thread is at a step; returns when it may go on.
    #[inline(always)]
    #[cfg_attr(not(feature = "bench"), allow(unused_variables, reason = "nobody is called"))]
    pub(crate) fn at(&self, step: Step, pool: &str, whom: Option<Sleeper>) {
        #[cfg(feature = "bench")]
        if let Some(hook) = &self.hook {
            call(&**hook, step, pool, whom);
        }
    }
}

/// A panic of the hook is the hook's own: no step of ours may unwind.
#[cfg(feature = "bench")]
#[cold]
#[inline(never)]
fn call(hook: &Hook, step: Step, pool: &str, whom: Option<Sleeper>) {
    let at = At { step, who: who(), whom, pool };
    if let Err(payload) = quietly(|| hook(&at)) {
        discard(payload);
    }
}
