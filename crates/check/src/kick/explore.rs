//! Exploring one design in one setup to the end, and what came of it.

use super::kernel::Kernel;
use super::model::KickModel;
use super::property::{Property, Twin};
use super::setup::Setup;
use super::shipped::Shipped;
use super::trace::{Trace, TraceStep};
use super::variant::Rules;
use super::world::World;
use stateright::{Checker, Model};
use std::time::{Duration, Instant};

/// What the explorer keeps of a state that it has seen, and a share of those that it has still to look at; in bytes,
/// as measured.
const SEEN_BYTES: usize = 96;

/// How far an exploration may go.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Threads that explore; paths are the shortest only with one.
    pub threads: usize,
    /// Bytes that states may fill.
    pub memory: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { threads: 1, memory: 3 << 30 }
    }
}

/// What one exploration found.
#[derive(Clone, Debug)]
pub struct Report {
    /// The setup.
    pub setup: Setup,
    /// The design.
    pub rules: Rules,
    /// Different states.
    pub states: usize,
    /// The length of the longest shortest path.
    pub depth: usize,
    /// How long it took.
    pub time: Duration,
    /// Whether every state was seen.
    pub complete: bool,
    /// The shortest way to break each promise that is broken.
    pub violations: Vec<Trace>,
    /// Situations that occurred.
    pub reached: Vec<Twin>,
}

impl Report {
    /// The shortest way to break this promise.
    pub fn violation(&self, property: Property) -> Option<&Trace> {
        self.violations.iter().find(|trace| trace.property == property)
    }
}

/// Explores every interleaving of a design in a setup, breadth first. Takes as long as it takes, or until its states
/// fill the memory it is given: the report then is not complete.
pub fn explore(setup: Setup, rules: Rules, bounds: Bounds) -> Report {
    if rules.variant.is_ours() {
        search::<Shipped>(setup, rules, bounds)
    } else {
        search::<Kernel>(setup, rules, bounds)
    }
}

fn search<W: World>(setup: Setup, rules: Rules, bounds: Bounds) -> Report {
    let start = Instant::now();
    let states_max = (bounds.memory / (SEEN_BYTES + size_of::<W>() / 4)).max(1);
    let model = KickModel::<W>::new(setup, rules);
    let checker =
        model.checker().threads(bounds.threads).target_state_count(states_max * 8).spawn_bfs().join();
    let model = checker.model();
    let mut violations = Vec::new();
    for property in Property::ALL {
        let Some(path) = checker.discovery(property.id()) else { continue };
        let path = path.into_vec();
        let first = path[0].0.line(&setup);
        let what = model.check(property, &path.last().expect("a path has a first state").0);
        let steps = path.windows(2).map(|two| {
            let (world, step) = (&two[0].0, two[0].1.expect("only the last state has no step"));
            TraceStep {
                who: step.who,
                did: world.step_name(&setup, &rules, step),
                state: two[1].0.line(&setup),
            }
        });
        let steps = steps.collect();
        violations.push(Trace { property, what: what.unwrap_or("found and lost again"), first, steps });
    }
    let reached = Twin::ALL.into_iter().filter(|&twin| model.reached.has(twin)).collect();
    let states = checker.unique_state_count();
    Report {
        setup,
        rules,
        states,
        depth: checker.max_depth(),
        time: start.elapsed(),
        complete: checker.is_done() && states < states_max,
        violations,
        reached,
    }
}
