use super::*;
use crate::id::{PwqId, WorkerId};

const P: PwqId = PwqId(3);
const OTHER: PwqId = PwqId(4);

const SLEEPERS: [Sleeper; 3] = [Sleeper::Manager, Sleeper::Worker(WorkerId(0)), Sleeper::Worker(WorkerId(7))];

fn all_words() -> Vec<InboxWord<u32>> {
    let marks = SLEEPERS.into_iter().map(InboxWord::StandBy);
    let items = [InboxWord::List(1), InboxWord::List(2), InboxWord::One(1)];
    let leases = [InboxWord::Leased(P), InboxWord::Leased(OTHER)];
    [InboxWord::Empty].into_iter().chain(items).chain(leases).chain(marks).collect()
}

#[test]
fn a_push_always_becomes_the_head_and_links_to_the_old_one() {
    for word in all_words() {
        let Step::Write(after, pushed) = word.push(9, P) else { panic!("a push always writes") };
        let one = word == InboxWord::Leased(P);
        assert_eq!(after, if one { InboxWord::One(9) } else { InboxWord::List(9) });
        let below = if let InboxWord::List(old) | InboxWord::One(old) = word { Some(old) } else { None };
        assert_eq!(pushed.below, below);
    }
}

#[test]
fn exactly_the_push_that_replaces_a_mark_owes_its_wake_up() {
    for sleeper in SLEEPERS {
        let mut word = InboxWord::StandBy(sleeper);
        assert_eq!(word.push(1, P).apply(&mut word).wake, Some(sleeper));
        assert_eq!(word.push(2, P).apply(&mut word).wake, None, "the first push has taken it on");
    }
    assert_eq!(InboxWord::Empty.push(1, P).apply(&mut InboxWord::Empty.clone()).wake, None);
}

#[test]
fn a_take_leaves_the_word_empty_and_says_what_was_there() {
    for word in all_words() {
        let expected = match word {
            InboxWord::Empty | InboxWord::Leased(_) => Taken::Nothing,
            InboxWord::StandBy(sleeper) => Taken::Withdrawn(sleeper),
            InboxWord::List(item) | InboxWord::One(item) => Taken::List(item),
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
            let has_items = matches!(word, InboxWord::List(_) | InboxWord::One(_));
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
        pushed.looker |= pushed.word.push(depth, P).apply(&mut pushed.word).wake.is_some();
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

#[test]
fn a_lease_lets_one_item_of_its_pwq_be_taken_and_goes_on() {
    let mut word = InboxWord::Empty;
    assert!(word.lease(P).apply(&mut word));
    assert_eq!(word.take_one(P).apply(&mut word), None, "nothing is there");
    for item in 1..4 {
        assert_eq!(word.push(item, P).apply(&mut word), Pushed { below: None, wake: None });
        assert_eq!(word.take_one(P).apply(&mut word), Some(item));
        assert_eq!(word, InboxWord::Leased(P));
    }
}

#[test]
fn whatever_else_happens_ends_the_lease() {
    let leased = InboxWord::Leased(P);
    let one = leased.push(1, P).after(leased);
    let ends = [
        leased.push(1, OTHER).after(leased),
        one.push(2, P).after(one),
        leased.take().after(leased),
        one.take().after(one),
        leased.stand_by(Sleeper::Manager).after(leased),
    ];
    for word in ends {
        assert_eq!(word.take_one(P).after(word), word, "{word:?}: the leaseholder takes nothing");
        assert!(!matches!(word, InboxWord::Leased(_)));
    }
    assert_eq!(one.take(), Step::Write(InboxWord::Empty, Taken::List(1)), "its item is not lost");
}

#[test]
fn a_lease_is_taken_only_of_an_empty_inbox() {
    for word in all_words() {
        assert_eq!(matches!(word.lease(P), Step::Write(..)), word == InboxWord::Empty, "{word:?}");
    }
}
