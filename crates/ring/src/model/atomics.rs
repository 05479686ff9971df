//! Loom's atomics, with the operations this project uses, each of which a broken variant may weaken.

use super::mutant::{Effect, effect_at};
use core::panic::Location;
use core::sync::atomic::Ordering;

/// The ordering to use at a site.
fn order(effect: Option<Effect>, given: Ordering) -> Ordering {
    if let Some(Effect::Order(other)) = effect { other } else { given }
}

/// The ordering of a failed exchange: relaxed where the site is weakened to that.
fn failed(effect: Option<Effect>, given: Ordering) -> Ordering {
    // Ordering: names of variants; the caller's orderings are passed on.
    if effect == Some(Effect::Order(Ordering::Relaxed)) { Ordering::Relaxed } else { given }
}

macro_rules! integer {
    ($name:ident, $int:ty, $inner:ty) => {
        /// An atomic integer of the model.
        #[derive(Debug)]
        pub struct $name($inner);

        impl $name {
            /// An atomic with this value.
            #[track_caller]
            pub fn new(value: $int) -> Self {
                Self(<$inner>::new(value))
            }

            /// As in [`core::sync::atomic`].
            #[track_caller]
            pub fn load(&self, given: Ordering) -> $int {
                self.0.load(order(effect_at("load", Location::caller()), given))
            }

            /// As in [`core::sync::atomic`].
            #[track_caller]
            pub fn store(&self, value: $int, given: Ordering) {
                self.0.store(value, order(effect_at("store", Location::caller()), given));
            }

            /// As in [`core::sync::atomic`].
            #[track_caller]
            pub fn swap(&self, value: $int, given: Ordering) -> $int {
                let effect = effect_at("swap", Location::caller());
                if effect == Some(Effect::Store) {
                    // Ordering: the strongest a store has: what is broken is that it does not read.
                    self.0.store(value, Ordering::Release);
                    return 0;
                }
                self.0.swap(value, order(effect, given))
            }

            /// As in [`core::sync::atomic`].
            #[track_caller]
            pub fn compare_exchange(
                &self,
                current: $int,
                new: $int,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$int, $int> {
                let effect = effect_at("compare_exchange", Location::caller());
                let new = if let Some(Effect::Mask(mask)) = effect { new & mask as $int } else { new };
                match effect {
                    Some(Effect::Look) if current == new => Ok(current),
                    Some(Effect::Store) => {
                        // Ordering: the strongest a store has: what is broken is that it does not read.
                        self.0.store(new, Ordering::Release);
                        Ok(current)
                    }
                    _ => {
                        let (success, failure) = (order(effect, success), failed(effect, failure));
                        self.0.compare_exchange(current, new, success, failure)
                    }
                }
            }

            /// As in [`core::sync::atomic`]; never fails for no reason.
            #[track_caller]
            pub fn compare_exchange_weak(
                &self,
                current: $int,
                new: $int,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$int, $int> {
                self.compare_exchange(current, new, success, failure)
            }

            /// As in [`core::sync::atomic`].
            #[track_caller]
            pub fn fetch_add(&self, value: $int, given: Ordering) -> $int {
                match effect_at("fetch_add", Location::caller()) {
                    // Ordering: the strongest a load has: what is broken is that it does not write.
                    Some(Effect::Look) if value == 0 => self.0.load(Ordering::Acquire),
                    effect => self.0.fetch_add(value, order(effect, given)),
                }
            }

            /// As in [`core::sync::atomic`].
            #[track_caller]
            pub fn fetch_sub(&self, value: $int, given: Ordering) -> $int {
                self.0.fetch_sub(value, order(effect_at("fetch_sub", Location::caller()), given))
            }

            /// As in [`core::sync::atomic`].
            #[track_caller]
            pub fn fetch_and(&self, value: $int, given: Ordering) -> $int {
                let effect = effect_at("fetch_and", Location::caller());
                if effect == Some(Effect::Store) {
                    // Ordering: the strongest of each: what is broken is that it is not one step.
                    let old = self.0.load(Ordering::Acquire);
                    // Ordering: as above.
                    self.0.store(old & value, Ordering::Release);
                    return old;
                }
                self.0.fetch_and(value, order(effect, given))
            }

            /// As in [`core::sync::atomic`].
            #[track_caller]
            pub fn fetch_or(&self, value: $int, given: Ordering) -> $int {
                let effect = effect_at("fetch_or", Location::caller());
                if matches!(effect, Some(Effect::Look | Effect::Store)) {
                    // Ordering: the strongest a load has.
                    let old = self.0.load(Ordering::Acquire);
                    if effect == Some(Effect::Store) {
                        // Ordering: the strongest a store has: what is broken is that it is not one step.
                        self.0.store(old | value, Ordering::Release);
                        return old;
                    }
                    if old | value == old {
                        return old;
                    }
                }
                self.0.fetch_or(value, order(effect, given))
            }

            /// As in [`core::sync::atomic`].
            #[track_caller]
            pub fn fetch_min(&self, value: $int, given: Ordering) -> $int {
                self.0.fetch_min(value, order(effect_at("fetch_min", Location::caller()), given))
            }

            /// The newest value, read in one step with whatever follows it before the next operation of the model.
            /// The
            /// kernel's look at a futex word.
            pub(super) fn newest(&self) -> $int {
                // Ordering: relaxed, so that it hides no ordering that is missing elsewhere; a read-modify-write,
                // since a load may answer an old value.
                self.0.fetch_add(0, Ordering::Relaxed)
            }
        }
    };
}

integer!(AtomicU32, u32, loom::sync::atomic::AtomicU32);
integer!(AtomicU64, u64, loom::sync::atomic::AtomicU64);

/// An atomic pointer of the model.
#[derive(Debug)]
pub struct AtomicPtr<T>(loom::sync::atomic::AtomicPtr<T>);

impl<T> AtomicPtr<T> {
    /// An atomic with this value.
    #[track_caller]
    pub fn new(value: *mut T) -> Self {
        Self(loom::sync::atomic::AtomicPtr::new(value))
    }

    /// As in [`core::sync::atomic`].
    #[track_caller]
    pub fn load(&self, given: Ordering) -> *mut T {
        self.0.load(order(effect_at("load", Location::caller()), given))
    }

    /// As in [`core::sync::atomic`].
    #[track_caller]
    pub fn swap(&self, value: *mut T, given: Ordering) -> *mut T {
        self.0.swap(value, order(effect_at("swap", Location::caller()), given))
    }

    /// As in [`core::sync::atomic`]; never fails for no reason.
    #[track_caller]
    pub fn compare_exchange_weak(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        self.compare_exchange(current, new, success, failure)
    }

    /// As in [`core::sync::atomic`].
    #[track_caller]
    pub fn compare_exchange(
        &self,
        current: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        let effect = effect_at("compare_exchange", Location::caller());
        if effect == Some(Effect::Store) {
            // Ordering: the strongest a store has: what is broken is that it does not read.
            self.0.store(new, Ordering::Release);
            return Ok(current);
        }
        self.0.compare_exchange(current, new, order(effect, success), failed(effect, failure))
    }
}
