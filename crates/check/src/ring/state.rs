//! The state: the ring's words, what the system knows of the waiter, and where each thread stands.

use super::property::Rule;
use super::scenario::{MESSAGES_MAX, POSTERS_MAX, Scenario};
use cmwq_core::completion::{HeadWord, RestWord};
use cmwq_core::pool::WakeWord;

/// Messages, in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Row {
    len: u8,
    values: [u8; MESSAGES_MAX],
}

impl Row {
    pub(super) fn push(&mut self, value: u8) {
        self.values[usize::from(self.len)] = value;
        self.len += 1;
    }

    /// The values.
    pub(super) fn as_slice(&self) -> &[u8] {
        &self.values[..usize::from(self.len)]
    }

    pub(super) fn contains(&self, value: u8) -> bool {
        self.as_slice().contains(&value)
    }
}

/// Where a poster stands: what it does next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Pc {
    /// Pushes the messages of its call; done when it has made its last.
    #[default]
    Push,
    /// Links what it has put at the head to what was there (broken form).
    Link(u8),
    /// Counts what it pushed, in another word (broken form).
    Count,
    /// Looks whether the waiter sleeps and whether it is due.
    Look,
    /// Claims the wake-up.
    Claim,
    /// Issues it: the kernel's one step, or the first of a futex's two.
    Issue,
    /// The second step of a futex: wakes whom it took off the queue.
    Wake,
    /// Marks it issued.
    Mark,
}

/// One poster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Poster {
    /// The call it is in.
    pub(super) call: u8,
    pub(super) pc: Pc,
    /// The head as its push made it.
    pub(super) head: HeadWord,
    /// The number it judges by where that is not in the head (broken form).
    pub(super) count: u8,
    /// The waiter's word as it found or claimed it.
    pub(super) saw: Word,
}

/// Where the waiter stands: what it does next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum At {
    /// Takes everything.
    #[default]
    Take,
    /// Stores the head empty that it has loaded (broken form).
    Clear(HeadWord),
    /// Counts what it took, in another word (broken form).
    Discount,
    /// Says that it sleeps.
    Park,
    /// Looks at the head again.
    SecondLook,
    /// Queues itself on its futex.
    Enter,
    /// Sleeps.
    Asleep,
    /// Says that it runs.
    Unpark,
    /// Has found the ring closed and taken what was left.
    Ended,
}

/// The waiter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Waiter {
    pub(super) at: At,
    /// Messages taken in this wait.
    pub(super) have: u8,
    /// Deadlines that may still pass.
    pub(super) timeouts: u8,
    /// This wait's deadline has passed.
    pub(super) timed_out: bool,
}

/// The waiter's word under each rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Word {
    /// None is read.
    #[default]
    Nothing,
    /// Messages that would be enough, until a poster has claimed them.
    Credit(u8),
    /// The wake word, and the need that was stored before it.
    Futex(WakeWord, u8),
    /// The ring's.
    Ring(RestWord),
}

/// What the explorer steps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The head; message `m` is node `m + 1`.
    pub(super) head: HeadWord,
    /// The node below each message, 0 for none.
    pub(super) below: [u8; MESSAGES_MAX],
    /// Which messages are not yet linked (broken form).
    pub(super) unlinked: u8,
    /// The count of its own (broken form).
    pub(super) count: u8,
    pub(super) word: Word,
    /// The system has something for the waiter: a token in its eventfd, a wake-up of the thread.
    pub(super) token: bool,
    /// The waiter is on its futex's queue.
    pub(super) queued: bool,
    pub(super) posters: [Poster; POSTERS_MAX],
    pub(super) waiter: Waiter,
    /// Messages whose post has returned.
    pub(super) returned: u8,
    pub(super) pushed: u8,
    /// A close has returned.
    pub(super) closed: bool,
    pub(super) taken: Row,
    /// A rule that a step broke.
    pub(super) broken: Option<(Rule, &'static str)>,
}

