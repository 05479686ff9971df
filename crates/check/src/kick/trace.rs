//! The shortest way to break a promise: who did what, and what came of it.

use super::property::Property;
use super::world::Who;
use std::fmt::Write;

/// One step of the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep {
    /// The thread.
    pub who: Who,
    /// What it did.
    pub did: String,
    /// Items, workers and lists afterwards.
    pub state: String,
}

/// The way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The promise.
    pub property: Property,
    /// What was found at the end.
    pub what: &'static str,
    /// The first state.
    pub first: String,
    /// The steps from it.
    pub steps: Vec<TraceStep>,
}

impl Trace {
    /// The way as text, one line a step.
    pub fn text(&self) -> String {
        let width = self.steps.iter().map(|s| s.did.len()).max().unwrap_or(0);
        let mut text = String::new();
        let _ = writeln!(text, "{:>4}  {:<7} {:<width$}  {}", 0, "", "at first", self.first);
        for (nth, step) in self.steps.iter().enumerate() {
            let _ =
                writeln!(text, "{:>4}  {:<7} {:<width$}  {}", nth + 1, step.who.name(), step.did, step.state);
        }
        let _ = writeln!(text, "      {}: {}", self.property.id(), self.what);
        text
    }
}
