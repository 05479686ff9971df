use super::*;
use crate::completion::{Post, Urgency};

fn parked(need: u32, rester: Rester) -> RestWord {
    let mut word = RestWord::default();
    word.park(need, rester).apply(&mut word);
    word
}

fn list(count: u32, urgency: Urgency) -> HeadWord {
    let mut head = HeadWord::default();
    assert_eq!(head.post(7, count, urgency).apply(&mut head), Post::Posted { below: 0 });
    head
}

#[test]
fn a_wake_up_is_owed_exactly_when_parked_and_due() {
    for need in 1..5 {
        for rester in [Rester::Thread, Rester::Task] {
            let rest = parked(need, rester);
            assert_eq!((rest.need(), rest.rester(), rest.is_parked()), (need, rester, true));
            for count in 1..6 {
                let lazy = rest.owed(list(count, Urgency::Lazy));
                assert_eq!(lazy, if count >= need { Owed::Wake(rest) } else { Owed::Nothing });
                assert_eq!(rest.owed(list(count, Urgency::Forced)), Owed::Wake(rest));
            }
            let closed = HeadWord::default();
            assert_eq!(rest.owed(closed), Owed::Nothing);
            assert_eq!(rest.owed(closed.close().after(closed)), Owed::Wake(rest));
            let full = list(HeadWord::LENGTH_MAX, Urgency::Lazy);
            assert_eq!(rest.owed(full), Owed::Wake(rest), "a length that saturated is due");
            for silent in [rest.resume().after(rest), rest.issued(rest).after(rest)] {
                assert_eq!(silent.owed(full), Owed::Nothing);
            }
        }
    }
}

/// A mark that comes late must not silence another rest, however much that looks like the first.
#[test]
fn a_late_mark_leaves_the_next_rest_alone() {
    let first = parked(1, Rester::Thread);
    let mut word = first;
    word.resume().apply(&mut word);
    word.issued(first).apply(&mut word);
    assert_eq!(word, first.resume().after(first));
    word.park(1, Rester::Thread).apply(&mut word);
    word.issued(first).apply(&mut word);
    assert!(word.is_parked());
    let second = word;
    word.issued(second).apply(&mut word);
    assert!(!word.is_parked());
}

#[test]
fn needs_are_kept_in_range() {
    assert_eq!(parked(0, Rester::Thread).need(), 1);
    assert_eq!(parked(u32::MAX, Rester::Task).need(), RestWord::NEED_MAX);
    assert_eq!(parked(u32::MAX, Rester::Task).rester(), Rester::Task);
}

#[test]
fn the_epoch_wraps_and_touches_nothing_else() {
    let last = RestWord::from_bits(u64::MAX >> EPOCH_SHIFT << EPOCH_SHIFT);
    let next = last.park(3, Rester::Thread).after(last);
    assert_eq!((next.need(), next.is_parked(), next.rester()), (3, true, Rester::Thread));
    assert_eq!(next.bits() >> EPOCH_SHIFT, 0);
}
