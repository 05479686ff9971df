//! The engine's time.

use cmwq_core::time::Tick;

/// Now, as the cores count time.
pub(crate) fn now() -> Tick {
    let now = cmwq_sys::clock::now();
    Tick(now.as_secs().wrapping_mul(1_000_000_000).wrapping_add(u64::from(now.subsec_nanos())))
}
