//! The designs, the broken ones among them, and what they promise.

/// What every exploration checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Property {
    /// A flush that has returned owes nothing: all that was queued before its call has ended.
    OwesNothing,
    /// A flush that has made its cut waits for no submission that begins later.
    WaitsForNoStranger,
    /// Everybody ends.
    NoDeadlock,
}

impl Property {
    /// All of them.
    pub const ALL: [Property; 3] =
        [Property::OwesNothing, Property::WaitsForNoStranger, Property::NoDeadlock];

    /// Its name in tables and documents.
    pub fn id(self) -> &'static str {
        match self {
            Property::OwesNothing => "owes-nothing",
            Property::WaitsForNoStranger => "waits-for-no-stranger",
            Property::NoDeadlock => "no-deadlock",
        }
    }
}

macro_rules! variants {
    ($($(#[$doc:meta])* $name:ident = $id:literal,)*) => {
        /// A design of the flush.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Variant {
            $($(#[$doc])* $name,)*
        }

        impl Variant {
            /// All of them, the sound ones first.
            pub const ALL: &[Variant] = &[$(Variant::$name),*];

            /// Its name on the command line.
            pub fn id(self) -> &'static str {
                match self {
                    $(Variant::$name => $id,)*
                }
            }
        }
    };
}

variants! {
    /// The one that ships.
    Cmwq = "cmwq",
    /// Every pwq is looked at; a submission arrives and is confirmed in one step, under its pool's lock.
    Walk = "walk",
    /// The same, but a submission lists its pwq in that step, and the flush looks at the list.
    Active = "active",
    /// Broken: an arrival is not confirmed by a second look.
    SecondLookSkipped = "second-look-skipped",
    /// Broken: the item is claimed before the arrival.
    ClaimFirst = "claim-first",
    /// Broken: the leaf is stamped before the pwq is listed.
    TagFirst = "tag-first",
    /// Broken: the pwq is listed after the second look.
    ListAfterLook = "list-after-look",
    /// Broken: the list is read before the phase is closed, and not again.
    LookBeforeClose = "look-before-close",
    /// Broken: lists do not carry their phase; who passes a phase clears its list afterwards.
    ClearedLate = "cleared-late",
    /// Broken: who enters a list does not see that its phase has gone, and replaces what it finds.
    LateLister = "late-lister",
    /// Broken: arrivals are read before departures.
    ArrivalsFirst = "arrivals-first",
    /// Broken: a departure is counted at the phase that the item has when its run ends.
    PhaseAtFinish = "phase-at-finish",
    /// Broken: a flush with nothing listed at its phase does not look at older ones.
    IdleIgnoresOlder = "idle-ignores-older",
    /// Broken: a flush waits for its own phase alone.
    OutOfOrder = "out-of-order",
    /// Broken: a flush passes the newest phase once that is empty, and the older ones with it.
    PassesNewest = "passes-newest",
    /// Broken: a flush that found no slot free passes the oldest phase, though that may be open by now.
    PassesOpen = "passes-open",
    /// Broken: two slots, so that one cut is outstanding.
    TwoSlots = "two-slots",
    /// Broken: one slot fewer than there is room for: fourteen cuts are outstanding.
    OneSlotFewer = "one-slot-fewer",
    /// Broken: a flush that found no slot free sleeps until its own phase is passed.
    SleepsForOwnPhase = "sleeps-for-own-phase",
    /// Broken: an item that waits for its limit departs, and arrives again when there is room.
    CountedWhenActive = "counted-when-active",
    /// Broken: an item that gets room takes on the phase that accepts then.
    PhaseAtActivation = "phase-at-activation",
    /// Broken: an end that makes room for another item does not depart.
    HandOffKeepsArrival = "hand-off-keeps-arrival",
    /// Broken: an item cancelled while it waits for its limit stays in line, and departs when there is room as well.
    CancelStaysInLine = "cancel-stays-in-line",
    /// Broken: a queue gives its pwqs back when it has come to rest, though a timer that has fired knows it.
    PwqGivenEarly = "pwq-given-early",
    /// Broken: a queue gives its pwqs back and does not wait for what is in flight.
    PwqGivenBusy = "pwq-given-busy",
    /// Broken: the departures of the last queue stay in a pwq that is used again.
    DeparturesKept = "departures-kept",
    /// Broken: a cancelled item does not depart.
    CancelKeepsArrival = "cancel-keeps-arrival",
    /// Broken: a refused submission does not depart.
    RefusedKeepsArrival = "refused-keeps-arrival",
    /// Broken: a flush goes to sleep on the departures as they are then, not as they were when it looked.
    SleepsOnNewValue = "sleeps-on-new-value",
}

impl Variant {
    /// Whether all properties should hold.
    pub fn is_sound(self) -> bool {
        matches!(self, Variant::Cmwq | Variant::Walk | Variant::Active)
    }

    /// The variant of this name.
    pub fn parse(id: &str) -> Option<Variant> {
        Variant::ALL.iter().copied().find(|variant| variant.id() == id)
    }
}
