use super::*;

fn post(word: &mut HeadWord, newest: u64, count: u32, urgency: Urgency) -> Post {
    word.post(newest, count, urgency).apply(word)
}

/// All sequences of six steps against a naive list: length, forced, closed and below are what the list says.
#[test]
fn the_word_says_what_a_list_would() {
    for code in 0..4u32.pow(6) {
        let (mut word, mut list, mut forced, mut closed) = (HeadWord::default(), Vec::new(), false, false);
        for step in 0..6 {
            match code / 4u32.pow(step) % 4 {
                kind @ (0 | 1) => {
                    let (node, below) = (u64::from(step) + 1, list.last().copied().unwrap_or(0));
                    let urgency = if kind == 0 { Urgency::Lazy } else { Urgency::Forced };
                    let expected = if closed { Post::Closed } else { Post::Posted { below } };
                    assert_eq!(post(&mut word, node, 1, urgency), expected);
                    if !closed {
                        list.push(node);
                        forced |= kind == 1;
                    }
                }
                2 => {
                    let taken = word.take().apply(&mut word);
                    assert_eq!((taken.length() as usize, taken.is_forced()), (list.len(), forced));
                    list.clear();
                    forced = false;
                }
                _ => {
                    let was = word.close().apply(&mut word);
                    assert_eq!(was.is_closed(), closed);
                    closed = true;
                }
            }
            assert_eq!(word.newest(), list.last().copied().unwrap_or(0));
            assert_eq!(word.length() as usize, list.len());
            assert_eq!((word.is_forced(), word.is_closed()), (forced, closed));
            for need in 1..4 {
                assert_eq!(word.is_due(need), forced || closed || list.len() >= need as usize);
            }
        }
    }
}

#[test]
fn a_length_that_overflows_saturates_and_is_due() {
    let mut word = HeadWord::default();
    let _ = post(&mut word, 1, HeadWord::LENGTH_MAX - 1, Urgency::Lazy);
    assert!(!word.is_due(HeadWord::LENGTH_MAX));
    for node in 2..5 {
        let _ = post(&mut word, node, if node == 4 { u32::MAX } else { 1 }, Urgency::Lazy);
        assert_eq!((word.length(), word.newest()), (HeadWord::LENGTH_MAX, node));
        assert!(!word.is_forced() && !word.is_closed(), "the neighbours of the length are untouched");
        assert!(word.is_due(u32::MAX));
    }
}

#[test]
fn every_name_of_a_node_fits() {
    for node in [1, 0xfff_ffff, HeadWord::NODES_END - 1] {
        let mut word = HeadWord::default();
        let _ = post(&mut word, node, HeadWord::LENGTH_MAX, Urgency::Forced);
        assert_eq!((word.newest(), word.length(), word.is_forced()), (node, HeadWord::LENGTH_MAX, true));
    }
}

#[test]
fn the_masks_are_the_transitions() {
    for code in 0..16u64 {
        let word = HeadWord::from_bits((code & 3) | ((code >> 2) * 0x1234_5678_9abc));
        assert_eq!(word.take().after(word).bits(), word.bits() & HeadWord::KEPT);
        assert_eq!(word.close().after(word).bits(), word.bits() | HeadWord::CLOSE);
    }
}
