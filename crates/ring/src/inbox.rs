//! The inbox of a pool: many threads push, whoever holds the pool lock takes everything.

use crate::sync::{AtomicPtr, Ordering, prefetch_for_write};
use cmwq_core::id::{PwqId, Sleeper, WorkerId};
use cmwq_core::pool::{InboxWord, Pushed, Taken};
use cmwq_core::step::Step;
use core::ptr::{self, NonNull};

/// Something that can lie in an inbox: it has room for one link.
///
/// # Safety
/// The link written by `set_below` is what `below` answers afterwards, and neither touches anything that another
/// thread may touch while the item is owned by its pusher (before the push) or its taker (after the take). The
/// alignment of the type is at least 4.
pub unsafe trait Link {
    /// The item pushed before this one.
    ///
    /// # Safety
    /// `this` is valid and owned by the caller (it pushes it, or took it).
    unsafe fn below(this: NonNull<Self>) -> Option<NonNull<Self>>;
    /// Sets [`Link::below`].
    ///
    /// # Safety
    /// As for [`Link::below`].
    unsafe fn set_below(this: NonNull<Self>, below: Option<NonNull<Self>>);
}

/// What [`Inbox::take`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received<T> {
    /// Nothing.
    Nothing,
    /// Nothing, and a stand-by mark was withdrawn.
    Withdrawn(Sleeper),
    /// Items in submission order: the oldest, with the newer ones behind it by [`Link::below`].
    Items(NonNull<T>),
}

/// The driver of [`InboxWord`]: one word. The lowest bits tell the cases apart: 0 a list's address, 1 a stand-by
/// mark with a
/// number, 2 the address of a single item, 3 a lease with a number.
pub struct Inbox<T> {
    head: AtomicPtr<T>,
}

const CASE: usize = 3;
const STAND_BY: usize = 1;
const ONE: usize = 2;
const LEASED: usize = 3;

fn marked<T>(number: usize, case: usize) -> *mut T {
    ptr::without_provenance_mut(number << 2 | case)
}

/// Number 0 stands for the manager, n + 1 for worker n.
fn encode<T>(word: InboxWord<NonNull<T>>) -> *mut T {
    match word {
        InboxWord::Empty => ptr::null_mut(),
        InboxWord::StandBy(Sleeper::Manager) => marked(0, STAND_BY),
        InboxWord::StandBy(Sleeper::Worker(worker)) => marked(worker.index() + 1, STAND_BY),
        InboxWord::List(item) => item.as_ptr(),
        InboxWord::Leased(pwq) => marked(pwq.index(), LEASED),
        InboxWord::One(item) => item.as_ptr().map_addr(|address| address | ONE),
    }
}

fn decode<T>(head: *mut T) -> InboxWord<NonNull<T>> {
    let number = head.addr() >> 2;
    match head.addr() & CASE {
        STAND_BY if number == 0 => InboxWord::StandBy(Sleeper::Manager),
        STAND_BY => InboxWord::StandBy(Sleeper::Worker(WorkerId(number as u32 - 1))),
        LEASED => InboxWord::Leased(PwqId(number as u32)),
        ONE => {
            let item = head.map_addr(|address| address & !CASE);
            NonNull::new(item).map_or(InboxWord::Empty, InboxWord::One)
        }
        _ => NonNull::new(head).map_or(InboxWord::Empty, InboxWord::List),
    }
}

fn has_items<T>(head: *mut T) -> bool {
    matches!(decode(head), InboxWord::List(_) | InboxWord::One(_))
}

impl<T: Link> Inbox<T> {
    /// An empty inbox with a stand-by mark: the first push must wake `sleeper`.
    pub fn new(sleeper: Sleeper) -> Self {
        Inbox { head: AtomicPtr::new(encode(InboxWord::StandBy(sleeper))) }
    }

    /// Whether items wait. A hint: it may be out of date when it returns.
    pub fn has_items(&self) -> bool {
        // Ordering: a hint; whoever acts on it takes with acquire.
        has_items(self.head.load(Ordering::Relaxed))
    }

    /// Whether anything is there that a take would change. The same kind of hint.
    pub fn is_empty(&self) -> bool {
        // Ordering: a hint. A stale "empty" is harmless: the one who parks decides by the read-modify-write of
        // `stand_by`, which sees the latest value.
        self.head.load(Ordering::Relaxed).is_null()
    }

