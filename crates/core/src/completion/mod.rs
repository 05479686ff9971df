//! How the result of a one-shot item reaches who waits for it.

mod join_word;
mod wait_graph;

pub use join_word::{Completed, JoinWord, Joining};
pub use wait_graph::{Facts, WaitGraph, Waiter, WaitsFor};
