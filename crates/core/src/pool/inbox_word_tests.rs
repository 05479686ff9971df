use super::*;
use crate::id::WorkerId;

const SLEEPERS: [Sleeper; 3] = [Sleeper::Manager, Sleeper::Worker(WorkerId(0)), Sleeper::Worker(WorkerId(7))];

fn all_words() -> Vec<InboxWord<u32>> {
    let marks = SLEEPERS.into_iter().map(InboxWord::StandBy);
    [InboxWord::Empty, InboxWord::List(1), InboxWord::List(2)].into_iter().chain(marks).collect()
}

#[test]
fn a_push_always_becomes_the_head_and_links_to_the_old_one() {
    for word in all_words() {
        let Step::Write(after, pushed) = word.push(9) else { panic!("a push always writes") };
        assert_eq!(after, InboxWord::List(9));
        assert_eq!(pushed.below, if let InboxWord::List(old) = word { Some(old) } else { None });
    }
}

#[test]
fn exactly_the_push_that_replaces_a_mark_owes_its_wake_up() {
    for sleeper in SLEEPERS {
        let mut word = InboxWord::StandBy(sleeper);
        assert_eq!(word.push(1).apply(&mut word).wake, Some(sleeper));
        assert_eq!(word.push(2).apply(&mut word).wake, None, "the first push has taken it on");
    }
    assert_eq!(InboxWord::Empty.push(1).apply(&mut InboxWord::Empty.clone()).wake, None);
}

#[test]
fn a_take_leaves_the_word_empty_and_says_what_was_there() {
    for word in all_words() {
        let expected = match word {
            InboxWord::Empty => Taken::Nothing,
            InboxWord::StandBy(sleeper) => Taken::Withdrawn(sleeper),
            InboxWord::List(item) => Taken::List(item),
        };
        let mut after = word;
        assert_eq!(word.take().apply(&mut after), expected);
        assert_eq!(after, InboxWord::Empty);
    }
}

#[test]
fn a_mark_never_replaces_a_list() {
    for word in all_words() {
        for sleeper in SLEEPERS {
            let mut after = word;
            let stands_by = word.stand_by(sleeper).apply(&mut after);
            let has_items = matches!(word, InboxWord::List(_));
            assert_eq!(stands_by, !has_items);
            assert_eq!(after, if has_items { word } else { InboxWord::StandBy(sleeper) });
        }
    }
}

/// B1 baton, on the word alone: in every sequence of pushes, takes and marks, whenever there are items, somebody owes
/// a wake-up or the last one who took has not yet put a mark.
#[test]
fn whenever_items_are_there_somebody_looks_or_has_been_told() {
    #[derive(Clone, Copy)]
    struct State {
        word: InboxWord<u32>,
        looker: bool,
    }
    fn walk(state: State, depth: u32) {
        assert!(!matches!(state.word, InboxWord::List(_)) || state.looker, "items and nobody looks");
        assert!(!matches!(state.word, InboxWord::StandBy(_)) || !state.looker, "a mark and somebody looks");
        if depth == 0 {
            return;
        }
        let mut pushed = state;
        pushed.looker |= pushed.word.push(depth).apply(&mut pushed.word).wake.is_some();
        walk(pushed, depth - 1);
        if state.looker {
            let mut taken = state;
            let _ = taken.word.take().apply(&mut taken.word);
            walk(taken, depth - 1);
            let mut left = state;
            left.looker = !left.word.stand_by(Sleeper::Manager).apply(&mut left.word);
            walk(left, depth - 1);
        }
    }
    walk(State { word: InboxWord::StandBy(Sleeper::Manager), looker: false }, 12);
}
