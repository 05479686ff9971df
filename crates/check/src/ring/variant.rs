//! The wake rules that are compared, and broken forms of the one that ships, by fixed ids.

/// A wake rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant {
    /// After its push a poster claims the waiter's credit, and whoever claims wakes: as published before the fix.
    Credit,
    /// The same, and a poster cannot be preempted between its push and the end of its wake-up: the published fix.
    CreditNopreempt,
    /// The fix with a waiter on a registered eventfd, which the first post of a cycle signals when it can be preempted
    /// again.
    CreditEventfdWaiter,
    /// A claimed wake-up is helped, and waking is what a futex does: take the sleeper off its queue, then wake it.
    HelpedFutex,
    /// The rule that ships.
    Cmwq,
    /// Ships broken: the waiter does not look at the head again after it has parked.
    NoSecondLook,
    /// Ships broken: a wake-up is marked issued before it is issued.
    MarkFirst,
    /// Ships broken: the mark does not compare the epoch.
    EpochIgnored,
    /// Ships broken: only a post onto an empty list looks whether the waiter sleeps.
    EmptyDecides,
    /// Ships broken: the parked state is cleared before the wake-up is issued.
    UnparkedEarly,
    /// Ships broken: messages are counted in a word of their own, after the push.
    CountApart,
    /// Ships broken: a forced post says so to nobody but itself.
    ForcedUntold,
    /// Ships broken: the list is loaded, then stored empty.
    TakeInTwo,
    /// Ships broken: what was taken is handed out newest first.
    Unreversed,
    /// Ships broken: a post exchanges the head and links to what was there in a second step.
    PushInTwo,
}

impl Variant {
    /// The rules that are compared.
    pub const RULES: [Variant; 5] = [
        Variant::Credit,
        Variant::CreditNopreempt,
        Variant::CreditEventfdWaiter,
        Variant::HelpedFutex,
        Variant::Cmwq,
    ];

    /// The broken forms of the rule that ships.
    pub const BROKEN: [Variant; 10] = [
        Variant::NoSecondLook,
        Variant::MarkFirst,
        Variant::EpochIgnored,
        Variant::EmptyDecides,
        Variant::UnparkedEarly,
        Variant::CountApart,
        Variant::ForcedUntold,
        Variant::TakeInTwo,
        Variant::Unreversed,
        Variant::PushInTwo,
    ];

    /// Every variant, the rules first.
    pub fn all() -> impl Iterator<Item = Variant> {
        Variant::RULES.into_iter().chain(Variant::BROKEN)
    }

    /// Its id on command lines.
    pub const fn id(self) -> &'static str {
        match self {
            Variant::Credit => "credit",
            Variant::CreditNopreempt => "credit-nopreempt",
            Variant::CreditEventfdWaiter => "credit-eventfd-waiter",
            Variant::HelpedFutex => "helped-futex",
            Variant::Cmwq => "cmwq",
            Variant::NoSecondLook => "no-second-look",
            Variant::MarkFirst => "mark-first",
            Variant::EpochIgnored => "epoch-ignored",
            Variant::EmptyDecides => "empty-decides",
            Variant::UnparkedEarly => "unparked-early",
            Variant::CountApart => "count-apart",
            Variant::ForcedUntold => "forced-untold",
            Variant::TakeInTwo => "take-in-two",
            Variant::Unreversed => "unreversed",
            Variant::PushInTwo => "push-in-two",
        }
    }

    /// The variant with this id.
    pub fn parse(id: &str) -> Option<Variant> {
        Variant::all().find(|v| v.id() == id)
    }

    /// Whether it is the rule that ships, broken.
    pub fn is_broken(self) -> bool {
        Variant::BROKEN.contains(&self)
    }

    /// Whether whoever finds the waiter parked claims its credit.
    pub(super) const fn is_credit(self) -> bool {
        matches!(self, Variant::Credit | Variant::CreditNopreempt)
    }
}
