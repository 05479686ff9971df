//! The thing that travels: one item and its word.
#![doc = include_str!("../../flow/1-work.md")]

mod word;

pub use word::{Enable, Ended, FlushTarget, HandOver, Submit, WorkWord};
