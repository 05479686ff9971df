//! Recording a pool: what its core is told and decides, under its lock. Off by default.

use super::links::Links;
use super::{Guarded, Pool};
use crate::item::{Handle, Header};
use cmwq_core::pool::record::{Reader, Recorder, Recording, Words};
use cmwq_core::pool::{Actions, Event, PoolCore};
use cmwq_core::time::Tick;
use std::ptr::NonNull;

/// A handle is recorded as its address, which is only compared.
impl Words for Handle {
    fn put(&self, out: &mut Vec<u64>) {
        out.push(self.0.addr().get() as u64);
    }
    fn get(input: &mut Reader<'_>) -> Option<Self> {
        let address = usize::try_from(input.word()?).ok()?;
        NonNull::new(std::ptr::without_provenance_mut::<Header>(address)).map(Handle)
    }
}

/// Kept out of the way of steps that are not recorded.
#[cold]
#[inline(never)]
pub(super) fn step(
    recorder: &mut Recorder,
    core: &mut PoolCore<Handle>,
    now: Tick,
    event: Event<Handle>,
    links: &mut Links<'_>,
    actions: &mut Actions<Handle>,
) {
    recorder.step(core, now, event, links, actions);
}

impl Pool {
    /// Records steps from here on, with room for this many bytes.
    pub(crate) fn record(&self, bytes: usize) {
        let mut guard = self.lock.lock();
        let Guarded { core, leaseholder, pwqs, posts, recorder, .. } = &mut *guard;
        let links = Links { pool: self, leaseholder: *leaseholder, pwqs, posts };
        *recorder = Some(Box::new(Recorder::new(core, &links, bytes)));
    }

    /// What has been recorded, if anything is.
    pub(crate) fn recording(&self) -> Option<Recording> {
        let guard = self.lock.lock();
        let recorder = guard.recorder.as_ref()?;
        Some(Recording { transitions: self.transitions(), ..recorder.recording(&self.setup.name) })
    }
}
