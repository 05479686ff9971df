//! The only names of atomics in this crate: the real ones, or the model's under `--cfg cmwq_loom`.

#[cfg(cmwq_loom)]
pub use crate::model::{AtomicPtr, AtomicU32, AtomicU64};
#[cfg(not(cmwq_loom))]
pub use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

pub use core::sync::atomic::Ordering;

/// Tells the processor that this is a spin loop.
pub fn spin_hint() {
    #[cfg(not(cmwq_loom))]
    core::hint::spin_loop();
    #[cfg(cmwq_loom)]
    loom::thread::yield_now();
}
