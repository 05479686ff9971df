//! Every interleaving of one scenario, breadth first: the first way to a broken promise is a shortest one.

use super::scenario::Scenario;
use super::variant::{Property, Variant};
use super::world::{Who, World};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A broken promise and a shortest way to it.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The promise.
    pub property: Property,
    /// Who did what, one a step.
    pub steps: Vec<(String, String)>,
}

/// What one exploration found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The design.
    pub variant: Variant,
    /// The configuration.
    pub scenario: Scenario,
    /// Different states.
    pub states: usize,
    /// Whether every state was seen.
    pub complete: bool,
    /// At most one for each property.
    pub violations: Vec<Violation>,
    /// What should happen in some interleaving, and does not: the scenario is not about what it says. Asked of the
    /// design that ships.
    pub never: Vec<&'static str>,
}

impl Report {
    /// The broken promise of this kind, if it is.
    pub fn violation(&self, property: Property) -> Option<&Violation> {
        self.violations.iter().find(|violation| violation.property == property)
    }
}

/// A state's number, and how it was reached: from which state, by whom, by what.
type Way = (usize, Who, String);

/// Explores one scenario under one design; gives up after `states_max` states, and a broken design as soon as it is
/// caught. Takes seconds at most for the
/// scenarios there are.
pub fn explore(scenario: &Scenario, variant: Variant, states_max: usize) -> Report {
    let mut numbers = HashMap::from([(World::new(scenario), 0)]);
    let mut ways: Vec<Option<Way>> = vec![None];
    let mut level = vec![(0, World::new(scenario))];
    let mut violations: Vec<Violation> = Vec::new();
    let mut complete = true;
    let mut never = if variant == Variant::Cmwq { scenario.sometimes.to_vec() } else { Vec::new() };
    while !level.is_empty() && (variant.is_sound() || violations.is_empty()) {
        let mut next_level = Vec::new();
        for (number, world) in level {
            let steps = world.steps(scenario, variant);
            let is_stuck = steps.is_empty() && world.broken.is_none() && !world.is_over(scenario);
            let found = world.broken.or(is_stuck.then_some(Property::NoDeadlock));
            if let Some(property) = found
                && violations.iter().all(|violation| violation.property != property)
            {
                violations.push(Violation { property, steps: steps_to(&ways, number) });
            }
            for (who, what, next) in steps {
                never.retain(|part| !what.contains(part));
                if ways.len() >= states_max {
                    complete = false;
                    break;
                }
                if let Entry::Vacant(place) = numbers.entry(next) {
                    let new = ways.len();
                    ways.push(Some((number, who, what)));
                    next_level.push((new, place.key().clone()));
                    place.insert(new);
                }
            }
        }
        level = next_level;
    }
    complete &= level.is_empty();
    Report { variant, scenario: *scenario, states: ways.len(), complete, violations, never }
}

fn steps_to(ways: &[Option<Way>], mut number: usize) -> Vec<(String, String)> {
    let mut steps = Vec::new();
    while let Some((before, who, what)) = &ways[number] {
        let who = match who {
            Who::Thread(at) => format!("thread {at}"),
            Who::Worker(item) => format!("worker of item {item}"),
        };
        steps.push((who, what.clone()));
        number = *before;
    }
    steps.reverse();
    steps
}
