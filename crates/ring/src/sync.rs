//! The only names of atomics in this crate: the real ones, or those of a model, under `--cfg cmwq_loom` or
//! `--cfg cmwq_shuttle`.

#[cfg(cmwq_loom)]
pub use crate::model::{AtomicPtr, AtomicU32, AtomicU64};
#[cfg(not(any(cmwq_loom, cmwq_shuttle)))]
pub use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};
#[cfg(cmwq_shuttle)]
pub use shuttle::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

pub use core::sync::atomic::Ordering;

/// Tells the processor that this is a spin loop.
pub fn spin_hint() {
    #[cfg(not(any(cmwq_loom, cmwq_shuttle)))]
    core::hint::spin_loop();
    #[cfg(cmwq_loom)]
    loom::thread::yield_now();
    #[cfg(cmwq_shuttle)]
    shuttle::thread::yield_now();
}

#[cfg(not(cmwq_shuttle))]
type Lazy<T> = std::sync::LazyLock<T>;
#[cfg(cmwq_shuttle)]
type Lazy<T> = shuttle::lazy_static::Lazy<T>;

/// A value that the whole process shares (under shuttle: one schedule), made at its first use.
#[derive(Debug)]
pub struct Global<T: Sync + 'static>(Lazy<T>);

impl<T: Sync + 'static> Global<T> {
    /// A value that will be made by this function.
    pub const fn new(make: fn() -> T) -> Self {
        Global(Lazy::new(make))
    }

    /// The value. Blocks while another thread makes it.
    pub fn get(&'static self) -> &'static T {
        #[cfg(not(cmwq_shuttle))]
        return &self.0;
        #[cfg(cmwq_shuttle)]
        return self.0.get();
    }
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
