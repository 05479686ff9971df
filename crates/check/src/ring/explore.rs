//! Exploring scenarios to the end, and what came of it.

use super::expected::expected;
use super::model::{Act, RingModel};
use super::property::{Reached, Rule};
use super::scenario::Scenario;
use super::state::State;
use super::variant::Variant;
use stateright::{Checker, HasDiscoveries, Model};
use std::time::{Duration, Instant};

/// A property that was broken, and the shortest way to break it.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The property.
    pub rule: Rule,
    /// What was found.
    pub what: &'static str,
    /// In which scenario.
    pub scenario: Scenario,
    /// Under which rule.
    pub variant: Variant,
    /// The states from the first to the broken one, each with the step taken from it.
    pub path: Vec<(State, Option<Act>)>,
}

impl Violation {
    /// How many steps the way has.
    pub fn steps(&self) -> usize {
        self.path.len() - 1
    }
}

/// What the exploration of scenarios found under one rule.
#[derive(Debug)]
pub struct Report {
    /// The rule.
    pub variant: Variant,
    /// Scenarios explored.
    pub scenarios: usize,
    /// Different states.
    pub states: usize,
    /// How long it took.
    pub time: Duration,
    /// In how many scenarios each property was broken, and the shortest way of all, in the order of [`Rule::ALL`].
    pub broken: [(usize, Option<Violation>); 4],
    /// Situations that occurred.
    pub reached: Vec<Reached>,
}

impl Report {
    /// In how many scenarios a property was broken, and the shortest way.
    pub fn of(&self, rule: Rule) -> &(usize, Option<Violation>) {
        &self.broken[rule as usize]
    }
}

/// Explores each scenario, breadth first, on this many threads. A rule that ships broken is explored until it is found,
/// every other to the end. Takes as long as it takes.
pub fn explore(variant: Variant, scenarios: &[Scenario], threads: usize) -> Report {
    let start = Instant::now();
    let mut report = Report {
        variant,
        scenarios: 0,
        states: 0,
        time: Duration::ZERO,
        broken: Default::default(),
        reached: Vec::new(),
    };
    for scenario in scenarios {
        let mut builder = RingModel::new(scenario.clone(), variant).checker().threads(threads);
        if variant.is_broken() {
            let wanted = expected(variant).broken.iter().map(|r| r.name()).collect();
            builder = builder.finish_when(HasDiscoveries::AnyOf(wanted));
        }
        let checker = builder.spawn_bfs().join();
        report.scenarios += 1;
        report.states += checker.unique_state_count();
        for rule in Rule::ALL {
            let Some(path) = checker.discovery(rule.name()) else { continue };
            let path = path.into_vec();
            let last = &path.last().expect("a path has a first state").0;
            let what = last.check(scenario, variant, rule).unwrap_or("found and lost again");
            let (count, shortest) = &mut report.broken[rule as usize];
            *count += 1;
            if shortest.as_ref().is_none_or(|s: &Violation| s.path.len() > path.len()) {
                *shortest = Some(Violation { rule, what, scenario: scenario.clone(), variant, path });
            }
        }
        for &what in Reached::ALL {
            if checker.model().reached.has(what) && !report.reached.contains(&what) {
                report.reached.push(what);
            }
        }
        if variant.is_broken() && expected(variant).broken.iter().any(|&rule| report.of(rule).0 > 0) {
            break;
        }
    }
    report.time = start.elapsed();
    report
}
