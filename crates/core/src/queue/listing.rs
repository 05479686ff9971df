//! Which pwqs have been used in a phase: one word of a list that starts again by itself at each phase.

use crate::step::Step;

/// Bits 0..32: members. Bits 32..64: the phase they are listed at; at any other phase of the slot the word lists nobody
/// (`F5 listed before confirmed`). So nobody has to clear it, and nobody can clear it late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ListWord(u64);

impl ListWord {
    /// How many members one word lists.
    pub const MEMBERS: usize = 32;

    /// The word from its stored bits.
    pub const fn from_bits(bits: u64) -> ListWord {
        ListWord(bits)
    }

    /// The word's stored bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The members listed at a phase, one a bit.
    pub const fn at(self, phase: u32) -> u32 {
        if self.phase() == phase { self.0 as u32 } else { 0 }
    }

    /// The phase the word was last used at.
    pub const fn phase(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// Lists a member at a phase. The caller has seen this phase accept *after* it read this word: then another
    /// phase in it is an older one, and its members go.
    ///
    /// # Panics
    /// If `member` is not below [`ListWord::MEMBERS`].
    pub const fn list(self, member: u32, phase: u32) -> Step<ListWord, ()> {
        assert!(member < Self::MEMBERS as u32, "a word lists 32 members");
        let listed = self.at(phase);
        if listed & (1 << member) != 0 {
            return Step::Keep(());
        }
        Step::Write(ListWord((phase as u64) << 32 | (listed | 1 << member) as u64), ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every pair of a listed set of three members and a member, at the same phase and at others of the slot, wrapped
    /// ones among them.
    #[test]
    fn listing_keeps_this_phase_and_forgets_the_others() {
        let phases = [0, 1, 16, 17, 1 << 31, u32::MAX - 15, u32::MAX];
        for before in phases {
            for set in 0..8_u64 {
                for member in 0..3 {
                    for phase in phases {
                        let mut word = ListWord::from_bits(u64::from(before) << 32 | set);
                        word.list(member, phase).apply(&mut word);
                        let kept = if before == phase { set as u32 } else { 0 };
                        assert_eq!(word.at(phase), kept | 1 << member);
                        assert_eq!(word.phase(), phase);
                        assert_eq!(word.list(member, phase), Step::Keep(()), "listing is idempotent");
                        assert!(phases.iter().all(|&p| p == phase || word.at(p) == 0));
                    }
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "a word lists 32 members")]
    fn a_member_beyond_the_word_is_refused() {
        let _ = ListWord::default().list(32, 0);
    }
}
