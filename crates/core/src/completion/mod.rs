//! How the result of a one-shot item reaches who waits for it.

mod join_word;

pub use join_word::{Completed, JoinWord, Joining};
