//! The only names of atomics in this crate: the real ones, or loom's under `--cfg cmwq_loom`.

#[cfg(not(cmwq_loom))]
pub use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
#[cfg(cmwq_loom)]
pub use loom::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// Tells the processor that this is a spin loop.
pub fn spin_hint() {
    #[cfg(not(cmwq_loom))]
    core::hint::spin_loop();
    #[cfg(cmwq_loom)]
    loom::thread::yield_now();
}
