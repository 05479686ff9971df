//! The inbox of a pool: many threads push, whoever holds the pool lock takes everything.

use crate::sync::{AtomicPtr, Ordering, prefetch_for_write};
use cmwq_core::id::{Sleeper, WorkerId};
use cmwq_core::pool::{InboxWord, Pushed, Taken};
use cmwq_core::step::Step;
use core::ptr::{self, NonNull};

/// Something that can lie in an inbox: it has room for one link.
///
/// # Safety
/// The link written by `set_below` is what `below` answers afterwards, and neither touches anything that another
/// thread may touch while the item is owned by its pusher (before the push) or its taker (after the take). The
/// alignment of the type is at least 2.
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

/// The driver of [`InboxWord`]: one word, addresses for lists, odd numbers for stand-by marks.
pub struct Inbox<T> {
    head: AtomicPtr<T>,
}

/// Number 0 stands for the manager, n + 1 for worker n.
fn mark_number(sleeper: Sleeper) -> usize {
    match sleeper {
        Sleeper::Manager => 0,
        Sleeper::Worker(w) => w.index() + 1,
    }
}

fn encode<T>(word: InboxWord<NonNull<T>>) -> *mut T {
    match word {
        InboxWord::Empty => ptr::null_mut(),
        InboxWord::StandBy(sleeper) => ptr::without_provenance_mut(mark_number(sleeper) << 1 | 1),
        InboxWord::List(item) => item.as_ptr(),
    }
}

fn decode<T>(head: *mut T) -> InboxWord<NonNull<T>> {
    let Some(item) = NonNull::new(head) else { return InboxWord::Empty };
    if head.addr() & 1 == 0 {
        return InboxWord::List(item);
    }
    InboxWord::StandBy(match head.addr() >> 1 {
        0 => Sleeper::Manager,
        n => Sleeper::Worker(WorkerId(n as u32 - 1)),
    })
}

impl<T: Link> Inbox<T> {
    /// An empty inbox with a stand-by mark: the first push must wake `sleeper`.
    pub fn new(sleeper: Sleeper) -> Self {
        Inbox { head: AtomicPtr::new(encode(InboxWord::StandBy(sleeper))) }
    }

    /// Whether items wait. A hint: it may be out of date when it returns.
    pub fn has_items(&self) -> bool {
        // Ordering: a hint; whoever acts on it takes with acquire.
        matches!(decode(self.head.load(Ordering::Relaxed)), InboxWord::List(_))
    }

    /// Whether items wait, asked by a thread that spins for them and will take them: brings the line here as its writer, so
    /// that the take that follows need not. The same kind of hint.
    pub fn poll(&self) -> bool {
        // Ordering: relaxed: a hint, as in `has_items`.
        let seen = self.head.compare_exchange(
            ptr::null_mut(),
            ptr::null_mut(),
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
        seen.is_err_and(|head| matches!(decode(head), InboxWord::List(_)))
    }

    /// Whether anything is there that a take would change. The same kind of hint.
    pub fn is_empty(&self) -> bool {
        // Ordering: a hint. A stale "empty" is harmless: the one who parks decides by the read-modify-write of
        // `stand_by`, which sees the latest value.
        self.head.load(Ordering::Relaxed).is_null()
    }

    /// Adds an item and answers whom the caller must now wake. Never blocks.
    ///
    /// # Safety
    /// `item` is valid until it has been taken and dealt with, and owned by the caller (PENDING is the caller's).
    pub unsafe fn push(&self, item: NonNull<T>) -> Option<Sleeper> {
        // The first guess is made without a look: where it is right the line moves once, where it is wrong the failed CAS
        // has brought it here as a look would.
        let mut head = ptr::null_mut();
        loop {
            let Step::Write(next, Pushed { below, wake }) = decode(head).push(item) else {
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
                Received::Items(Self::reverse(newest))
            }
        }
    }

    fn reverse(newest: NonNull<T>) -> NonNull<T> {
        let mut reversed = None;
        let mut at = newest;
        loop {
            prefetch_for_write(at.as_ptr());
            // SAFETY: W3 pending owns links: the swap made the whole list this thread's.
            let below = unsafe { T::below(at) };
            // SAFETY: as above.
            unsafe { T::set_below(at, reversed) };
            reversed = Some(at);
            match below {
                Some(next) => at = next,
                None => return at,
            }
        }
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
