//! Items that are queued at a later time: which of them is due, and when the next one will be.
#![doc = include_str!("../../flow/7-timer.md")]

mod wheel;

pub use wheel::{GRAIN, TimerKey, Wheel};
