//! The fast path of a submission, on one screen.
//!
//! Steps: P1 arrive at the queue's phase and look again; P2 claim the item; P3 push it to the pool's inbox; P4
//! issue the
//! wake-up that the push may owe. No lock, no allocation, no thread creation.

use super::Queue;
use super::inner::{QueueInner, Slot};
use crate::item::{Header, Work};
use crate::worker::{current_item, current_queue};
use cmwq_core::queue::{Admit, QueueWord, slot};
use cmwq_core::work::{HandOver, Submit as Claim};
use cmwq_ring::{Arrivals, COUNTED};
use cmwq_sys::topology::CpuId;
use std::fmt;
use std::panic::Location;
use std::ptr::NonNull;

/// What a submission did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a refused item does not run"]
pub enum Submit {
    /// The item will run once more, from now on.
    Queued,
    /// The item was pending already and keeps its place. Its next run sees every store made before this call. It
    /// may be
    /// owned by a thread that is still on the way to queue it; who waits for the item sleeps, and does not spin.
    AlreadyPending,
    /// Nothing was changed.
    Refused(Refusal),
}

/// Why a queue refused a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The queue is being drained, and the caller is not inside one of its items.
    Draining,
    /// The queue is being destroyed, and the caller is not inside one of its items.
    Destroyed,
    /// The queue is being destroyed, and the item queues itself again: it could never end.
    SelfRequeue,
    /// The engine does not use this CPU.
    UnknownCpu,
    /// As many items are pending as [`QueueBuilder::max_pending`](crate::QueueBuilder::max_pending) allows.
    Full,
    /// The engine uses no CPU of this node.
    UnknownNode,
    /// The work is disabled.
    Disabled,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refusal::Draining => "the queue is being drained",
            Refusal::Destroyed => "the queue is being destroyed",
            Refusal::SelfRequeue => "the queue is being destroyed and the item queues itself again",
            Refusal::Full => "as many items are pending as the queue allows",
            Refusal::UnknownCpu => "the engine does not use this CPU",
            Refusal::UnknownNode => "the engine uses no CPU of this node",
            Refusal::Disabled => "the work is disabled",
        })
    }
}

impl std::error::Error for Refusal {}

impl Queue {
    /// Queues a work to run in the pod of (or, per-CPU, on) the CPU the caller runs on.
    ///
    /// # Context
    /// From any thread, also from inside items. Never blocks; allocates nothing and creates no thread. Not from a
    /// signal
    /// handler that may have interrupted a submission of the same thread.
    #[track_caller]
    #[inline]
    pub fn queue(&self, work: &Work) -> Submit {
        self.queue_at(work, Location::caller())
    }

    #[inline]
    pub(super) fn queue_at(&self, work: &Work, place: &'static Location<'static>) -> Submit {
        self.inner().submit_work(self.inner().here(), work, place)
    }

    /// Queues a work as if the caller ran on this CPU.
    ///
    /// # Context
    /// As for [`Queue::queue`].
    #[track_caller]
    pub fn queue_on(&self, cpu: u32, work: &Work) -> Submit {
        match self.inner().slot_of(cpu) {
            Some(slot) => self.inner().submit_work(slot, work, Location::caller()),
            None => Submit::Refused(Refusal::UnknownCpu),
        }
    }

    /// Queues a work as if the caller ran on this NUMA node: where it runs if that is there, else on the first of the
    /// node's CPUs that the engine uses. (The kernel's call is for unbound queues only; this one is for all.)
    ///
    /// # Context
    /// As for [`Queue::queue`].
    #[track_caller]
    pub fn queue_node(&self, node: u32, work: &Work) -> Submit {
        match self.slot_in_node(node) {
            Some(slot) => self.inner().submit_work(slot, work, Location::caller()),
            None => Submit::Refused(Refusal::UnknownNode),
        }
    }

    fn slot_in_node(&self, node: u32) -> Option<&Slot> {
        let nodes = self.engine().topology().nodes();
        let cpus = &nodes.iter().find(|n| n.id.0 == node)?.cpus;
        let here = cmwq_sys::affinity::current_cpu();
        if cpus.contains(CpuId(here))
            && let Some(slot) = self.inner().slot_of(here)
        {
            return Some(slot);
        }
        cpus.iter().find_map(|cpu| self.inner().slot_of(cpu.0))
    }
}

/// What a claim that was not granted means to who submits.
pub(super) fn refusal_of(claim: Claim) -> Submit {
    if claim == Claim::Disabled { Submit::Refused(Refusal::Disabled) } else { Submit::AlreadyPending }
}

