//! The joint of one queue with one pool: its limit and its waiting items.
#![doc = include_str!("../../flow/3-pwq.md")]

mod gate;

pub use gate::{Admission, Gate};
