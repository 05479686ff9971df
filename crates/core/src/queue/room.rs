//! The room word: how many items of a queue with a `max_pending` are queued and not started, and whether somebody waits
//! for one of them to start.

use crate::step::Step;

const WAITED_FOR: u32 = 1 << 31;

/// Bits 0..31: pending items that count. Bit 31: somebody may wait for room.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RoomWord(u32);

impl RoomWord {
    /// The word from its stored bits.
    pub const fn from_bits(bits: u32) -> RoomWord {
        RoomWord(bits)
    }

    /// The word's stored bits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// How many items are pending.
    pub const fn pending(self) -> u32 {
        self.0 & !WAITED_FOR
    }

    /// A submission wants to add an item. `false`: there are `max` already.
    pub const fn take(self, max: u32) -> Step<RoomWord, bool> {
        if self.pending() < max { Step::Write(RoomWord(self.0 + 1), true) } else { Step::Keep(false) }
    }

    /// An item is added in any case: its submission was accepted earlier.
    pub const fn force(self) -> Step<RoomWord, ()> {
        Step::Write(RoomWord(self.0 + 1), ())
    }

    /// An item has started, or was taken back. `true`: who waits is to be woken, all of them.
    pub const fn give(self) -> Step<RoomWord, bool> {
        debug_assert!(self.pending() > 0);
        Step::Write(RoomWord(self.pending() - 1), self.0 & WAITED_FOR != 0)
    }

    /// Somebody is about to sleep until there is room. `None`: there is some. Else the value to sleep on.
    pub const fn wait(self, max: u32) -> Step<RoomWord, Option<u32>> {
        if self.pending() < max {
            Step::Keep(None)
        } else {
            Step::Write(RoomWord(self.0 | WAITED_FOR), Some(self.0 | WAITED_FOR))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every word that three submissions, forced ones and waiters can make of a limit of two.
    fn words() -> impl Iterator<Item = RoomWord> {
        (0..=4).flat_map(|count| [RoomWord(count), RoomWord(count | WAITED_FOR)])
    }

    #[test]
    fn no_more_than_the_limit_unless_forced() {
        for mut word in words() {
            let before = word;
            let taken = word.take(2).apply(&mut word);
            assert_eq!(taken, before.pending() < 2);
            assert_eq!(word.pending(), before.pending() + u32::from(taken));
            before.force().apply(&mut word);
            assert_eq!(word.pending(), before.pending() + 1);
            assert_eq!(word.bits() & WAITED_FOR, before.bits() & WAITED_FOR, "who waits is not forgotten");
        }
    }

    #[test]
    fn who_waits_is_told_by_the_next_to_start() {
        for mut word in words().filter(|w| w.pending() > 0) {
            let before = word;
            let told = word.give().apply(&mut word);
            assert_eq!(told, before.bits() & WAITED_FOR != 0);
            assert_eq!(word.bits(), before.pending() - 1, "they look again, and announce themselves again");
        }
    }

    #[test]
    fn nobody_sleeps_while_there_is_room() {
        for mut word in words() {
            let before = word;
            let value = word.wait(2).apply(&mut word);
            assert_eq!(value.is_some(), before.pending() >= 2);
            if let Some(value) = value {
                assert_eq!((value, word.bits() & WAITED_FOR), (word.bits(), WAITED_FOR));
                let slept_on = word;
                let _ = word.give().apply(&mut word);
                assert_ne!(word.bits(), slept_on.bits(), "a start changes what is slept on");
            }
        }
    }
}