impl QueueInner {
    #[inline]
    pub(super) fn submit_work(&self, to: &Slot, work: &Work, place: &'static Location<'static>) -> Submit {
        let item = work.header();
        // SAFETY: the handle's reference keeps the item alive during the call.
        unsafe { self.submit(to, item, place) }
    }

    /// # Safety
    /// The item is alive for the duration of the call; its container takes part in reference counting.
    #[inline]
    pub(crate) unsafe fn submit(
        &self,
        to: &Slot,
        item: NonNull<Header>,
        place: &'static Location<'static>,
    ) -> Submit {
        // SAFETY: passed on.
        self.with_room(item, || unsafe { self.submit_in_room(to, item, place) })
    }

    /// # Safety
    /// As for [`QueueInner::submit`].
    #[inline]
    unsafe fn submit_in_room(
        &self,
        to: &Slot,
        item: NonNull<Header>,
        place: &'static Location<'static>,
    ) -> Submit {
        // SAFETY: the caller keeps it alive.
        let header = unsafe { item.as_ref() };
        let phase = match self.arrive(to, Some(item)) {
            Ok(phase) => phase,
            Err(refusal) => return Submit::Refused(refusal),
        };
        let is_running = match header.word.submit() {
            Claim::Push => false,
            Claim::HandOver => true,
            refused => {
                self.pwq(to).depart(slot(phase), 1);
                return refusal_of(refused);
            }
        };
        // W1 one claimer: from here the fields are ours.
        header.retain();
        self.address(to, phase, header, place);
        // SAFETY: claimed, addressed, and a reference goes with it.
        unsafe { self.push(to, item, header, is_running) };
        Submit::Queued
    }

    /// Pushes an addressed item, or leaves the push to the finisher of the run it was found in.
    ///
    /// # Safety
    /// W1 one claimer: the caller owns the item, which is linked nowhere. W5 pending keeps alive: a reference goes
    /// with it.
    #[inline]
    unsafe fn push(&self, to: &Slot, item: NonNull<Header>, header: &Header, is_running: bool) {
        if is_running {
            if self.is_ordered() && header.ran_at.get() == Some(to.pwq) {
                // O1 order excludes: it runs in this very queue, which starts nothing before that run is reported.
                header.word.stay_behind();
            } else if header.word.hand_over() == HandOver::Left {
                return;
            }
        }
        // SAFETY: passed on.
        unsafe { self.pwq(to).submit(item) };
    }

    /// Queues an item that the caller has claimed before, and which is linked nowhere.
    ///
    /// # Safety
    /// W1 one claimer, W5 pending keeps alive: the caller owns the item, and gives away the pending instance's
    /// reference, unless refused.
    pub(crate) unsafe fn submit_claimed(
        &self,
        to: &Slot,
        item: NonNull<Header>,
        place: &'static Location<'static>,
    ) -> Result<(), Refusal> {
        let phase = self.arrive(to, Some(item))?;
        if let Some(room) = &self.room {
            room.force();
        }
        // SAFETY: the pending instance's reference keeps it alive.
        let header = unsafe { item.as_ref() };
        self.address(to, phase, header, place);
        // An item that does not run now does not begin to: its next instance is the caller's.
        let is_running = header.word.read().is_running();
        // SAFETY: passed on.
        unsafe { self.push(to, item, header, is_running) };
        Ok(())
    }

    /// Submits an item whose memory is its owner's and which may be freed once its function has begun.
    ///
    /// # Safety
    /// The item is alive until its function has begun (or the queue refuses it).
    #[cfg(feature = "bench")]
    pub(crate) unsafe fn submit_owned(
        &self,
        to: &Slot,
        item: NonNull<Header>,
        place: &'static Location<'static>,
    ) -> Submit {
        // SAFETY: passed on.
        self.with_room(item, || unsafe { self.submit_owned_in_room(to, item, place) })
    }

    /// # Safety
    /// As for [`QueueInner::submit_owned`].
    #[cfg(feature = "bench")]
    unsafe fn submit_owned_in_room(
        &self,
        to: &Slot,
        item: NonNull<Header>,
        place: &'static Location<'static>,
    ) -> Submit {
        // SAFETY: the caller keeps it alive.
        let header = unsafe { item.as_ref() };
        let phase = match self.arrive(to, Some(item)) {
            Ok(phase) => phase,
            Err(refusal) => return Submit::Refused(refusal),
        };
        let claim = header.word.submit();
        if matches!(claim, Claim::AlreadyPending | Claim::Disabled) {
            self.pwq(to).depart(slot(phase), 1);
            return refusal_of(claim);
        }
        self.address(to, phase, header, place);
        // SAFETY: claimed and addressed; its owner keeps it alive.
        unsafe { self.pwq(to).submit(item) };
        Submit::Queued
    }

