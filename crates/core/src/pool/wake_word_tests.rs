use super::*;

fn parked() -> WakeWord {
    let mut word = WakeWord::RUN;
    word.announce().apply(&mut word);
    word
}

fn claimed(word: &mut WakeWord) -> WakeWord {
    let Claim::Issue(token) = word.claim().apply(word) else { panic!("a parked sleeper is claimed") };
    token
}

#[test]
fn an_awake_sleeper_is_owed_nothing() {
    let word = WakeWord::RUN;
    assert_eq!(word.claim(), Step::Keep(Claim::Nothing));
    assert!(!word.is_parked() && !word.is_woken());
}

#[test]
fn the_first_claim_issues_and_later_ones_help_until_it_is_issued() {
    let mut word = parked();
    assert!(word.is_parked() && !word.is_woken());
    let token = claimed(&mut word);
    assert!(word.is_woken() && !word.is_parked());
    let before = word;
    assert_eq!(word.claim().apply(&mut word), Claim::Help(token), "a helper issues with the claimer's word");
    assert_eq!(word, before);
    word.issued(token).apply(&mut word);
    assert!(word.is_woken());
    assert_eq!(word.claim(), Step::Keep(Claim::Nothing));
}

#[test]
fn a_helper_may_mark_it_issued_and_the_claimer_afterwards_changes_nothing() {
    let mut word = parked();
    let token = claimed(&mut word);
    let Claim::Help(helped) = word.claim().apply(&mut word) else { panic!("it is claimed") };
    word.issued(helped).apply(&mut word);
    assert_eq!(word.issued(token), Step::Keep(()));
}

#[test]
fn a_wake_up_is_consumed_in_whatever_state_it_is() {
    let mut word = parked();
    let token = claimed(&mut word);
    for state in [parked(), word, token.issued(token).after(token)] {
        let resumed = state.resume().after(state);
        assert_eq!(resumed.claim(), Step::Keep(Claim::Nothing));
        assert!(!resumed.is_parked() && !resumed.is_woken());
    }
}

#[test]
fn a_late_mark_of_an_old_cycle_does_not_silence_the_new_one() {
    let mut word = parked();
    let old = claimed(&mut word);
    word.resume().apply(&mut word);
    word.announce().apply(&mut word);
    word.issued(old).apply(&mut word);
    assert!(word.is_parked(), "parked anew: the old mark is not for this sleep");
    let new = claimed(&mut word);
    assert_ne!(old, new);
    word.issued(old).apply(&mut word);
    assert_eq!(word.claim(), Step::Keep(Claim::Help(new)), "claimed anew: it still has to be issued");
    word.issued(new).apply(&mut word);
    assert_eq!(word.claim(), Step::Keep(Claim::Nothing));
}

#[test]
fn the_epoch_grows_with_every_sleep_and_wraps_without_touching_the_state() {
    let last = WakeWord::from_bits(!STATE);
    let mut word = last;
    word.announce().apply(&mut word);
    assert_eq!(word, WakeWord::from_bits(PARKED), "the epoch has wrapped to zero");
    let token = claimed(&mut word);
    word.issued(token).apply(&mut word);
    word.resume().apply(&mut word);
    word.announce().apply(&mut word);
    assert_eq!(word, WakeWord::from_bits(EPOCH_ONE | PARKED));
}

#[test]
fn a_mark_is_mistaken_only_after_the_whole_range_of_epochs() {
    let mut word = parked();
    let old = claimed(&mut word);
    for shift in 0..30 {
        let later = WakeWord::from_bits(old.bits().wrapping_add(EPOCH_ONE << shift));
        assert_eq!(later.issued(old), Step::Keep(()));
    }
}

/// Every order of two wakers (each: claim, then issue and mark) and one sleeper over several cycles: no sleep without
/// an issued wake-up is left once both wakers are done, if one of them came after the announcement.
#[test]
fn whoever_comes_after_the_announcement_leaves_the_sleeper_woken() {
    #[derive(Clone, Copy, PartialEq)]
    enum Waker {
        Before,
        Claimed(WakeWord),
        Done,
    }
    #[derive(Clone, Copy)]
    struct State {
        word: WakeWord,
        wakers: [Waker; 2],
        /// The system call has been made in this cycle.
        called: bool,
        /// Somebody has begun to wake after the announcement.
        due: bool,
        sleeps: u32,
    }
    fn walk(state: State) {
        if state.wakers == [Waker::Done; 2] {
            assert!(!state.due || state.called || !state.word.is_parked() && !state.word.is_woken());
        }
        for at in 0..2 {
            let mut next = state;
            match state.wakers[at] {
                Waker::Before => {
                    next.due |= state.word.is_parked() || state.word.is_woken();
                    next.wakers[at] = match state.word.claim().apply(&mut next.word) {
                        Claim::Nothing => Waker::Done,
                        Claim::Issue(token) | Claim::Help(token) => Waker::Claimed(token),
                    };
                    if next.wakers[at] == Waker::Done && next.due {
                        assert!(state.called, "who may go on without a call relies on one that was made");
                    }
                }
                Waker::Claimed(token) => {
                    next.called = true;
                    state.word.issued(token).apply(&mut next.word);
                    next.wakers[at] = Waker::Done;
                }
                Waker::Done => continue,
            }
            walk(next);
        }
        // The sleeper wakes up, by the call or on its own, and sleeps again.
        if state.sleeps < 3 {
            let mut next = State { called: false, due: false, sleeps: state.sleeps + 1, ..state };
            next.word.resume().apply(&mut next.word);
            next.word.announce().apply(&mut next.word);
            walk(next);
        }
    }
    walk(State { word: parked(), wakers: [Waker::Before; 2], called: false, due: false, sleeps: 0 });
}
