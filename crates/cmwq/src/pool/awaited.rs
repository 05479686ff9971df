//! An item that the worker whose own item waits for it takes from its pool.

use super::directory::find;
use super::{Pool, Pwq};
use crate::item::Header;
use crate::worker::clock;
use cmwq_core::id::WorkerId;
use std::ptr::NonNull;

/// What a worker's own item waits for.
#[derive(Clone, Copy)]
pub(crate) struct Awaited<'a> {
    pub(crate) item: NonNull<Header>,
    pub(crate) header: &'a Header,
    /// A pwq of the worker's pool.
    pub(super) pwq: NonNull<Pwq>,
    /// Whether the wait is over. Reads words only.
    pub(super) is_over: &'a dyn Fn() -> bool,
}

impl<'a> Awaited<'a> {
    /// An item that the caller keeps alive; `None`: it was not queued to this pool last.
    pub(crate) fn new(
        pool: &Pool,
        item: NonNull<Header>,
        is_over: &'a dyn Fn() -> bool,
    ) -> Option<Awaited<'a>> {
        // SAFETY: the caller keeps it alive while it waits.
        let header: &'a Header = unsafe { item.as_ref() };
        let pwq = header.pwq.get()?;
        let is_here = find(pwq).is_some_and(|owner| std::ptr::eq(&*owner, pool));
        is_here.then_some(Awaited { item, header, pwq, is_over })
    }
}

impl Pool {
    /// Whether any queue lets its items be run by workers that wait for them. A hint.
    pub(crate) fn lets_waiters_run(&self) -> bool {
        self.run_on_wait.get()
    }

    /// Claims the item for this worker, which is inside an item that does not block, has published what has ended, and
    /// owes [`Pool::end_awaited`].
    pub(crate) fn claim_awaited(&self, worker: WorkerId, awaited: &Awaited<'_>) -> bool {
        let mut hold = self.hold(clock::now());
        let claimed = hold.claim_awaited(worker, awaited);
        hold.release();
        claimed
    }

    /// It has been run to its end.
    pub(crate) fn end_awaited(&self, worker: WorkerId, item: NonNull<Header>, pwq: NonNull<Pwq>) {
        // SAFETY: pwqs live as long as their pool.
        let pwq = unsafe { pwq.as_ref() }.id;
        let mut hold = self.hold(clock::now());
        hold.report_awaited(worker, item, pwq);
        hold.release();
    }
}