    /// Submits an item that nobody else knows yet (its word says that it is claimed).
    ///
    /// # Safety
    /// The caller gives away a reference and exclusive ownership, unless refused.
    pub(crate) unsafe fn submit_new(
        &self,
        to: &Slot,
        item: NonNull<Header>,
        place: &'static Location<'static>,
    ) -> Result<(), Refusal> {
        self.take_room()?;
        let phase = self.arrive(to, None).inspect_err(|_| self.leave_room())?;
        // SAFETY: exclusively the caller's.
        self.address(to, phase, unsafe { item.as_ref() }, place);
        // SAFETY: passed on.
        unsafe { self.pwq(to).submit(item) };
        Ok(())
    }

    #[inline]
    fn address(&self, to: &Slot, phase: u32, header: &Header, place: &'static Location<'static>) {
        header.pwq.set(Some(to.pwq));
        header.slot.set(slot(phase) as u8);
        header.cpu.set(to.cpu);
        header.near.set(to.near);
        header.place.set(place);
    }

    #[inline]
    pub(crate) fn pwq(&self, to: &Slot) -> &crate::pool::Pwq {
        // SAFETY: `joints` keeps the pool alive, which owns the pwq.
        unsafe { to.pwq.as_ref() }
    }

    /// Step P1. Answers the phase the arrival is confirmed at (F1 arrival first).
    #[inline]
    pub(crate) fn arrive(&self, to: &Slot, item: Option<NonNull<Header>>) -> Result<u32, Refusal> {
        // The push will need the inbox's line; it may travel while the arrival waits for the caller's own stores.
        self.pwq(to).pool().expect_push();
        let word = self.word.read();
        if !word.is_open() {
            return self.arrive_chained(to, item, word);
        }
        if !COUNTED {
            return Ok(word.phase());
        }
        let leaf = self.leaf(to);
        leaf.arrive(word.phase());
        if leaf.is_listed(word) && self.word.read() == word {
            return Ok(word.phase());
        }
        self.confirm(to, item, word)
    }

    #[cold]
    fn arrive_chained(
        &self,
        to: &Slot,
        item: Option<NonNull<Header>>,
        word: QueueWord,
    ) -> Result<u32, Refusal> {
        self.admit_chained(word.admits(), item)?;
        if !COUNTED {
            return Ok(word.phase());
        }
        self.leaf(to).arrive(word.phase());
        self.confirm(to, item, word)
    }

    /// Confirms an arrival that has been counted at the word's phase, or makes another and confirms that.
    #[cold]
    fn confirm(&self, to: &Slot, item: Option<NonNull<Header>>, mut word: QueueWord) -> Result<u32, Refusal> {
        let leaf = self.leaf(to);
        loop {
            // F5 listed before confirmed.
            if !leaf.is_listed(word) && self.listing.list(to.joint as usize, word.phase(), &self.word) {
                leaf.set_listed(word);
            }
            let again = self.word.read();
            if again == word {
                return Ok(word.phase());
            }
            self.pwq(to).depart(slot(word.phase()), 1);
            word = again;
            self.admit_chained(word.admits(), item)?;
            leaf.arrive(word.phase());
        }
    }

    #[inline]
    pub(super) fn leaf(&self, to: &Slot) -> &Arrivals {
        // SAFETY: `to` is one of the queue's slots, whose leaves are in `arrivals`, which it owns.
        unsafe { to.leaf.as_ref() }
    }

    #[cold]
    pub(super) fn admit_chained(&self, admits: Admit, item: Option<NonNull<Header>>) -> Result<(), Refusal> {
        let chained = current_queue() == Some(self.id);
        match admits {
            Admit::Open => Ok(()),
            Admit::ChainedOnly if chained => Ok(()),
            Admit::ChainedOnly => Err(Refusal::Draining),
            Admit::ChainedOthersOnly if !chained => Err(Refusal::Destroyed),
            Admit::ChainedOthersOnly if item.is_some() && item == current_item() => Err(Refusal::SelfRequeue),
            Admit::ChainedOthersOnly => Ok(()),
        }
    }
}
