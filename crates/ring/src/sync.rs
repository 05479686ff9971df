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

/// Asks for the cache line at `address`, to be read soon. Only a hint: any address will do.
#[inline]
pub fn prefetch_for_read<T>(address: *const T) {
    #[cfg(all(target_arch = "x86_64", not(cmwq_loom), not(miri)))]
    // SAFETY: a prefetch accesses nothing and faults nowhere.
    unsafe {
        core::arch::asm!("prefetcht0 [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(all(target_arch = "x86_64", not(cmwq_loom), not(miri))))]
    let _ = address;
}

/// Asks for the cache line at `address` as its writer. A read that is soon followed by a write otherwise moves the
/// line
/// twice between processors. Only a hint: any address will do.
#[inline]
pub fn prefetch_for_write<T>(address: *const T) {
    #[cfg(all(target_arch = "x86_64", not(cmwq_loom), not(miri)))]
    // SAFETY: a prefetch accesses nothing and faults nowhere; processors without it ignore it.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(all(target_arch = "x86_64", not(cmwq_loom), not(miri))))]
    let _ = address;
}
