//! Counters: written by one thread each where they are hot, read by anyone.

mod snapshot;
mod worker;

pub use snapshot::{PoolStats, Stats};
pub(crate) use worker::{Counter, Hint, WorkerStats};