    /// Adds an item of a pwq and answers whom the caller must now wake. Never blocks.
    ///
    /// # Safety
    /// `item` is valid until it has been taken and dealt with, and owned by the caller (PENDING is the caller's).
    pub unsafe fn push(&self, item: NonNull<T>, pwq: PwqId) -> Option<Sleeper> {
        // The first guess is made without a look, and is what a dense stream of single items finds: where it is
        // right the
        // line moves once, where it is wrong the failed CAS has brought it here as a look would.
        let mut head = encode(InboxWord::Leased(pwq));
        loop {
            let Step::Write(next, Pushed { below, wake }) = decode(head).push(item, pwq) else {
                unreachable!("a push always writes")
            };
            // SAFETY: W3 pending owns links: the caller owns the item until the CAS succeeds.
            unsafe { T::set_below(item, below) };
            // Ordering: release publishes the item and its link to `take`'s acquire swap; acquire pairs with
            // `stand_by`, so that the pusher which owes a wake-up sees the sleeper's announcement. Weaker release:
            // the taker reads an unwritten link. Weaker acquire: the waker finds the sleeper still running.
            match self.head.compare_exchange_weak(head, encode(next), Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return wake,
                Err(seen) => head = seen,
            }
        }
    }

    /// Takes everything, in submission order. For the holder of the pool lock. Never blocks.
    pub fn take(&self) -> Received<T> {
        if self.is_empty() {
            return Received::Nothing;
        }
        // Ordering: acquire pairs with every push's release (each push is a read-modify-write, so the release
        // sequence covers all items of the list). Release: the withdrawn mark's owner is ordered before later pushes.
        let head = self.head.swap(ptr::null_mut(), Ordering::AcqRel);
        match decode(head).take() {
            Step::Keep(Taken::Nothing) | Step::Write(_, Taken::Nothing) => Received::Nothing,
            Step::Keep(Taken::Withdrawn(s)) | Step::Write(_, Taken::Withdrawn(s)) => Received::Withdrawn(s),
            Step::Keep(Taken::List(newest)) | Step::Write(_, Taken::List(newest)) => {
                // SAFETY: W3 pending owns links: the swap made the whole list this thread's.
                let (oldest, _) = unsafe { reverse(newest) };
                Received::Items(oldest)
            }
        }
    }

    /// Leaves a lease for a pwq, if nothing is there. For the holder of the pool lock. Never blocks.
    pub fn lease(&self, pwq: PwqId) -> bool {
        let leased = encode(InboxWord::Leased(pwq));
        // Ordering: release, as for `stand_by`; what the leaseholder takes it acquires in `take_one`.
        self.head.compare_exchange(ptr::null_mut(), leased, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Whether the leaseholder should do something: take an item, or notice that its lease has ended. A hint.
    pub fn is_leased(&self, pwq: PwqId) -> bool {
        // Ordering: a hint; `take_one` decides.
        self.head.load(Ordering::Relaxed) == encode(InboxWord::Leased(pwq))
    }

    /// Leaseholder, without the lock: takes the one item. `None`: nothing, or the lease has ended. Never blocks.
    pub fn take_one(&self, pwq: PwqId) -> Option<NonNull<T>> {
        // Ordering: the value is only compared; the CAS below decides.
        let head = self.head.load(Ordering::Relaxed);
        let InboxWord::One(item) = decode(head) else { return None };
        prefetch_for_write(item.as_ptr());
        // The same address can be there again only after the lease has ended and this worker has taken another.
        // Ordering: acquire pairs with the push's release; release, as for `lease`.
        let next = encode(InboxWord::Leased(pwq));
        let swap = self.head.compare_exchange(head, next, Ordering::AcqRel, Ordering::Relaxed);
        swap.ok().map(|_| item)
    }

    /// Leaves a stand-by mark, unless items are there. For the holder of the pool lock. Never blocks.
    #[must_use = "if items are there somebody has to look at them"]
    pub fn stand_by(&self, sleeper: Sleeper) -> bool {
        // Ordering: the value is only compared; the CAS below decides.
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            match decode(head).stand_by(sleeper) {
                Step::Keep(_) => return false,
                Step::Write(next, _) => {
                    // Ordering: release publishes the sleeper's announcement to the push that replaces the mark.
                    match self.head.compare_exchange_weak(
                        head,
                        encode(next),
                        Ordering::Release,
                        Ordering::Relaxed,
                    ) {
                        Ok(_) => return true,
                        Err(seen) => head = seen,
                    }
                }
            }
        }
    }
}

/// Turns a list round: the newest item, with the older ones below it, becomes the oldest with the newer ones below.
/// Answers the oldest, and how many there are.
///
/// # Safety
/// The whole list is valid and the caller's.
pub(crate) unsafe fn reverse<T: Link>(newest: NonNull<T>) -> (NonNull<T>, usize) {
    let mut reversed = None;
    let mut at = newest;
    let mut count = 1;
    loop {
        prefetch_for_write(at.as_ptr());
        // SAFETY: the caller's.
        let below = unsafe { T::below(at) };
        // SAFETY: as above.
        unsafe { T::set_below(at, reversed) };
        reversed = Some(at);
        match below {
            Some(next) => at = next,
            None => return (at, count),
        }
        count += 1;
    }
}
