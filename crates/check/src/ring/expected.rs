//! What is expected of each rule, and why.

use super::explore::Report;
use super::property::{Reached, Rule};
use super::variant::Variant;

/// What is expected of one rule.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// Properties that are broken somewhere; the others hold everywhere.
    pub broken: &'static [Rule],
    /// Why.
    pub reason: &'static str,
}

/// What is expected of a rule over all scenarios.
pub const fn expected(variant: Variant) -> Verdict {
    let (broken, reason): (&[Rule], _) = match variant {
        Variant::Credit => (
            &[Rule::NotHeldBack],
            "a poster stopped between its claim and its wake-up has taken the credit that later posts look for",
        ),
        Variant::CreditNopreempt => (&[], "a poster cannot be stopped before it has issued what it claimed"),
        Variant::CreditEventfdWaiter => (
            &[Rule::NotHeldBack],
            "only the first post of a cycle signals, and it can be stopped before it does",
        ),
        Variant::HelpedFutex => (
            &[Rule::NotHeldBack],
            "a futex wake-up stopped half-way has hidden the waiter from those who help",
        ),
        Variant::Cmwq => (&[], "a post returns when the waiter runs, or when somebody's write has returned"),
        Variant::NoSecondLook => (&[Rule::NoLost, Rule::NotHeldBack], "a post between the take and the parking is unseen"),
        Variant::MarkFirst => (&[Rule::NotHeldBack], "the mark tells others of a write that has not been made"),
        Variant::EpochIgnored => (&[Rule::NoLost, Rule::NotHeldBack], "a late mark silences a later sleep"),
        Variant::EmptyDecides => (
            &[Rule::NoLost, Rule::NotHeldBack],
            "whoever comes second relies on the first, and the first on being enough",
        ),
        Variant::UnparkedEarly => (&[Rule::NotHeldBack], "it is a claim that hides the sleeper"),
        Variant::CountApart => (&[Rule::NoLost, Rule::NotHeldBack], "the number does not belong to the list it is read with"),
        Variant::ForcedUntold => (&[Rule::NoLost, Rule::NotHeldBack], "the second look cannot see that a message is forced"),
        Variant::TakeInTwo => (&[Rule::ExactlyOnce], "a push between the two is overwritten"),
        Variant::Unreversed => (&[Rule::Order], "the list hangs newest first"),
        Variant::PushInTwo => (&[Rule::NotHeldBack], "behind a message that is not linked nothing can be reached"),
    };
    Verdict { broken, reason }
}

impl Verdict {
    /// What came out otherwise than expected, in words; empty if nothing did.
    pub fn surprises(&self, report: &Report) -> Vec<String> {
        let mut surprises = Vec::new();
        for rule in Rule::ALL {
            let found = report.of(rule).0 > 0;
            if found != self.broken.contains(&rule) {
                let how = if found { "is broken and was to hold" } else { "holds and was to be found broken" };
                surprises.push(format!("{} {how}", rule.name()));
            }
            if !report.variant.is_broken() && !report.reached.contains(&rule.twin()) {
                surprises.push(format!("{} holds for want of {}", rule.name(), rule.twin().name()));
            }
        }
        surprises
    }

    /// The situations that some scenario has to reach under the rule that ships.
    pub const SITUATIONS: &'static [Reached] = Reached::ALL;
}
