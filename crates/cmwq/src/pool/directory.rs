//! Which pool a pwq belongs to, for those who know no more of it than an address that may be out of date.
//!
//! A canceller reads from an item where it was queued last. By the time it looks there the item may have run, the queue
//! may be gone, and the engine with it. So it does not follow the address: it looks it up here, and holds the pool
//! while it takes its lock. An address that is in use again leads to a pool that is alive and does not have the item.

use super::{Pool, Pwq};
use crate::item::Header;
use crate::worker::clock;
use cmwq_ring::Lock;
use cmwq_ring::sync::Global;
use cmwq_sys::futex::LinuxFutex;
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

static POOLS: Global<Lock<HashMap<usize, Weak<Pool>>, LinuxFutex>> =
    Global::new(|| Lock::new(HashMap::new()));

/// Notes the pool of a new pwq.
pub(super) fn enter(pwq: NonNull<Pwq>, pool: &Weak<Pool>) {
    let older = POOLS.get().lock().insert(pwq.addr().get(), Weak::clone(pool));
    drop(older);
}

/// The pool of a pwq, if both are alive.
pub(super) fn find(pwq: NonNull<Pwq>) -> Option<Arc<Pool>> {
    POOLS.get().lock().get(&pwq.addr().get())?.upgrade()
}

impl Drop for Pool {
    fn drop(&mut self) {
        let pwqs: Vec<_> = self.lock.lock().pwqs.iter().map(|(pwq, _)| pwq.address()).collect();
        let mut pools = POOLS.get().lock();
        let left: Vec<_> = pwqs.iter().map(|pwq| pools.remove(&pwq.addr().get())).collect();
        drop(pools);
        drop(left);
    }
}

/// Takes a pending item out of the pool where it is linked, and ends its arrival: PENDING and the pending instance's
/// reference are the caller's then, and the item is linked nowhere. `false`: it is not linked in the pool that it
/// names; the caller looks at its word again.
///
/// Takes the pool's lock; does not wait for any item.
pub(crate) fn withdraw(item: NonNull<Header>, header: &Header) -> bool {
    let Some(pwq) = header.pwq.get() else { return false };
    let Some(pool) = find(pwq) else { return false };
    let mut hold = pool.hold(clock::now());
    let is_here = hold.withdraw(item, header, pwq);
    hold.release();
    if is_here {
        // SAFETY: `pool`, which owns the pwq, is held.
        let pwq = unsafe { pwq.as_ref() };
        // SAFETY: the item is ours, and its arrival has not ended.
        unsafe { pwq.make_room() };
        pwq.depart(usize::from(header.slot.get()), 1);
    }
    is_here
}
