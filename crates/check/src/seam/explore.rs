//! Exploring one configuration to the end, and what came of it.

use super::config::Config;
use super::model::{Act, SeamModel};
use super::property::{Reached, Rule};
use super::state::Seam;
use super::variant::Variant;
use stateright::{Checker, HasDiscoveries, Model};
use std::time::{Duration, Instant};

/// A rule that was broken, and the shortest way to break it.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The rule.
    pub rule: Rule,
    /// What was found.
    pub what: &'static str,
    /// The states from the first to the broken one, each with the step taken from it.
    pub path: Vec<(Seam, Option<Act>)>,
}

/// What one exploration found.
#[derive(Debug)]
pub struct Report {
    /// The configuration.
    pub config: Config,
    /// The driver.
    pub variant: Option<Variant>,
    /// Different states.
    pub states: usize,
    /// The length of the longest shortest path.
    pub depth: usize,
    /// How long it took.
    pub time: Duration,
    /// Whether every state was seen.
    pub complete: bool,
    /// Broken rules, the shortest path first.
    pub violations: Vec<Violation>,
    /// Rules that are not required and were broken.
    pub noted: Vec<Violation>,
    /// Situations that should have occurred and did not.
    pub missed: Vec<Reached>,
    /// Situations that occurred.
    pub reached: Vec<Reached>,
}

impl Report {
    /// Whether everything holds and every situation occurred.
    pub fn is_sound(&self) -> bool {
        self.complete && self.violations.is_empty() && self.missed.is_empty()
    }
}

/// Explores one configuration, breadth first, on this many threads. A broken driver is explored until the first rule
/// breaks. Takes as long as it takes, unless a limit is given.
pub fn explore(config: &Config, variant: Option<Variant>, threads: usize, limit: Option<Duration>) -> Report {
    let start = Instant::now();
    let model = SeamModel::new(config.clone(), variant);
    let mut builder = model.checker().threads(threads);
    if variant.is_some() {
        let required = Rule::ALL.iter().filter(|r| r.is_required()).map(|r| r.name()).collect();
        builder = builder.finish_when(HasDiscoveries::AnyOf(required));
    }
    if let Some(limit) = limit {
        builder = builder.timeout(limit);
    }
    let checker = builder.spawn_bfs().join();
    let time = start.elapsed();
    let mut violations = Vec::new();
    for rule in Rule::ALL {
        let Some(path) = checker.discovery(rule.name()) else { continue };
        let path = path.into_vec();
        let last = &path.last().expect("a path has a first state").0;
        let what = last.check(config, rule, &checker.model().reached).unwrap_or("found and lost again");
        violations.push(Violation { rule, what, path });
    }
    violations.sort_by_key(|v| v.path.len());
    let (violations, noted) = violations.into_iter().partition(|v: &Violation| v.rule.is_required());
    let reached: Vec<Reached> =
        Reached::ALL.iter().copied().filter(|&what| checker.model().reached.has(what)).collect();
    let missed = config.reaches.iter().copied().filter(|what| !reached.contains(what)).collect();
    let complete = limit.is_none_or(|limit| time < limit) && variant.is_none();
    Report {
        config: config.clone(),
        variant,
        states: checker.unique_state_count(),
        depth: checker.max_depth(),
        time,
        complete,
        violations,
        noted,
        missed,
        reached,
    }
}