impl State {
    /// Nothing posted, the waiter about to wait.
    pub(super) fn first(scenario: &Scenario, word: Word) -> State {
        State {
            head: HeadWord::default(),
            below: [0; MESSAGES_MAX],
            unlinked: 0,
            count: 0,
            word,
            token: false,
            queued: false,
            posters: [Poster::default(); POSTERS_MAX],
            waiter: Waiter { timeouts: scenario.timeouts, ..Waiter::default() },
            returned: 0,
            pushed: 0,
            closed: false,
            taken: Row::default(),
            broken: None,
        }
    }

    /// Whether a poster has made all its calls.
    pub(super) fn is_done(&self, scenario: &Scenario, poster: usize) -> bool {
        usize::from(self.posters[poster].call) == scenario.posters[poster].len()
    }

    /// Whether the waiter sleeps and the system has nothing that would end it.
    pub(super) fn sleeps(&self) -> bool {
        self.waiter.at == At::Asleep && !self.token
    }

    /// What the waiter still needs.
    pub(super) fn need(&self, scenario: &Scenario) -> u8 {
        scenario.need.saturating_sub(self.waiter.have)
    }

    /// The messages behind a head, newest first.
    pub(super) fn list(&self, head: HeadWord) -> Row {
        let mut list = Row::default();
        let mut node = head.newest() as u8;
        while node != 0 && list.as_slice().len() < MESSAGES_MAX {
            list.push(node - 1);
            node = self.below[usize::from(node) - 1];
        }
        list
    }

    /// Whether those of the messages on the list that `among` has are worth waking for, or the ring is closed.
    pub(super) fn is_due(&self, scenario: &Scenario, among: u8) -> bool {
        let list = self.list(self.head);
        let there = list.as_slice().iter().filter(|&&m| among >> m & 1 == 1);
        let enough = there.clone().count() >= usize::from(self.need(scenario));
        let forced = there.clone().any(|&m| scenario.is_forced(m));
        self.closed || (there.count() > 0 && (enough || forced))
    }

    /// Forgets what can make no difference: epochs but for whether a word is of the present one.
    pub(super) fn normalise(&mut self) {
        let now = self.word.epoch();
        for poster in &mut self.posters {
            let same = poster.saw.epoch() == now;
            poster.saw = poster.saw.rebased(u64::from(same));
        }
        self.word = self.word.rebased(1);
        let held = self.list(self.head);
        for message in 0..MESSAGES_MAX as u8 {
            if !held.contains(message) {
                self.below[usize::from(message)] = 0;
            }
        }
    }

    pub(super) fn break_rule(&mut self, rule: Rule, what: &'static str) {
        self.broken.get_or_insert((rule, what));
    }
}

const WAKE_EPOCH: u32 = 2;
const REST_EPOCH: u32 = 21;

impl Word {
    /// How many messages the waiter waits for.
    pub(super) fn need(self) -> u32 {
        match self {
            Word::Nothing => 0,
            Word::Credit(need) | Word::Futex(_, need) => u32::from(need),
            Word::Ring(word) => word.need(),
        }
    }

    fn epoch(self) -> u64 {
        match self {
            Word::Futex(word, _) => u64::from(word.bits() >> WAKE_EPOCH),
            Word::Ring(word) => word.bits() >> REST_EPOCH,
            Word::Nothing | Word::Credit(_) => 0,
        }
    }

    fn rebased(self, epoch: u64) -> Word {
        match self {
            Word::Futex(word, need) => {
                let state = word.bits() & ((1 << WAKE_EPOCH) - 1);
                Word::Futex(WakeWord::from_bits(state | (epoch as u32) << WAKE_EPOCH), need)
            }
            Word::Ring(word) => {
                let state = word.bits() & ((1 << REST_EPOCH) - 1);
                Word::Ring(RestWord::from_bits(state | epoch << REST_EPOCH))
            }
            other => other,
        }
    }
}
