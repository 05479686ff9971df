//! The joint of one queue with one pool: its limit and its waiting items.
#![doc = include_str!("../../flow/3-pwq.md")]

mod gate;
mod node_word;
mod share;

pub use gate::{Admission, Gate, Limit};
pub use node_word::{NodeWord, Passing, Waited, next_in_line};
pub use share::{min_active_default, node_share};
