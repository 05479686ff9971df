//! The wake word of one sleeper: asleep or not, and whether the wake-up it is owed has been issued.
//!
//! | state | means | next |
//! |---|---|---|
//! | RUN | awake, or about to look before it sleeps again | PARKED (owner) |
//! | PARKED | sleeps or is about to; owed nothing | CLAIMED (a waker), RUN (owner) |
//! | CLAIMED | a waker has taken on the wake-up and has not yet issued it | ISSUED (who issued it), RUN (owner) |
//! | ISSUED | the system call that wakes has returned | RUN (owner) |
//!
//! The bits above the state are an epoch that grows with every PARKED: a mark "issued" that arrives a cycle late must
//! not silence the next cycle (invariant `K2 epoch`). Waking is idempotent: whoever depends on the sleeper and finds
//! CLAIMED may issue the wake-up as well.

use crate::step::Step;

const STATE: u32 = 3;
const RUN: u32 = 0;
const PARKED: u32 = 1;
const CLAIMED: u32 = 2;
const ISSUED: u32 = 3;
const EPOCH_ONE: u32 = 4;

/// The word of one sleeper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WakeWord(u32);

/// What a waker learns.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Claim {
    /// Nothing is owed: the sleeper is awake or its wake-up has been issued.
    Nothing,
    /// The wake-up is yours to issue; afterwards call [`WakeWord::issued`] with the word given here.
    Issue(WakeWord),
    /// Another waker has claimed it and may be stopped before issuing it. Who depends on the sleeper issues it too.
    Help(WakeWord),
}

impl WakeWord {
    /// An awake sleeper in its first epoch.
    pub const RUN: WakeWord = WakeWord(RUN);

    /// The word from its stored bits.
    pub const fn from_bits(bits: u32) -> WakeWord {
        WakeWord(bits)
    }

    /// The word's stored bits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether the owner has announced its sleep and is owed nothing yet.
    pub const fn is_parked(self) -> bool {
        self.0 & STATE == PARKED
    }

    /// Whether a wake-up has been claimed or issued and not yet been consumed.
    pub const fn is_woken(self) -> bool {
        self.0 & STATE == CLAIMED || self.0 & STATE == ISSUED
    }

    /// The owner announces that it is about to sleep.
    pub const fn announce(self) -> Step<WakeWord, ()> {
        Step::Write(WakeWord((self.0 & !STATE).wrapping_add(EPOCH_ONE) | PARKED), ())
    }

    /// The owner is awake again, or has changed its mind; any wake-up it was owed is consumed.
    pub const fn resume(self) -> Step<WakeWord, ()> {
        Step::Write(WakeWord(self.0 & !STATE | RUN), ())
    }

    /// Somebody wants the sleeper awake.
    pub const fn claim(self) -> Step<WakeWord, Claim> {
        match self.0 & STATE {
            PARKED => {
                let claimed = WakeWord(self.0 & !STATE | CLAIMED);
                Step::Write(claimed, Claim::Issue(claimed))
            }
            CLAIMED => Step::Keep(Claim::Help(self)),
            _ => Step::Keep(Claim::Nothing),
        }
    }

    /// The wake-up claimed as `claimed` has been issued. Another cycle is left alone.
    pub const fn issued(self, claimed: WakeWord) -> Step<WakeWord, ()> {
        if self.0 == claimed.0 { Step::Write(WakeWord(self.0 & !STATE | ISSUED), ()) } else { Step::Keep(()) }
    }
}

#[cfg(test)]
#[path = "wake_word_tests.rs"]
mod tests;
