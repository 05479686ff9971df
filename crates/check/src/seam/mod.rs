//! The seam between submission without a lock and the core under its lock.
#![doc = include_str!("../../README.md")]

mod config;
mod drive;
mod excuse;
mod explore;
mod lease;
mod lease_config;
mod model;
mod others;
mod property;
mod show;
mod state;
mod variant;
mod worker;

pub use config::{Body, Config, ItemKind, Tier};
pub use explore::{Report, Violation, explore};
pub use model::{Act, SeamModel};
pub use property::{Reached, Rule};
pub(crate) use state::Memory;
pub use state::{Seam, Who};
pub use variant::Variant;

#[cfg(test)]
mod tests;
