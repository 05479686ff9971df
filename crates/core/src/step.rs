//! What a pure transition of a word answers, and how a sequential driver applies it.
//!
//! A word is a `Copy` value. A transition looks at it and says either "keep it" or "write this", each with an answer
//! for the caller. Threads apply a transition in a compare-and-swap loop, a checker as one indivisible step, a
//! simulator by plain assignment; the transition does not know which of them drives it.

/// The two things a transition can decide about a word.
///
/// The two-case shape is deliberate: it compiles to the loop one would write by hand, which a pair
/// `(Option<Word>, Answer)` does not.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step<W, A> {
    /// The word stays as it is. A driver whose caller relies on ordering still performs a read-modify-write.
    Keep(A),
    /// The word becomes the first value.
    Write(W, A),
}

impl<W: Copy, A> Step<W, A> {
    /// Applies the step to a word owned by the caller and returns the answer. Never blocks.
    pub fn apply(self, word: &mut W) -> A {
        match self {
            Step::Keep(answer) => answer,
            Step::Write(next, answer) => {
                *word = next;
                answer
            }
        }
    }

    /// The value the word has after the step, given the value it had before.
    pub fn after(&self, before: W) -> W {
        match self {
            Step::Keep(_) => before,
            Step::Write(next, _) => *next,
        }
    }
}
