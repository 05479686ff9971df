//! Queues in real time: their threads are made, and asked what they got, before the first submission.

use super::Queue;
use super::inner::Joint;
use crate::engine::BuildError;
use crate::item::Task;
use crate::pool::RealTime;
use cmwq_sys::policy::{SchedPolicy, priorities};
use std::panic::Location;

/// Whether the system knows such a priority.
pub(super) fn check(queue: &str, policy: SchedPolicy) -> Result<(), BuildError> {
    let known = priorities();
    if known.contains(&policy.priority()) {
        return Ok(());
    }
    let (least, most) = (known.start(), known.end());
    Err(BuildError::setting(format!("queue {queue:?}: the priority of {policy} is not in {least}..={most}")))
}

impl Queue {
    /// What the threads of a queue built with [`QueueBuilder::real_time`](super::QueueBuilder::real_time) run under;
    /// `None` for other queues. Where the system refuses the policy
    /// (it takes CAP_SYS_NICE or a limit for real-time priorities) the queue works with ordinary threads, and `refused`
    /// says why.
    ///
    /// # Context
    /// From any thread. Never blocks.
    pub fn real_time(&self) -> Option<RealTime> {
        let told = self.inner().joints.iter().filter_map(|joint| joint.pool.real_time());
        // If one pool was refused, that is what the caller should know.
        told.min_by_key(|real_time| real_time.refused.is_none()).cloned()
    }

    /// Makes the first two workers of each pool. Blocks until the first has run an item.
    pub(super) fn begin_real_time(&self) -> Result<(), BuildError> {
        for at in 0..self.inner().joints.len() {
            self.begin_joint(at)?;
        }
        Ok(())
    }

    fn begin_joint(&self, at: usize) -> Result<(), BuildError> {
        let inner = self.inner();
        let Joint { pool, .. } = &inner.joints[at];
        let failed = |why: &dyn std::fmt::Display| {
            let name = self.name();
            BuildError::thread(format!("queue {name:?}: a real-time thread cannot be created: {why}"))
        };
        if !pool.make_first().map_err(|error| failed(&error))? {
            return Err(failed(&"that failed a moment ago; try again after the engine's cool-down"));
        }
        let slot = inner.slots.iter().find(|slot| slot.usable && slot.joint as usize == at);
        let slot = slot.expect("every pod has a CPU");
        let place = Location::caller();
        let task = Task::new(|| (), None, self.engine().owner.shared.setup.wait, place);
        // SAFETY: the task is new; one of its two references goes with it. Nothing refuses: the queue is new.
        match unsafe { inner.submit_new(slot, task.header(), place) } {
            Ok(()) => task.into_handle().join().map_err(|error| failed(&error)),
            Err(refusal) => Err(failed(&refusal)),
        }
    }
}
