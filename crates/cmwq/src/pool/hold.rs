//! One hold of a pool's lock: events in, decisions collected, performed after unlock.

use super::awaited::Awaited;
use super::held::HeldBack;
use super::links::Links;
use super::node::Post;
use super::record;
use super::{Guarded, Pool, Pwq, Shape, WorkerCell};
use crate::item::{Claimed, Handle, Header};
use crate::steps::Step;
use cmwq_core::id::{PwqId, Sleeper, WorkerId};
use cmwq_core::pool::record::Change;
use cmwq_core::pool::{Event, PoolCore, Verdict};
use cmwq_core::time::Tick;
use cmwq_ring::{LockGuard, Received};
use cmwq_sys::futex::LinuxFutex;
use std::ptr::NonNull;

/// The lock, held.
pub(crate) struct Hold<'a> {
    pool: &'a Pool,
    guard: LockGuard<'a, Guarded, LinuxFutex>,
    now: Tick,
}

/// Where the claimed items are.
pub(crate) enum Filled {
    /// Here.
    One(Claimed),
    /// In the places of the worker's cell, to be started through its batch word.
    Several,
}

/// How a worker may wait, after it has run what it claimed, before it takes the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Linger {
    /// Not at all: others wait, or would be woken.
    No,
    /// It may spin until something arrives.
    Spin,
    /// It may spin, and take single items of this pwq without the lock.
    Lease(PwqId),
}

/// What will be needed of an item after it has run.
fn claimed(handle: Handle) -> Claimed {
    // SAFETY: W5 pending keeps alive: a claimed item is pending.
    let header = unsafe { handle.0.as_ref() };
    header.listed.set(None);
    let pwq = header.pwq.get().expect("a pushed item names its pwq (W1)");
    // SAFETY: pwqs live as long as their pool.
    let pwq = unsafe { pwq.as_ref() }.id;
    Claimed { handle, pwq, owned_by_caller: header.vtable.owned_by_caller }
}

/// What a hold decided, copied out so that it can be performed after unlock.
pub(crate) struct Deferred {
    wake: [Option<Sleeper>; 16],
    posts: Vec<Post>,
    cull_at: Option<Tick>,
    retry_at: Option<Tick>,
}

impl<'a> Hold<'a> {
    pub(super) fn new(pool: &'a Pool, mut guard: LockGuard<'a, Guarded, LinuxFutex>, now: Tick) -> Self {
        guard.actions.clear();
        pool.at(Step::Locked, None);
        Hold { pool, guard, now }
    }

    #[inline(always)]
    pub(crate) fn step(&mut self, event: Event<Handle>) {
        let Guarded { core, actions, leaseholder, pwqs, posts, recorder, .. } = &mut *self.guard;
        let mut links = Links { pool: self.pool, leaseholder: *leaseholder, pwqs, posts };
        if let Some(recorder) = recorder {
            return record::step(recorder, core, self.now, event, &mut links, actions);
        }
        core.step(self.now, event, &mut links, actions);
    }

    pub(crate) fn core(&self) -> &PoolCore<Handle> {
        &self.guard.core
    }

    pub(crate) fn set_now(&mut self, now: Tick) {
        self.now = now;
    }

    /// What the last look answered; taken.
    pub(crate) fn verdict(&mut self) -> Verdict {
        std::mem::take(&mut self.guard.actions.verdict)
    }

    /// Whether anything lies in the inbox.
    pub(crate) fn inbox_has_items(&self) -> bool {
        self.pool.inbox.has_items()
    }

    /// Takes the inbox, and hands what was in it to the core in submission order. Withdraws a stand-by mark: the
    /// hold must
    /// end with an event that chooses who covers (a look, going idle, a block, `Cover`).
    pub(crate) fn drain(&mut self) {
        let received = self.pool.inbox.take();
        self.pool.note(|| Change::Taken);
        self.pool.at(Step::Taken, None);
        match received {
            Received::Nothing => {}
            Received::Withdrawn(_) => self.step(Event::Taken),
            Received::Items(first) => {
                self.step(Event::Taken);
                let mut at = Some(first);
                while let Some(item) = at {
                    // SAFETY: W3 pending owns links: taken from the inbox, and not yet given to the core.
                    let header = unsafe { item.as_ref() };
                    at = header.next.get();
                    if header.is_message() {
                        let pwq = header.pwq.get().expect("a message names its pwq");
                        // SAFETY: pwqs live as long as their pool.
                        self.read_mail(unsafe { pwq.as_ref() });
                    } else {
                        self.arrive(item, header);
                    }
                }
            }
        }
        if std::mem::take(&mut self.guard.actions.recall) {
            self.recall_batches();
        }
    }

    /// Gives an item to the core, which puts it into one of its lists.
    #[inline]
    pub(super) fn arrive(&mut self, item: NonNull<Header>, header: &Header) {
        header.listed.set(header.pwq.get());
        self.step(Event::Arrive(Handle(item)));
    }

