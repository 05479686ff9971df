//! What a worker carries from one hold of the lock to the next.

use super::clock;
use super::wait::Patience;
use crate::item::{Handle, Header};
use crate::pool::{Filled, Hold, Linger, Pool, Pwq, WorkerCell};
use cmwq_core::id::WorkerId;
use cmwq_core::time::Tick;
use cmwq_sys::affinity::current_cpu;
use cmwq_sys::standing::Standing;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::ptr::NonNull;

/// Departures that have not been published: a run of items of the same pwq and phase slot.
#[derive(Clone, Copy)]
struct Leaving {
    pwq: NonNull<Pwq>,
    slot: u8,
    count: u32,
}

/// What a worker knows of the item it is inside.
pub(super) struct Inside {
    item: Option<NonNull<Header>>,
    queue: u64,
    at: Option<(NonNull<Pwq>, u8)>,
    submit_cpu: u8,
    place: Option<&'static Location<'static>>,
}

/// One worker thread's own state. Items see it while they run.
pub(crate) struct Runner<'a> {
    pub(crate) pool: &'a Pool,
    pub(crate) id: WorkerId,
    cell: &'a WorkerCell,
    /// O: unpublished departures.
    leaving: Cell<Option<Leaving>>,
    /// O: the item that runs.
    item: Cell<Option<NonNull<Header>>>,
    /// O: its queue.
    queue: Cell<u64>,
    /// O: the pwq and the phase slot it was submitted to.
    at: Cell<Option<(NonNull<Pwq>, u8)>>,
    /// O: how deep in `blocking` scopes the item is.
    pub(super) blocking: Cell<u32>,
    /// O: how many items it runs inside of the first one.
    pub(super) nested: Cell<u8>,
    /// O: the CPU the last item was submitted from, and the one this worker was on when it ran.
    submit_cpu: Cell<u8>,
    cpu: Cell<u32>,
    /// I: whether it looks after each item for what that has left behind.
    is_checked: bool,
    /// O: how the thread is to stand after each item, if that is looked at.
    pub(super) standing: RefCell<Option<Standing>>,
    now: Cell<Tick>,
    looks: Cell<u8>,
}

/// Items taken under one lease before the worker goes by the lock again, where the pool's times are kept.
const LEASED_MAX: u32 = 256;
/// Looks between two readings of the clock while items are short. A stale time makes a busy worker seem less
/// lively, so
/// that a woken one joins in rather than watches.
const LOOKS_PER_CLOCK: u8 = 16;

impl<'a> Runner<'a> {
    pub(super) fn new(pool: &'a Pool, id: WorkerId) -> Self {
        Runner {
            pool,
            id,
            cell: pool.cell(id),
            leaving: Cell::new(None),
            item: Cell::new(None),
            queue: Cell::new(0),
            at: Cell::new(None),
            blocking: Cell::new(0),
            nested: Cell::new(0),
            submit_cpu: Cell::new(0),
            cpu: Cell::new(u32::MAX),
            is_checked: pool.setup.check_items,
            standing: RefCell::new(pool.setup.check_items.then(Standing::current)),
            now: Cell::new(clock::now()),
            looks: Cell::new(0),
        }
    }

