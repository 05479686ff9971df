//! The head of a list of free nodes: which is the first, and a number that tells lists apart.
//!
//! | bits | field | means |
//! |---|---|---|
//! | 0..20 | first | the first free node's index plus one, 0 for none |
//! | 20..64 | tag | grows with each removal |
//!
//! Nodes are linked by index. While tag and first are the same, the list is the same, to its end: what changes it
//! either removes nodes, and the tag grows, or adds some, and the first is another until they are removed (`R8
//! tagged`). The tag comes round after 2^44 removals, days of nothing else, during which a poster would have to be
//! stopped.

use crate::step::Step;

const FIRST_BITS: u32 = 20;
const FIRST: u64 = (1 << FIRST_BITS) - 1;

/// The word. See the table in the module's documentation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FreeWord(u64);

impl FreeWord {
    /// The most nodes a list can have.
    pub const NODES_MAX: u32 = FIRST as u32;

    /// The word from its stored bits.
    #[inline]
    pub const fn from_bits(bits: u64) -> FreeWord {
        FreeWord(bits)
    }

    /// The word's stored bits.
    #[inline]
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The first free node's index plus one, 0 for none.
    #[inline]
    pub const fn first(self) -> u32 {
        (self.0 & FIRST) as u32
    }

    /// Removes the nodes in front of `rest`, which is what the last of them links to.
    #[inline]
    pub const fn remove(self, rest: u32) -> Step<FreeWord, ()> {
        debug_assert!(rest as u64 <= FIRST && self.first() != 0);
        let tag = (self.0 & !FIRST).wrapping_add(FIRST + 1);
        Step::Write(FreeWord(tag | rest as u64), ())
    }

    /// Puts a chain in front, of which `first` is the first; its last links to what the answer says.
    #[inline]
    pub const fn add(self, first: u32) -> Step<FreeWord, u32> {
        debug_assert!(first != 0 && first as u64 <= FIRST);
        Step::Write(FreeWord(self.0 & !FIRST | first as u64), self.first())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every history of seven steps over three nodes: within it, a word that comes back stands for the same list.
    #[test]
    fn an_equal_word_stands_for_an_equal_list() {
        let mut ended = 0;
        explore(&mut vec![(FreeWord::default(), Vec::new())], &[1, 2, 3], &mut ended);
        assert!(ended > 1000, "{ended} histories");
    }

    fn explore(history: &mut Vec<(FreeWord, Vec<u32>)>, out: &[u32], ended: &mut u32) {
        let (word, list) = history.last().cloned().expect("a history begins somewhere");
        assert_eq!(word.first(), list.last().copied().unwrap_or(0));
        for (earlier, was) in history.iter() {
            assert!(*earlier != word || *was == list, "{word:?} stands for {was:?} and {list:?}");
        }
        if history.len() == 8 {
            *ended += 1;
            return;
        }
        for count in 1..=list.len() {
            let (kept, gone) = list.split_at(list.len() - count);
            history.push((word.remove(kept.last().copied().unwrap_or(0)).after(word), kept.to_vec()));
            explore(history, &[out, gone].concat(), ended);
            history.pop();
        }
        for node in out {
            let others: Vec<u32> = out.iter().copied().filter(|other| other != node).collect();
            let mut next = word;
            assert_eq!(word.add(*node).apply(&mut next), word.first());
            history.push((next, [&list[..], &[*node]].concat()));
            explore(history, &others, ended);
            history.pop();
        }
    }

    #[test]
    fn the_tag_wraps_and_touches_nothing_else() {
        let last = FreeWord::from_bits(u64::MAX);
        assert_eq!(last.remove(5).after(last).bits(), 5);
    }
}