    /// Hands the items the core has claimed to the worker of this cell: one directly, several in places from where
    /// others may
    /// take them back.
    pub(crate) fn fill(&mut self, cell: &WorkerCell) -> Filled {
        let batch = &self.guard.actions.batch;
        let mut items = batch.iter().map(claimed);
        if batch.len() == 1 {
            return Filled::One(items.next().expect("a batch of one has one"));
        }
        for (place, item) in items.enumerate() {
            // SAFETY: this worker holds the lock and has run or returned everything it had.
            unsafe { cell.set_place(place, item) };
        }
        cell.reported.set(0);
        cell.batch.fill(batch.len());
        Filled::Several
    }

    /// Reports the end of an item that was claimed alone.
    pub(crate) fn report_one(&mut self, worker: WorkerId, item: Claimed) {
        let Claimed { handle, pwq, owned_by_caller } = item;
        self.step(Event::Finish { worker, item: handle, pwq, owned_by_caller });
    }

    /// Reports the ends of a worker's batch up to `ended` (counted from the start of its claim) that have not been
    /// reported.
    pub(crate) fn report(&mut self, worker: WorkerId, cell: &WorkerCell, ended: usize) {
        for place in cell.reported.get()..ended {
            // SAFETY: the lock is held.
            self.report_one(worker, unsafe { cell.place(place) });
        }
        if ended > cell.reported.get() {
            cell.reported.set(ended);
        }
    }

    /// Takes back what a worker has claimed and not started, and reports what it has ended, except the item it is in.
    pub(crate) fn recall(&mut self, worker: WorkerId) {
        if !self.guard.core.has_batch(worker) {
            return;
        }
        let cell = self.pool.cell(worker);
        for place in cell.batch.recall().rev() {
            // SAFETY: the lock is held.
            let claimed = unsafe { cell.place(place) };
            // SAFETY: W5 pending keeps alive: it has not been started.
            let header = unsafe { claimed.handle.0.as_ref() };
            header.listed.set(header.pwq.get());
            self.step(Event::Return(worker, claimed.handle));
        }
        let started = cell.batch.started();
        self.report(worker, cell, started.saturating_sub(1));
    }

    /// Takes a pending item out of this pool's lists, to which `pwq` belongs. `false`: it is not there; it has not
    /// been pushed yet, or is about to be started, or is elsewhere by now.
    pub(super) fn withdraw(&mut self, item: NonNull<Header>, header: &Header, pwq: NonNull<Pwq>) -> bool {
        self.drain();
        if header.listed.get() != Some(pwq) {
            self.recall_batches();
        }
        let is_here = header.listed.get() == Some(pwq);
        if is_here {
            header.listed.set(None);
            self.step(Event::Cancel(Handle(item)));
        }
        // The drain may have taken the stand-by mark.
        self.step(Event::Cover);
        is_here
    }

    /// Takes an item for which the worker's own waits off the worklist, so that the worker runs it: if its queue lets
    /// waiters do so, it may start now, and the wait is not over (what is pending then is the instance waited for).
    pub(super) fn claim_awaited(&mut self, worker: WorkerId, awaited: &Awaited<'_>) -> bool {
        let Awaited { item, header, pwq, is_over } = *awaited;
        self.recall(worker);
        self.drain();
        if header.listed.get() != Some(pwq) {
            self.recall_batches();
        }
        // SAFETY: pwqs live as long as their pool, which is this one.
        let allowed = unsafe { pwq.as_ref() }.run_on_wait.get() && !header.vtable.owned_by_caller;
        let may = allowed && header.listed.get() == Some(pwq) && !header.inactive.get() && !is_over();
        if may {
            header.listed.set(None);
            self.step(Event::ClaimAwaited(worker, Handle(item)));
        }
        // The drain may have taken the stand-by mark.
        self.step(Event::Cover);
        may
    }

    /// Reports the end of an item that the worker has run for its own.
    pub(super) fn report_awaited(&mut self, worker: WorkerId, item: NonNull<Header>, pwq: PwqId) {
        self.report_one(worker, Claimed { handle: Handle(item), pwq, owned_by_caller: false });
        self.step(Event::Cover);
    }

    /// The limit behind which an item of `pwq`, which belongs to this pool, waits.
    pub(super) fn held_back(&mut self, header: &Header, pwq: NonNull<Pwq>) -> Option<HeldBack> {
        // What has ended and is not reported makes room yet, and counts as one that goes on.
        self.drain();
        let waits = header.listed.get() == Some(pwq) && header.inactive.get();
        let answer = waits.then(|| {
            // SAFETY: pwqs live as long as their pool.
            let at = unsafe { pwq.as_ref() };
            // SAFETY: L1 one holder: this is a hold.
            let (limit, node) = unsafe { at.limit() };
            let own = || self.guard.core.gate(at.id).nr_active();
            HeldBack { limit, active: node.map_or_else(own, |node| node.counts.read().nr()) }
        });
        // The drain may have taken the stand-by mark.
        self.step(Event::Cover);
        answer
    }

    /// Recalls every batch, the last claimed first, so that items come back to the worklist in their order.
    fn recall_batches(&mut self) {
        for at in (0..self.guard.core.batch_holders().count()).rev() {
            // A recall may take the holder out of the list, never one before it.
            let holder = self.guard.core.batch_holders().nth(at);
            self.recall(holder.expect("holders before this one stay"));
        }
    }

