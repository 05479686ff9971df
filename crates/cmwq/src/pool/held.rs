//! What holds back an item that does not start: for those who want to wait for it.

use super::directory::find;
use super::{Pool, Pwq};
use crate::item::Header;
use crate::worker::clock;
use std::ptr::NonNull;

/// A limit that holds an item back.
pub(crate) struct HeldBack {
    /// A number that all items under the limit share.
    pub(crate) limit: usize,
    /// How many items are active under it.
    pub(crate) active: u32,
}

/// The number of the limit that the items of a pwq of this pool are under.
pub(crate) fn limit_of(pool: &Pool, pwq: NonNull<Pwq>) -> usize {
    let _guard = pool.lock.lock();
    // SAFETY: pwqs live as long as their pool.
    let at = unsafe { pwq.as_ref() };
    // SAFETY: L1 one holder: the guard is held.
    unsafe { at.limit() }.0
}

/// The limit behind which an item waits, if it is queued and waits behind one. Takes the lock of its pool, and what has
/// come there is taken in first.
pub(crate) fn held_back(header: &Header) -> Option<HeldBack> {
    let pwq = header.pwq.get()?;
    let pool = find(pwq)?;
    let mut hold = pool.hold(clock::now());
    let answer = hold.held_back(header, pwq);
    hold.release();
    answer
}
