//! A worker as its pool sees it, and the batch of items it has claimed.
#![doc = include_str!("../../flow/5-worker.md")]

mod batch_word;
mod state;

pub use batch_word::BatchWord;
pub use state::{State, Worker};
