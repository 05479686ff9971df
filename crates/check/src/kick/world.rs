//! What the explorer needs of a pool and its threads.

use super::ledger::Ledger;
use super::property::Reached;
use super::setup::Setup;
use super::variant::Rules;
use std::fmt::Debug;
use std::hash::Hash;

/// A thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Who {
    /// Queues items.
    Submitter(u8),
    /// Runs them.
    Worker(u8),
    /// The engine's thread that makes a pool's first worker.
    Manager,
    /// Culls when it likes: its time-out may be anything.
    Culler,
}

impl Who {
    /// Its name in traces.
    pub fn name(self) -> String {
        match self {
            Who::Submitter(at) => format!("s{at}"),
            Who::Worker(at) => format!("w{at}"),
            Who::Manager => "m".into(),
            Who::Culler => "culler".into(),
        }
    }
}

/// One step of one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The thread.
    pub who: Who,
    /// Which of the things it may do.
    pub choice: u8,
}

/// A pool with its threads, as a value.
pub(super) trait World: Clone + Debug + PartialEq + Hash + Send + Sync + 'static {
    /// Before anything is queued, with every worker asleep.
    fn boot(setup: &Setup, rules: &Rules) -> Self;
    /// What has become of each item.
    fn ledger(&self) -> &Ledger;
    /// Everything that can happen next. Submitters are alike, so they begin in the order of their numbers: any other
    /// way is one of these with other names, and as long.
    fn steps(&self, setup: &Setup, rules: &Rules, steps: &mut Vec<Step>);
    /// It happens.
    fn advance(&mut self, setup: &Setup, rules: &Rules, reached: &Reached, step: Step);
    /// Workers with a thread that have not been told to die.
    fn living(&self) -> u8;
    /// Why an item is stranded, if one is.
    fn stranded(&self, setup: &Setup) -> Option<&'static str>;
    /// Why an item is held back, if one is.
    fn held_back(&self, setup: &Setup) -> Option<&'static str>;
    /// Items, workers and lists in a line.
    fn line(&self, setup: &Setup) -> String;
    /// What a thread is about to do.
    fn step_name(&self, setup: &Setup, rules: &Rules, step: Step) -> String;
}
