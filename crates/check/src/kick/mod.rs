//! Who wakes a picked worker, and when: can it be culled meanwhile, and its item stranded?
#![doc = include_str!("essay.md")]

mod expected;
mod explore;
mod kernel;
mod ledger;
mod model;
mod property;
mod setup;
mod shipped;
mod trace;
mod variant;
mod world;

pub use expected::{Expected, expected};
pub use explore::{Bounds, Report, explore};
pub use property::{Property, Twin};
pub use setup::Setup;
pub use trace::{Trace, TraceStep};
pub use variant::{RealTimeRule, Rules, Variant};
pub use world::{Step, Who};

#[cfg(test)]
mod tests;