    /// Leaves the stand-by mark the core asked for; when items have arrived instead, hands them over and lets the
    /// core choose
    /// again.
    fn settle(&mut self) {
        while let Some(sleeper) = self.guard.actions.stand_by.take() {
            if let Some(own) = &self.pool.real_time {
                // Before the mark: B8 each for itself.
                own.standing.set(sleeper);
            }
            if self.pool.inbox.stand_by(sleeper) {
                self.pool.note(|| Change::StoodBy(sleeper));
                break;
            }
            self.pool.note(|| Change::Refused(sleeper));
            self.drain();
            self.step(Event::Cover);
        }
    }

    /// Ends the hold of a worker that goes to run what it has claimed, and answers how it may wait for more before
    /// it reports.
    /// With a single item claimed that is a lease for the item's pwq.
    pub(crate) fn release_to_run(mut self, worker: WorkerId, filled: &Filled) -> Linger {
        if !self.guard.core.may_linger(&self.guard.actions) {
            self.release();
            return Linger::No;
        }
        let linger = match filled {
            Filled::One(claimed)
                if self.pool.setup.shape == Shape::Inbox && self.pool.inbox.lease(claimed.pwq) =>
            {
                self.pool.note(|| Change::Leased(claimed.pwq));
                self.guard.leaseholder = Some(worker);
                self.pool.lend(claimed.handle);
                Linger::Lease(claimed.pwq)
            }
            _ => Linger::Spin,
        };
        self.release();
        linger
    }

    /// The leaseholder is back at the lock: whatever it took has ended, and what comes goes by the lock again.
    pub(crate) fn end_lease(&mut self) {
        self.guard.leaseholder = None;
        self.pool.leased.clear();
    }

    /// Ends the hold: settles the stand-by mark, unlocks, issues the wake-ups. Answers how many were issued.
    pub(crate) fn release(mut self) -> u32 {
        if std::mem::take(&mut self.guard.actions.recall) {
            self.recall_batches();
            self.step(Event::Cover);
        }
        if self.pool.setup.shape == Shape::Inbox {
            self.settle();
        } else {
            if self.guard.actions.stand_by.take().is_some() {
                // The older shapes leave no mark, and culling spares nobody for one.
                self.step(Event::Taken);
            }
            let listed = !self.guard.core.worklist().is_empty();
            if listed != self.guard.listed {
                self.guard.listed = listed;
                self.pool.listed.set(listed);
            }
        }
        let wanted = self.guard.core.wants_reports();
        if wanted != self.guard.wants_reports {
            self.guard.wants_reports = wanted;
            self.pool.wants_reports.set(wanted);
        }
        self.end_hold();
        self.pool.at(Step::Unlocking, None);
        if !self.guard.actions.has_deferred() && self.guard.posts.is_empty() {
            return 0;
        }
        let deferred = self.deferred();
        let Hold { pool, guard, .. } = self;
        // In real time nothing is owed when others can have the lock: B9 nothing in hand.
        if pool.setup.shape == Shape::UnderLock || pool.real_time.is_some() {
            let issued = deferred.wake(pool);
            drop(guard);
            deferred.send(pool);
            return issued;
        }
        drop(guard);
        let issued = deferred.wake(pool);
        deferred.send(pool);
        issued
    }

    /// What pwqs hold of their nodes' counts and do not use goes back.
    #[inline]
    fn end_hold(&mut self) {
        let Guarded { core, leaseholder, pwqs, posts, recorder, .. } = &mut *self.guard;
        let mut links = Links { pool: self.pool, leaseholder: *leaseholder, pwqs, posts };
        if let Some(recorder) = recorder {
            return recorder.end_hold(core, &mut links);
        }
        core.end_hold(&mut links);
    }

    fn deferred(&mut self) -> Deferred {
        let mut posts = std::mem::take(&mut self.guard.posts);
        posts.retain(|post| self.is_due(post));
        let actions = &mut self.guard.actions;
        let mut wake = [None; 16];
        for (slot, sleeper) in wake.iter_mut().zip(actions.wake.iter()) {
            *slot = Some(sleeper);
        }
        actions.wake.clear();
        Deferred { wake, posts, cull_at: actions.cull_at.take(), retry_at: actions.retry_at.take() }
    }
}

impl Deferred {
    /// Issues the wake-ups; answers how many.
    fn wake(&self, pool: &Pool) -> u32 {
        let mut issued = 0;
        for sleeper in self.wake.iter().flatten() {
            pool.at(Step::Decided, Some(*sleeper));
            issued += u32::from(pool.wake(*sleeper));
        }
        issued
    }

    /// What is for the manager and for other pools. Not under the lock.
    fn send(self, pool: &Pool) {
        if let Some(at) = self.cull_at {
            pool.summon_at(at, true);
        }
        if let Some(at) = self.retry_at {
            pool.summon_at(at, false);
        }
        self.posts.into_iter().for_each(Post::send);
    }
}
