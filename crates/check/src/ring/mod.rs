//! The completion ring: many posters, one waiter, and wake-ups that a stopped poster may or may not hold back.
//!
//! Posters push and see to it that the waiter wakes, by one of several published rules; the waiter takes everything and
//! sleeps when it was not enough. Every interleaving of two or three posters is explored, each free to stop for ever
//! between any two of its steps: a stopped thread is one that the schedule never chooses again, so each state is judged
//! with *all* posters taken as stopped.

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
