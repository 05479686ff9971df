//! One pool: workers that share a worklist, and everything that is decided under its lock.
#![doc = include_str!("../../flow/4-pool.md")]

mod action;
mod awaited;
mod block;
mod busy;
#[cfg(test)]
mod claim_tests;
mod core;
#[cfg(test)]
mod cull_tests;
mod end;
mod event;
mod gates;
mod inbox_word;
pub mod invariants;
mod linger;
mod manage;
mod policy;
mod real_time;
pub mod record;
#[cfg(test)]
mod test_driver;
#[cfg(test)]
mod timing_tests;
mod wake_word;
#[cfg(test)]
mod walk_tests;

pub use self::action::{Actions, Verdict};
pub use self::core::PoolCore;
pub use self::event::Event;
pub use self::inbox_word::{InboxWord, Pushed, Taken};
pub use self::policy::{ClaimPolicy, CoverPolicy, PoolConfig};
pub use self::real_time::relied_on;
pub use self::wake_word::{Claim, WakeWord};