    pub(super) fn cell(&self) -> &'a WorkerCell {
        self.cell
    }

    /// Takes the lock with the time as of a few items ago.
    pub(super) fn hold(&self) -> Hold<'a> {
        let looks = self.looks.get() + 1;
        if looks >= LOOKS_PER_CLOCK {
            return self.hold_now();
        }
        self.looks.set(looks);
        self.pool.hold(self.now.get())
    }

    /// Takes the lock with the time as it is.
    pub(super) fn hold_now(&self) -> Hold<'a> {
        self.now.set(clock::now());
        self.looks.set(0);
        self.pool.hold(self.now.get())
    }

    /// The item that runs now, and the number of its queue.
    pub(super) fn running(&self) -> Option<(NonNull<Header>, u64)> {
        self.item.get().map(|item| (item, self.queue.get()))
    }

    /// The pwq and the phase slot to which it was submitted.
    pub(super) fn running_at(&self) -> Option<(NonNull<Pwq>, u8)> {
        self.at.get()
    }

    /// Where it was submitted.
    pub(super) fn submitted_at(&self) -> Option<&'static Location<'static>> {
        self.cell.stats.current().map(|(_, place)| place)
    }

    /// Runs what the worker has claimed.
    pub(super) fn run_claimed(&self, filled: &Filled) {
        match filled {
            Filled::One(claimed) => self.run_single(claimed.handle),
            Filled::Several => {
                while let Some(place) = self.cell.batch.take() {
                    // SAFETY: the batch word has given the place to this worker.
                    self.run_one_of_several(unsafe { self.cell.place(place) }.handle);
                }
                self.publish_departures();
            }
        }
        self.cell.stats.end();
    }

    /// Runs an item that is no part of a batch; its end is published at once.
    fn run_single(&self, Handle(item): Handle) {
        let _ = self.run_apart(item);
    }

    /// The same; answers its pwq.
    pub(super) fn run_apart(&self, item: NonNull<Header>) -> NonNull<Pwq> {
        let (pwq, slot) = addressed_to(item);
        self.run_one(item, pwq, slot);
        // SAFETY: pwqs live as long as their pool.
        unsafe { pwq.as_ref() }.depart(usize::from(slot), 1);
        pwq
    }

    /// Inside an item that another is run within: what to come back to.
    pub(super) fn leave(&self) -> Inside {
        Inside {
            item: self.item.get(),
            queue: self.queue.get(),
            at: self.at.get(),
            submit_cpu: self.submit_cpu.get(),
            place: self.submitted_at(),
        }
    }

    /// Back to it.
    pub(super) fn enter(&self, inside: Inside) {
        let Inside { item, queue, at, submit_cpu, place } = inside;
        self.item.set(item);
        self.queue.set(queue);
        self.at.set(at);
        self.submit_cpu.set(submit_cpu);
        if let Some(place) = place {
            self.cell.stats.go_on(queue, place);
        }
    }

    /// Runs an item of a batch; ends of one pwq and phase are published together, for they are owed to the same
    /// flushes. The others' are published before the next item runs: it may wait for such a flush.
    fn run_one_of_several(&self, Handle(item): Handle) {
        let (pwq, slot) = addressed_to(item);
        if self.leaving.get().is_some_and(|run| run.pwq != pwq || run.slot != slot) {
            self.publish_departures();
        }
        self.run_one(item, pwq, slot);
        // Only departures of this pwq and phase are unpublished, if any: while the item waited, all were published.
        let before = self.leaving.get().map_or(0, |run| run.count);
        self.leaving.set(Some(Leaving { pwq, slot, count: before + 1 }));
    }

    fn run_one(&self, item: NonNull<Header>, pwq: NonNull<Pwq>, slot: u8) {
        // SAFETY: W5 pending keeps alive: the item is claimed and not started.
        let header = unsafe { item.as_ref() };
        let vtable = header.vtable;
        // SAFETY: pwqs live as long as their pool.
        let at = unsafe { pwq.as_ref() };
        let queue = at.queue.get();
        // SAFETY: the item starts here, and its end has not been reported.
        unsafe { at.make_room() };
        self.cell.stats.begin(queue, header.place.get());
        self.submit_cpu.set(header.cpu.get());
        self.note_cpu();
        self.item.set(Some(item));
        self.queue.set(queue);
        self.at.set(Some((pwq, slot)));
        // SAFETY: this worker has claimed the item and runs it once.
        unsafe { (vtable.run)(item, self) };
        if self.is_checked {
            self.check();
        }
        self.item.set(None);
    }

    /// Waits for more before the report, so that dense items cost one hold each, or none: the worker still counts
    /// as busy with
    /// what it has run, and under a lease further items take that item's `max_active` place. Answers whether it
    /// waited as
    /// long as the policy says and nothing came.
    pub(super) fn linger(&self, linger: Linger, patience: &Patience) -> bool {
        let policy = self.pool.setup.wait;
        let pwq = match linger {
            Linger::No => return false,
            Linger::Spin => return !patience.spin(policy, self.is_near(), || self.pool.poll()),
            Linger::Lease(pwq) => pwq,
        };
        for _ in 0..LEASED_MAX {
            // A pause more than other waits: a look that meets a push half-way takes the line from it.
            let come = || {
                let come = self.pool.poll_leased(pwq);
                if !come {
                    std::hint::spin_loop();
                }
                come
            };
            if !come() && !patience.spin(policy, self.is_near(), come) {
                return true;
            }
            let Some(item) = self.pool.take_leased(pwq) else { return false };
            self.run_single(item);
            self.cell.stats.end();
        }
        false
    }

    /// Whether the last item came from the CPU this worker is on: whoever submits the next one needs that CPU.
    pub(super) fn is_near(&self) -> bool {
        self.submit_cpu.get() == self.cpu.get() as u8
    }

    /// Lets waiters know where this worker runs.
    fn note_cpu(&self) {
        let cpu = current_cpu();
        if cpu != self.cpu.get() {
            self.cpu.set(cpu);
            self.pool.near.note(cpu);
        }
    }

    /// Publishes what has ended. Before the worker looks, sleeps or blocks.
    pub(super) fn publish_departures(&self) {
        if let Some(run) = self.leaving.take() {
            // SAFETY: pwqs live as long as their pool.
            unsafe { run.pwq.as_ref() }.depart(usize::from(run.slot), run.count);
        }
    }

    /// Reports what has ended of a claim that has been run. Before a look.
    pub(super) fn report(&self, hold: &mut Hold<'_>, filled: &Filled) {
        match filled {
            Filled::One(claimed) => hold.report_one(self.id, *claimed),
            Filled::Several => hold.report(self.id, self.cell, self.cell.batch.started()),
        }
    }
}

/// The pwq an item was pushed to, and the slot of the phase it arrived at.
#[inline]
fn addressed_to(item: NonNull<Header>) -> (NonNull<Pwq>, u8) {
    // SAFETY: W5 pending keeps alive: the item is claimed and not started.
    let header = unsafe { item.as_ref() };
    (header.pwq.get().expect("a pushed item names its pwq (W1)"), header.slot.get())
}
