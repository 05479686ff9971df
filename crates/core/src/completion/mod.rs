//! How results reach who waits for them: one result by its join word, many by a ring.
#![doc = include_str!("../../flow/6-completion.md")]

mod free_word;
mod head_word;
mod join_word;
mod rest_word;
pub mod wait_graph;

pub use free_word::FreeWord;
pub use head_word::{HeadWord, Post, Urgency};
pub use join_word::{Completed, JoinWord, Joining};
pub use rest_word::{Owed, RestWord, Rester};
pub use wait_graph::{Facts, WaitGraph, Waiter, WaitsFor};
