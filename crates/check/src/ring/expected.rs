//! What is expected of each rule, and why.

use super::explore::Report;
use super::property::{Reached, Rule};
use super::variant::Variant;

/// What is expected of one rule.
#[derive(Clone, Copy, Debug)]
pub struct Verdict {
    /// Properties that are broken somewhere; the others hold everywhere. For a rule that ships broken: the one it is to
    /// be found by.
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
        Variant::NoSecondLook => (&[Rule::NoLost], "a post between the take and the parking is unseen"),
        Variant::MarkFirst => {
            (&[Rule::NotHeldBack], "the mark tells others of a write that has not been made")
        }
        Variant::EpochIgnored => (&[Rule::NoLost], "a late mark silences a later sleep"),
        Variant::EmptyDecides => {
            (&[Rule::NotHeldBack], "whoever comes second relies on the first, and the first on being enough")
        }
        Variant::UnparkedEarly => (&[Rule::NotHeldBack], "it is a claim that hides the sleeper"),
        Variant::CountApart => (&[Rule::NoLost], "the number does not belong to the list it is read with"),
        Variant::ForcedUntold => (&[Rule::NoLost], "the second look cannot see that a message is forced"),
        Variant::TakeInTwo => (&[Rule::ExactlyOnce], "a push between the two is overwritten"),
        Variant::Unreversed => (&[Rule::Order], "the list hangs newest first"),
        Variant::PushInTwo => {
            (&[Rule::NotHeldBack], "behind a message that is not linked nothing can be reached")
        }
    };
    Verdict { broken, reason }
}

impl Verdict {
    /// What came out otherwise than expected, in words; empty if nothing did. `all`: every scenario was explored, so
    /// that whatever is to be found has been met.
    pub fn surprises(&self, report: &Report, all: bool) -> Vec<String> {
        let mut surprises = Vec::new();
        for rule in Rule::ALL {
            let (found, wanted) = (report.of(rule).0 > 0, self.broken.contains(&rule));
            if wanted && !found {
                surprises.push(format!("{} holds and was to be found broken", rule.name()));
            }
            if report.variant.is_broken() {
                continue;
            }
            if found && !wanted {
                surprises.push(format!("{} is broken and was to hold", rule.name()));
            }
            if all && !report.reached.contains(&rule.twin()) {
                surprises.push(format!("{} holds for want of {}", rule.name(), rule.twin().name()));
            }
        }
        if all && report.variant == Variant::Cmwq {
            let missed = Reached::ALL.iter().filter(|what| !report.reached.contains(what));
            surprises.extend(missed.map(|what| format!("never reached: {}", what.name())));
        }
        surprises
    }
}
