//! The queue word: which flush phase accepts submissions, and whether submissions are accepted at all.
//!
//! A submission *arrives* before it claims its item: it adds one to the arrival count of the current phase and then
//! looks at this word again. If the phase has moved on it departs and arrives anew; otherwise its arrival is
//! confirmed, and from then on every flush that closes this phase waits for it (invariant `F1 arrival first`). A
//! flush
//! closes the current phase by moving the word on, and waits until arrivals and departures of every phase up to it
//! agree.

use crate::limits::PHASE_SLOTS;
use crate::step::Step;

const DESTROYING: u64 = 1 << 32;
const DRAINER_ONE: u64 = 1 << 33;
const DRAINERS: u64 = 0xf_ffff << 33;
const ERA_SHIFT: u32 = 53;

/// Bits 0..32: the phase that accepts. Bit 32: destroying. Bits 33..53: the number of drains under way. Bits 53..64:
/// the era, how often the phase has wrapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct QueueWord(u64);

/// Whether a submission may go on.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Admit {
    /// Yes.
    Open,
    /// Only from inside an item of this queue (a chained submission).
    ChainedOnly,
    /// Only from inside an item of this queue, and not by an item that queues itself again.
    ChainedOthersOnly,
}

impl QueueWord {
    /// An open queue in its first phase.
    pub const OPEN: QueueWord = QueueWord(0);

    /// The word from its stored bits.
    pub const fn from_bits(bits: u64) -> QueueWord {
        QueueWord(bits)
    }

    /// The word's stored bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The phase that accepts submissions. Wraps; slots are taken modulo [`PHASE_SLOTS`].
    pub const fn phase(self) -> u32 {
        self.0 as u32
    }

    /// Whether anybody may submit.
    pub const fn is_open(self) -> bool {
        self.0 & (DESTROYING | DRAINERS) == 0
    }

    /// Who may submit.
    pub const fn admits(self) -> Admit {
        if self.0 & DESTROYING != 0 {
            Admit::ChainedOthersOnly
        } else if self.0 & DRAINERS != 0 {
            Admit::ChainedOnly
        } else {
            Admit::Open
        }
    }

    /// Whether the queue is being destroyed.
    pub const fn is_destroying(self) -> bool {
        self.0 & DESTROYING != 0
    }

    /// Closes phase `expected` if it is still the current one and a slot is free: `done` is the oldest phase not yet
    /// known to be empty. Answers whether the word's phase is past `expected` afterwards.
    pub const fn close(self, expected: u32, done: u32) -> Step<QueueWord, bool> {
        if self.phase() != expected {
            return Step::Keep(true);
        }
        if expected.wrapping_sub(done) as usize >= PHASE_SLOTS - 1 {
            return Step::Keep(false);
        }
        let phase = expected.wrapping_add(1);
        // A carry out of the topmost bits is dropped: eras wrap.
        let base = if phase == 0 { self.0.wrapping_add(1 << ERA_SHIFT) } else { self.0 };
        let next = (base & !0xffff_ffff) | phase as u64;
        Step::Write(QueueWord(next), true)
    }

    /// A drain begins.
    ///
    /// # Panics
    /// If a million drains are under way.
    pub const fn begin_drain(self) -> Step<QueueWord, ()> {
        // The last number stays unused: no word has all bits set.
        assert!(self.0 & DRAINERS < DRAINERS - DRAINER_ONE, "too many drains of one queue at once");
        Step::Write(QueueWord(self.0 + DRAINER_ONE), ())
    }

    /// A drain ends.
    pub const fn end_drain(self) -> Step<QueueWord, ()> {
        Step::Write(QueueWord(self.0 - DRAINER_ONE), ())
    }

    /// Destruction begins. Answers whether it had begun already.
    pub const fn destroy(self) -> Step<QueueWord, bool> {
        Step::Write(QueueWord(self.0 | DESTROYING), self.is_destroying())
    }
}

/// The slot of a phase.
pub const fn slot(phase: u32) -> usize {
    phase as usize % PHASE_SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_moves_on_once_and_keeps_a_slot_free() {
        let mut word = QueueWord::OPEN;
        for phase in 0..PHASE_SLOTS as u32 - 1 {
            assert!(word.close(phase, 0).apply(&mut word));
            assert!(word.close(phase, 0).apply(&mut word), "a phase closed by another is closed");
            assert_eq!(word.phase(), phase + 1);
        }
        let full = PHASE_SLOTS as u32 - 1;
        assert!(!word.close(full, 0).apply(&mut word), "no slot is free");
        assert!(word.close(full, 1).apply(&mut word));
    }

    #[test]
    fn the_phase_wraps_without_touching_the_state() {
        let mut word = QueueWord::from_bits(u64::from(u32::MAX));
        word.begin_drain().apply(&mut word);
        word.destroy().apply(&mut word);
        assert!(word.close(u32::MAX, u32::MAX - 3).apply(&mut word));
        assert_eq!(word.phase(), 0);
        assert_eq!(word.bits() >> ERA_SHIFT, 1, "a word does not come back with the phase");
        assert_eq!(word.admits(), Admit::ChainedOthersOnly);
        word.end_drain().apply(&mut word);
        assert!(word.is_destroying());
    }

    #[test]
    fn eras_wrap_into_nothing_else() {
        let mut word = QueueWord::from_bits(u64::MAX << ERA_SHIFT | u64::from(u32::MAX));
        assert!(word.close(u32::MAX, u32::MAX).apply(&mut word));
        assert_eq!(word, QueueWord::OPEN);
    }

    #[test]
    #[should_panic(expected = "too many drains")]
    fn the_drains_do_not_reach_their_last_number() {
        let _ = QueueWord::from_bits(DRAINERS - DRAINER_ONE).begin_drain();
    }

    #[test]
    fn drains_nest() {
        let mut word = QueueWord::OPEN;
        word.begin_drain().apply(&mut word);
        word.begin_drain().apply(&mut word);
        word.end_drain().apply(&mut word);
        assert_eq!(word.admits(), Admit::ChainedOnly);
        assert!(!word.is_open());
        word.end_drain().apply(&mut word);
        assert_eq!(word.admits(), Admit::Open);
        assert!(word.is_open());
        word.destroy().apply(&mut word);
        assert!(!word.is_open());
    }
}
