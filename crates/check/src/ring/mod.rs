//! The completion ring: many posters, one waiter, and wake-ups that a stopped poster may or may not hold back.
#![doc = include_str!("../../RING.md")]

mod expected;
mod explore;
mod model;
mod poster;
mod property;
mod scenario;
mod show;
mod state;
mod variant;
mod waiter;

pub use expected::{Verdict, expected};
pub use explore::{Report, Violation, explore};
pub use model::{Act, RingModel};
pub use property::{Reached, Rule};
pub use scenario::{Group, Scenario};
pub use state::State;
pub use variant::Variant;

#[cfg(test)]
mod tests;
