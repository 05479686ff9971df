use super::*;
use std::collections::{HashSet, VecDeque};

/// Where the pending instance is: the part of an item's state that its word does not carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    Nowhere,
    /// Claimed; the submission has not yet called `hand_over` or pushed.
    FoundRunning,
    /// Claimed by a submission, or taken over from one, that is about to push.
    Pushing,
    Linked,
    /// Left to the finisher.
    Handed,
    /// A canceller's, linked nowhere: unlinked, or taken back, or off a timer.
    Owned,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Move {
    Submit,
    HandOver,
    StayBehind,
    Push,
    Start,
    Finish,
    Cancel,
    TakeBack,
    Renew,
    Disable,
    Enable,
}

const MOVES: [Move; 11] = [
    Move::Submit,
    Move::HandOver,
    Move::StayBehind,
    Move::Push,
    Move::Start,
    Move::Finish,
    Move::Cancel,
    Move::TakeBack,
    Move::Renew,
    Move::Disable,
    Move::Enable,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Item {
    word: WorkWord,
    place: Place,
}

impl Item {
    const IDLE: Item = Item { word: WorkWord::IDLE, place: Place::Nowhere };

    /// Whether the protocol lets anybody make this move now. What the word alone decides is not asked here.
    fn allows(self, step: Move) -> bool {
        match step {
            Move::Submit => true,
            Move::HandOver | Move::StayBehind => {
                self.place == Place::FoundRunning || self.place == Place::Owned && self.word.is_running()
            }
            Move::Push => {
                self.place == Place::Pushing || self.place == Place::Owned && !self.word.is_running()
            }
            // O1 order excludes: what stays behind a run is started after it.
            Move::Start => self.place == Place::Linked && !self.word.is_running(),
            Move::Finish => self.word.is_running(),
            Move::Cancel | Move::Renew => matches!(self.place, Place::Linked | Place::Handed | Place::Owned),
            Move::TakeBack => self.place == Place::Handed,
            // Deeper than two is nothing new.
            Move::Disable => self.word.disable_depth() < 2,
            Move::Enable => true,
        }
    }

    /// Makes a move and checks what holds of it whatever the state.
    fn make(&mut self, step: Move) {
        let before = self.word;
        match step {
            Move::Submit => self.submit(),
            Move::HandOver => {
                self.place = match self.word.hand_over().apply(&mut self.word) {
                    HandOver::Left => Place::Handed,
                    HandOver::Push => Place::Pushing,
                };
            }
            Move::StayBehind => {
                self.word.stay_behind().apply(&mut self.word);
                self.place = Place::Pushing;
            }
            Move::Push => self.place = Place::Linked,
            Move::Start => {
                self.word.start().apply(&mut self.word);
                self.place = Place::Nowhere;
            }
            Move::Finish => {
                let ended = self.word.finish().apply(&mut self.word);
                assert_eq!(ended.push, self.place == Place::Handed, "a hand-over is pushed exactly once");
                if ended.push {
                    self.place = Place::Pushing;
                }
                assert!(!self.word.is_running());
                assert!(self.word.ended() != before.ended());
            }
            Move::Cancel => {
                let ended = self.word.cancel().apply(&mut self.word);
                assert!(!ended.push, "a cancelled instance is not pushed");
                assert_eq!(self.word.is_running(), before.is_running());
                self.place = Place::Nowhere;
            }
            Move::TakeBack => {
                assert!(
                    self.word.take_back().apply(&mut self.word),
                    "what was handed over can be taken back"
                );
                self.place = Place::Owned;
            }
            Move::Renew => {
                let ended = self.word.renew().apply(&mut self.word);
                assert!(!ended.push, "a cancelled instance is not pushed");
                let mut cancelled = before;
                let _ = before.cancel().apply(&mut cancelled);
                assert_eq!((cancelled.ended(), cancelled.skips()), (self.word.ended(), self.word.skips()));
                self.place = Place::Owned;
            }
            Move::Disable => {
                assert!(self.word.disable().apply(&mut self.word));
                assert_eq!(self.word.disable_depth(), before.disable_depth() + 1);
                assert_eq!(self.word.enable().after(self.word), before, "an enable takes back one disable");
            }
            Move::Enable => {
                let answer = self.word.enable().apply(&mut self.word);
                assert_eq!(answer == Enable::Enabled, before.disable_depth() == 1);
                assert_eq!(self.word.disable_depth(), before.disable_depth().saturating_sub(1));
            }
        }
        if !matches!(step, Move::Disable | Move::Enable) {
            assert_eq!(self.word.disable_depth(), before.disable_depth(), "the depth survives {step:?}");
        }
        self.check();
    }

    fn submit(&mut self) {
        let before = self.word;
        let step = before.submit();
        assert!(matches!(step, Step::Write(..)), "W2: a submission always writes");
        match step.apply(&mut self.word) {
            Submit::AlreadyPending => assert_eq!(self.word, before, "W2: a refusal writes the same value"),
            Submit::Disabled => {
                assert_eq!(self.word, before, "W2: a refusal writes the same value");
                assert_ne!(before.disable_depth(), 0);
            }
            answer => {
                assert_eq!(self.place, Place::Nowhere, "W1: one owner");
                assert_eq!(before.disable_depth(), 0, "a disabled item is not claimed");
                assert_eq!(answer == Submit::HandOver, before.is_running());
                self.place = if before.is_running() { Place::FoundRunning } else { Place::Pushing };
            }
        }
        assert_eq!(self.word.ended(), before.ended());
    }

    fn check(self) {
        let Item { word, place } = self;
        assert_eq!(word.is_pending(), place != Place::Nowhere, "pending is somewhere: {self:?}");
        assert_eq!(word.is_handed(), place == Place::Handed, "{self:?}");
        assert!(!word.is_handed() || word.is_running(), "only a finisher takes hand-overs: {self:?}");
        let linked = matches!(place, Place::Linked | Place::Pushing);
        assert!(
            !(linked && word.is_running()) || word.is_behind(),
            "W6: what is linked does not run: {self:?}"
        );
        assert!(
            !word.is_behind() || linked && word.is_running(),
            "only what runs has another behind it: {self:?}"
        );
        assert!(word.is_running() || word.skips() == 0, "skips belong to a run: {self:?}");
        assert_eq!(
            word.flush_target() == FlushTarget::Idle,
            !word.is_pending() && !word.is_running(),
            "{self:?}"
        );
    }

    /// The same item with the count of ended instances cut to two bits, so that the states are finite.
    fn folded(self) -> Item {
        Item { word: WorkWord::from_bits(self.word.bits() & 0x3_ffff_ffff), ..self }
    }
}

/// Every state that protocol-abiding callers can reach, a waiter's announcement at any time included.
fn reachable() -> HashSet<Item> {
    let claimed = Item { word: WorkWord::CLAIMED, place: Place::Pushing };
    let mut seen: HashSet<Item> = [Item::IDLE, claimed].into();
    let mut queue: VecDeque<Item> = seen.iter().copied().collect();
    while let Some(item) = queue.pop_front() {
        let moved = MOVES.iter().filter(|&&step| item.allows(step)).map(|&step| {
            let mut next = item;
            next.make(step);
            next
        });
        let mut next: Vec<Item> = moved.collect();
        if let FlushTarget::Until(target) = item.word.flush_target() {
            let mut announced = item;
            assert!(announced.word.announce_waiter(target).apply(&mut announced.word));
            next.push(announced);
        }
        for item in next {
            let folded = item.folded();
            if seen.insert(folded) {
                queue.push_back(folded);
            }
        }
    }
    seen
}

#[test]
fn every_reachable_word_keeps_the_invariants() {
    // `make` asserts them on every edge; here the set is what the table of the essay says it is.
    let seen = reachable();
    let mut shapes: Vec<String> = seen
        .iter()
        .map(|i| {
            let skips = if i.word.skips() > 0 { "+skips" } else { "" };
            let running = if i.word.is_running() { "running" } else { "still" };
            format!("{running} {:?}{skips}", i.place)
        })
        .collect();
    shapes.sort();
    shapes.dedup();
    let expected = [
        "running FoundRunning",
        "running FoundRunning+skips",
        "running Handed",
        "running Handed+skips",
        "running Linked",
        "running Linked+skips",
        "running Nowhere",
        "running Nowhere+skips",
        "running Owned",
        "running Owned+skips",
        "running Pushing",
        "running Pushing+skips",
        "still FoundRunning",
        "still Linked",
        "still Nowhere",
        "still Owned",
        "still Pushing",
    ];
    assert_eq!(shapes, expected);
    assert!(seen.len() > 3_000, "skips, waiters and counts multiply the shapes: {}", seen.len());
}

#[test]
fn a_refused_submission_changes_nothing_in_any_reachable_state() {
    for item in reachable() {
        if item.word.disable_depth() != 0 {
            assert_eq!(item.word.submit(), Step::Write(item.word, Submit::Disabled));
        } else if item.word.is_pending() {
            assert_eq!(item.word.submit(), Step::Write(item.word, Submit::AlreadyPending));
        } else {
            assert!(matches!(item.word.submit(), Step::Write(_, Submit::Push | Submit::HandOver)));
        }
    }
}

#[test]
fn a_claim_has_one_owner_until_the_instance_starts_or_is_cancelled() {
    for item in reachable().into_iter().filter(|i| i.word.is_pending()) {
        for step in MOVES.into_iter().filter(|&s| item.allows(s)) {
            let mut next = item;
            next.make(step);
            let ends = matches!(step, Move::Start | Move::Cancel);
            assert_eq!(next.word.is_pending(), !ends, "{item:?} {step:?}");
        }
    }
}

#[test]
fn transitions_leave_the_unused_bits_alone() {
    for item in reachable() {
        let unused = 0xe0;
        assert_eq!(item.word.bits() & unused, 0, "{item:?}");
    }
}

/// A thread that waits for one instance, and which one that is.
#[derive(Clone, Copy, Debug)]
struct Waiter {
    target: u32,
    instance: usize,
}

/// Which instances have been claimed, and what became of each; by number, in the order of the claims.
#[derive(Clone, Debug, Default)]
struct History {
    ended: Vec<bool>,
    running: Option<usize>,
    pending: Option<usize>,
}

impl History {
    fn record(&mut self, step: Move, before: Item) {
        match step {
            Move::Submit if !before.word.is_pending() && before.word.disable_depth() == 0 => {
                self.pending = Some(self.ended.len());
                self.ended.push(false);
            }
            Move::Start => self.running = self.pending.take(),
            Move::Finish => self.ended[self.running.take().unwrap()] = true,
            Move::Cancel => self.ended[self.pending.take().unwrap()] = true,
            Move::Renew => {
                self.ended[self.pending.take().unwrap()] = true;
                self.pending = Some(self.ended.len());
                self.ended.push(false);
            }
            _ => {}
        }
    }

    /// Whether this instance and all that were claimed before it have ended or been cancelled.
    fn is_over(&self, instance: usize) -> bool {
        self.ended[..=instance].iter().all(|&e| e)
    }
}

/// Walks every sequence of moves up to `depth`, with a waiter that joins after each move.
fn walk(item: Item, history: &History, waiters: &mut Vec<Waiter>, depth: usize) {
    for waiter in waiters.iter() {
        let over = history.is_over(waiter.instance);
        assert_eq!(item.word.has_ended(waiter.target), over, "{item:?} {waiter:?} {history:?}");
        let announced = matches!(item.word.announce_waiter(waiter.target), Step::Write(_, true));
        assert_eq!(announced, !over, "who must not sleep is told so");
    }
    if depth == 0 {
        return;
    }
    let joined = match item.word.flush_target() {
        FlushTarget::Idle => false,
        FlushTarget::Until(target) => {
            let instance = history.pending.or(history.running).unwrap();
            waiters.push(Waiter { target, instance });
            true
        }
    };
    // A depth of disables changes nothing of this.
    for step in MOVES[..9].iter().copied().filter(|&s| item.allows(s)) {
        let (mut next, mut after) = (item, history.clone());
        next.make(step);
        after.record(step, item);
        walk(next, &after, waiters, depth - 1);
    }
    if joined {
        waiters.pop();
    }
}

#[test]
fn a_flush_is_released_exactly_when_its_instance_is_over() {
    walk(Item::IDLE, &History::default(), &mut Vec::new(), 12);
}

#[test]
fn a_flush_is_released_exactly_across_the_wrap_of_the_count() {
    for ended in [u32::MAX, u32::MAX - 1, i32::MAX as u32, i32::MAX as u32 - 1] {
        let word = WorkWord::from_bits(u64::from(ended) << 32);
        walk(Item { word, ..Item::IDLE }, &History::default(), &mut Vec::new(), 10);
    }
}

/// An instance runs, and the next one has been claimed and left to the finisher.
fn running_with_next() -> Item {
    let mut item = Item::IDLE;
    for step in [Move::Submit, Move::Push, Move::Start, Move::Submit, Move::HandOver] {
        item.make(step);
    }
    item
}

#[test]
fn the_end_of_an_instance_wakes_those_who_announced_themselves() {
    let mut item = running_with_next();
    let FlushTarget::Until(target) = item.word.flush_target() else { panic!("it runs") };
    assert!(item.word.announce_waiter(target).apply(&mut item.word));
    assert!(!item.word.cancel().apply(&mut item.word).wake, "the running instance has not ended");
    let ended = item.word.finish().apply(&mut item.word);
    assert_eq!(ended, Ended { push: false, wake: true });
    assert!(item.word.has_ended(target), "the cancelled instance is counted with the running one");
    assert_eq!(item.word.ended(), 2);
}

#[test]
fn cancelling_a_still_item_wakes_its_waiters() {
    let mut item = Item::IDLE;
    item.make(Move::Submit);
    item.make(Move::Push);
    let FlushTarget::Until(target) = item.word.flush_target() else { panic!("it is pending") };
    assert!(item.word.announce_waiter(target).apply(&mut item.word));
    assert!(item.word.cancel().apply(&mut item.word).wake);
    assert!(!item.word.announce_waiter(target).apply(&mut item.word), "nobody sleeps for what is over");
}

#[test]
fn more_cancels_than_can_be_counted_release_nobody_early_and_everybody_once_idle() {
    let mut item = running_with_next();
    for _ in 0..255 {
        item.make(Move::Cancel);
        item.make(Move::Submit);
        item.make(Move::HandOver);
    }
    let FlushTarget::Until(target) = item.word.flush_target() else { panic!("it runs") };
    item.make(Move::Cancel);
    assert!(!item.word.has_ended(target), "the instance before it still runs");
    let before = item;

    item.make(Move::Finish);
    assert!(item.word.has_ended(target), "an item that is idle has no instance to wait for");

    let mut item = before;
    item.make(Move::Submit);
    let FlushTarget::Until(next) = item.word.flush_target() else { panic!("it runs") };
    assert_eq!(next, target, "the next instance takes the number over");
    item.make(Move::HandOver);
    item.make(Move::Finish);
    assert!(!item.word.has_ended(next), "it has not run");
    item.make(Move::Push);
    item.make(Move::Start);
    item.make(Move::Finish);
    assert!(item.word.has_ended(next));
}

/// Letting go is a single read-modify-write of the driver; it is the transition, for every combination of the low bits.
#[test]
fn clearing_the_claim_bit_is_letting_go() {
    for low in 0..1u64 << 16 {
        for ended in [0, 1, u64::from(u32::MAX)] {
            let word = WorkWord::from_bits(ended << 32 | low);
            assert_eq!(word.let_go().after(word).bits(), word.bits() & WorkWord::KEPT);
        }
    }
}

#[test]
fn an_item_that_is_let_go_remembers_nothing() {
    let mut item = Item::IDLE;
    item.make(Move::Submit);
    item.make(Move::Push);
    item.word.let_go().apply(&mut item.word);
    assert_eq!(
        item.word,
        WorkWord::IDLE,
        "it can be submitted again at once, and pushed by whoever submits it"
    );
    assert!(matches!(item.word.submit(), Step::Write(_, Submit::Push)));
}
