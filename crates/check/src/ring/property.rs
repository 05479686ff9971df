//! What must hold, and what must be reached.

use super::scenario::Scenario;
use super::state::{Pc, State};
use super::variant::Variant;
use crate::marks::{Marks, marks};

/// A property, by its fixed id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Rule {
    /// When all posts have returned, the waiter does not sleep on messages that are worth waking for.
    NoLost,
    /// A message whose post has returned, and that is worth waking for together with others that have, waits for no
    /// poster that can be stopped: the waiter runs or has been woken.
    NotHeldBack,
    /// Each message that was pushed is on the list or has been handed out, once.
    ExactlyOnce,
    /// Messages of one poster are handed out in the order of their posts.
    Order,
}

impl Rule {
    /// Every property.
    pub const ALL: [Rule; 4] = [Rule::NoLost, Rule::NotHeldBack, Rule::ExactlyOnce, Rule::Order];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::NoLost => "no-lost",
            Rule::NotHeldBack => "not-held-back",
            Rule::ExactlyOnce => "exactly-once",
            Rule::Order => "order",
        }
    }

    /// The situation without which it would hold for want of a case.
    pub const fn twin(self) -> Reached {
        match self {
            Rule::NoLost => Reached::Woken,
            Rule::NotHeldBack => Reached::ReturnedBesideOwed,
            Rule::ExactlyOnce => Reached::AllTaken,
            Rule::Order => Reached::TwoInOneTake,
        }
    }
}

macro_rules! reached {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A situation that occurs in some scenario, lest a property holds for want of a case.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Reached { $($(#[$doc])* $variant,)* }

        impl Reached {
            /// Every situation.
            pub const ALL: &'static [Reached] = &[$(Reached::$variant,)*];

            /// Its name in tables.
            pub const fn name(self) -> &'static str {
                match self { $(Reached::$variant => $name,)* }
            }
        }
    };
}

reached! {
    /// The waiter slept and a post woke it.
    Woken = "woken",
    /// A post returned, worth waking for, beside a poster that had yet to issue the wake-up of a waiter asleep.
    ReturnedBesideOwed = "returned-beside-owed",
    /// The waiter got every message.
    AllTaken = "all-taken",
    /// A take found two messages of one poster.
    TwoInOneTake = "two-in-one-take",
    /// A post was worth waking for by the number of messages.
    DueByCount = "due-by-count",
    /// A post was worth waking for because a message was forced, its own or one before it.
    DueByForce = "due-by-force",
    /// The waiter's second look found that it need not sleep.
    SecondLook = "second-look",
    /// A close was worth waking for.
    DueByClose = "due-by-close",
    /// A post was refused by a closed ring.
    Refused = "refused",
    /// A wake-up was marked issued.
    Marked = "marked-issued",
    /// A mark came too late: the waiter had gone on.
    LateMark = "late-mark",
    /// The waiter woke and there was not enough.
    SpuriousPass = "spurious-pass",
    /// The waiter's deadline passed.
    DeadlinePassed = "deadline-passed",
}

/// What has been reached in one exploration.
pub(super) type Reaches = Marks<Reached>;

marks!(Rule, Reached);

impl State {
    /// What breaks this property in this state, if anything does.
    pub(super) fn check(&self, scenario: &Scenario, variant: Variant, rule: Rule) -> Option<&'static str> {
        if let Some((broken, what)) = self.broken {
            return (broken == rule).then_some(what);
        }
        let posters = || 0..scenario.posters.len();
        match rule {
            Rule::NoLost => {
                let quiet = posters().all(|p| self.is_done(scenario, p));
                let lost = quiet && self.sleeps() && self.is_due(scenario, !0);
                lost.then_some("every post has returned, and the waiter sleeps on what they posted")
            }
            Rule::NotHeldBack => {
                let cannot_stop = |p: usize| {
                    let pc = self.posters[p].pc;
                    variant == Variant::CreditNopreempt && matches!(pc, Pc::Look | Pc::Claim | Pc::Issue)
                };
                let held =
                    self.sleeps() && self.is_due(scenario, self.returned) && !posters().any(cannot_stop);
                held.then_some(
                    "posts have returned and the waiter sleeps: they wait for a poster that may have stopped",
                )
            }
            Rule::ExactlyOnce => {
                let list = self.list(self.head);
                let there = list.as_slice().iter().chain(self.taken.as_slice());
                let seen = there.clone().fold(0u8, |seen, m| seen | 1 << m);
                let once = seen == self.pushed && there.count() == self.pushed.count_ones() as usize;
                (!once).then_some("a message that was posted is nowhere, or is in two places")
            }
            Rule::Order => None,
        }
    }
}
