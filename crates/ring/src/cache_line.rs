//! Keeping what different threads write on different cache lines.

use core::ops::{Deref, DerefMut};

/// A value alone on its cache lines: 128 bytes, since processors fetch lines in pairs.
#[repr(align(128))]
#[derive(Debug, Default)]
pub struct CacheLine<T>(pub T);

impl<T> Deref for CacheLine<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for CacheLine<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}
