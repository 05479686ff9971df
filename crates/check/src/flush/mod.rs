//! Flush phases: does a flush wait for all it owes, for no stranger, and does everything end?
//!
//! Threads submit, flush, cancel and run items; each may stop between any two of its steps. The words are those that
//! ship: [`cmwq_core::queue::QueueWord`] and [`cmwq_core::queue::ListWord`]. Steps take effect one after another;
//! what weaker memory adds is checked on the drivers themselves.

mod explore;
mod flusher;
mod former;
mod scenario;
mod submitter;
mod variant;
mod world;

pub use explore::{Report, Violation, explore};
pub use scenario::Scenario;
pub use variant::{Property, Variant};

#[cfg(test)]
mod tests;
