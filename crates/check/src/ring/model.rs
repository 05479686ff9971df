//! The ring under one rule as a model of the explorer.

use super::poster::Drive;
use super::property::{Reaches, Rule};
use super::scenario::Scenario;
use super::state::{At, State, Word};
use super::variant::Variant;
use super::waiter::Wait;
use crate::marks::Marks;
use cmwq_core::completion::RestWord;
use cmwq_core::pool::WakeWord;
use stateright::{Model, Property};

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// A poster takes its next step.
    Poster(u8),
    /// The waiter takes its next step.
    Waiter,
    /// The waiter's deadline passes.
    Deadline,
}

/// One scenario under one rule.
#[derive(Debug)]
pub struct RingModel {
    pub(super) scenario: Scenario,
    pub(super) variant: Variant,
    pub(super) reached: Reaches,
    /// Properties whose first violation has been found: the explorer keeps the last one it is told of, and the first
    /// is the shortest.
    found: Marks<Rule>,
}

impl RingModel {
    /// A model of this scenario under this rule.
    pub fn new(scenario: Scenario, variant: Variant) -> RingModel {
        RingModel { scenario, variant, reached: Reaches::default(), found: Marks::default() }
    }

    fn holds(&self, rule: Rule, state: &State) -> bool {
        !self.found.first(rule, || state.check(&self.scenario, self.variant, rule).is_some())
    }

    fn word(&self) -> Word {
        match self.variant {
            Variant::CreditEventfdWaiter => Word::Nothing,
            Variant::HelpedFutex => Word::Futex(WakeWord::RUN, 0),
            variant if variant.is_credit() => Word::Credit(0),
            _ => Word::Ring(RestWord::default()),
        }
    }
}

type Condition = fn(&RingModel, &State) -> bool;

const RULES: [(Rule, Condition); 4] = [
    (Rule::NoLost, |model, state| model.holds(Rule::NoLost, state)),
    (Rule::NotHeldBack, |model, state| model.holds(Rule::NotHeldBack, state)),
    (Rule::ExactlyOnce, |model, state| model.holds(Rule::ExactlyOnce, state)),
    (Rule::Order, |model, state| model.holds(Rule::Order, state)),
];

impl Model for RingModel {
    type State = State;
    type Action = Act;

    fn init_states(&self) -> Vec<State> {
        vec![State::first(&self.scenario, self.word())]
    }

    fn actions(&self, state: &State, acts: &mut Vec<Act>) {
        if state.broken.is_some() {
            return;
        }
        let posters = 0..self.scenario.posters.len();
        acts.extend(posters.filter(|&p| !state.is_done(&self.scenario, p)).map(|p| Act::Poster(p as u8)));
        let sleeps = state.sleeps();
        if !sleeps && state.waiter.at != At::Ended {
            acts.push(Act::Waiter);
        }
        if state.waiter.at == At::Asleep && state.waiter.timeouts > 0 {
            acts.push(Act::Deadline);
        }
    }

    fn next_state(&self, state: &State, act: Act) -> Option<State> {
        let mut next = state.clone();
        let RingModel { scenario, variant, reached, .. } = self;
        match act {
            Act::Poster(at) => {
                let poster = usize::from(at);
                Drive { scenario, variant: *variant, reached, state: &mut next, poster }.step();
            }
            Act::Waiter => Wait { scenario, variant: *variant, reached, state: &mut next }.step(false),
            Act::Deadline => Wait { scenario, variant: *variant, reached, state: &mut next }.step(true),
        }
        next.normalise();
        Some(next)
    }

    fn properties(&self) -> Vec<Property<RingModel>> {
        RULES.iter().map(|&(rule, condition)| Property::always(rule.name(), condition)).collect()
    }
}
