//! A design as a model of the explorer.

use super::property::{Property, Reached};
use super::setup::Setup;
use super::variant::Rules;
use super::world::{Step, World};
use crate::marks::Marks;
use stateright::{Model, Property as Condition};
use std::marker::PhantomData;

/// One design in one setup.
#[derive(Debug)]
pub(super) struct KickModel<W> {
    pub(super) setup: Setup,
    pub(super) rules: Rules,
    pub(super) reached: Reached,
    /// Promises whose first violation has been found: the first is the shortest.
    found: Marks<Property>,
    world: PhantomData<fn() -> W>,
}

impl<W: World> KickModel<W> {
    pub(super) fn new(setup: Setup, rules: Rules) -> KickModel<W> {
        let (reached, found) = (Reached::default(), Marks::default());
        KickModel { setup, rules, reached, found, world: PhantomData }
    }

    /// Why the promise is broken in this state, if it is.
    pub(super) fn check(&self, property: Property, world: &W) -> Option<&'static str> {
        let broken = world.ledger().broken.filter(|(broken, _)| *broken == property).map(|(_, what)| what);
        broken.or_else(|| match property {
            Property::NoStranded => world.stranded(&self.setup),
            Property::NotHeldBack => world.held_back(&self.setup),
            Property::NoSurplus => world.ledger().check_surplus(&self.setup, world.living()),
            _ => None,
        })
    }

    fn holds(&self, property: Property, world: &W) -> bool {
        !self.found.first(property, || self.check(property, world).is_some())
    }
}

macro_rules! conditions {
    ($($property:ident),*) => {
        vec![$(Condition::always(
            Property::$property.id(),
            |model: &KickModel<W>, world: &W| model.holds(Property::$property, world),
        )),*]
    };
}

impl<W: World> Model for KickModel<W> {
    type State = W;
    type Action = Step;

    fn init_states(&self) -> Vec<W> {
        vec![W::boot(&self.setup, &self.rules)]
    }

    fn actions(&self, world: &W, steps: &mut Vec<Step>) {
        world.steps(&self.setup, &self.rules, steps);
    }

    fn next_state(&self, world: &W, step: Step) -> Option<W> {
        let mut next = world.clone();
        next.advance(&self.setup, &self.rules, &self.reached, step);
        Some(next)
    }

    fn properties(&self) -> Vec<Condition<KickModel<W>>> {
        conditions!(NoStranded, NotHeldBack, NoWakeOfDead, NoSurplus, NoDoubleRun, Order, MaxActive)
    }
}
