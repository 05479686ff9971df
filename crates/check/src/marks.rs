//! A set of kinds that threads of an explorer add to.

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// A kind of something: one of at most 64.
pub(crate) trait Mark: Copy {
    /// The kind's own bit.
    fn bit(self) -> u64;
}

/// Makes enumerations of the representation `u8` kinds that can be marked.
macro_rules! marks {
    ($($kind:ty),*) => {
        $(impl $crate::marks::Mark for $kind {
            fn bit(self) -> u64 {
                1 << self as u8
            }
        })*
    };
}
pub(crate) use marks;

/// Which kinds have been marked in one exploration.
#[derive(Debug)]
pub(crate) struct Marks<T> {
    bits: AtomicU64,
    kind: PhantomData<fn(T)>,
}

impl<T> Default for Marks<T> {
    fn default() -> Self {
        Marks { bits: AtomicU64::new(0), kind: PhantomData }
    }
}

impl<T: Mark> Marks<T> {
    /// Adds a kind.
    pub(crate) fn mark(&self, kind: T) {
        // A relaxed set of bits: read when the exploration is over, or to stop looking for what has been seen.
        if !self.has(kind) {
            self.bits.fetch_or(kind.bit(), Relaxed);
        }
    }

    /// Whether it has been added.
    pub(crate) fn has(&self, kind: T) -> bool {
        self.bits.load(Relaxed) & kind.bit() != 0
    }

    /// Whether this is the first time that it is so; asks only until it was. An explorer keeps the last violation that
    /// it is told of, and the first is the shortest.
    pub(crate) fn first(&self, kind: T, is_so: impl FnOnce() -> bool) -> bool {
        let is_first = !self.has(kind) && is_so();
        if is_first {
            self.mark(kind);
        }
        is_first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    #[repr(u8)]
    enum Kind {
        One,
        Last = 63,
    }
    marks!(Kind);

    #[test]
    fn each_kind_is_marked_by_itself_and_first_once() {
        let marks = Marks::default();
        assert!(!marks.has(Kind::One) && !marks.first(Kind::One, || false));
        assert!(marks.first(Kind::One, || true));
        assert!(!marks.first(Kind::One, || unreachable!("it has been seen")));
        assert!(marks.has(Kind::One) && !marks.has(Kind::Last));
        marks.mark(Kind::Last);
        assert!(marks.has(Kind::Last) && !marks.first(Kind::Last, || true));
    }
}
