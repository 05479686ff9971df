//! The state: the ring's words, what the system knows of the waiter, and where each thread stands.

use super::property::Rule;
use super::scenario::{MESSAGES_MAX, POSTERS_MAX, Scenario};
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
    Link(Option<u8>),
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
    /// The length of the list its push made, and whether a forced message is in it.
    pub(super) length: u8,
    pub(super) forced: bool,
    /// The waiter's word as it found or claimed it.
    pub(super) saw: Word,
}

/// Where the waiter stands: what it does next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum At {
    /// Takes everything.
    #[default]
    Take,
    /// Stores the list empty that it has loaded, of that many messages (broken form).
    Clear(u8),
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
    Ring(RingState),
}

/// What the explorer steps.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    /// The list behind the head, oldest first, and whether a forced message was pushed since it was empty.
    pub(super) list: Row,
    pub(super) forced: bool,
    /// Which messages are linked to what is behind them.
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
    pub(super) taken: Row,
    /// A rule that a step broke.
    pub(super) broken: Option<(Rule, &'static str)>,
}

impl State {
    /// Nothing posted, the waiter about to wait.
    pub(super) fn first(scenario: &Scenario, word: Word) -> State {
        State {
            list: Row::default(),
            forced: false,
            unlinked: 0,
            count: 0,
            word,
            token: false,
            queued: false,
            posters: [Poster::default(); POSTERS_MAX],
            waiter: Waiter { timeouts: scenario.timeouts, ..Waiter::default() },
            returned: 0,
            pushed: 0,
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

    /// Whether those of the messages on the list that `among` has are worth waking for.
    pub(super) fn is_due(&self, scenario: &Scenario, among: u8) -> bool {
        let there = self.list.as_slice().iter().filter(|&&m| among >> m & 1 == 1);
        let enough = there.clone().count() >= usize::from(self.need(scenario));
        let mut forced = there.clone().filter(|&&m| scenario.is_forced(m));
        there.clone().next().is_some() && (enough || forced.next().is_some())
    }

    pub(super) fn break_rule(&mut self, rule: Rule, what: &'static str) {
        self.broken.get_or_insert((rule, what));
    }
}

/// TEMP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct RingState {
    epoch: u8,
    need: u8,
    phase: u8,
}

impl RingState {
    pub(super) fn is_parked(self) -> bool {
        self.phase == 1
    }
    pub(super) fn need(self) -> u8 {
        self.need
    }
    pub(super) fn park(self, need: u8) -> RingState {
        RingState { epoch: self.epoch + 1, need, phase: 1 }
    }
    pub(super) fn resume(self) -> RingState {
        RingState { phase: 0, ..self }
    }
    pub(super) fn issued(self, saw: RingState) -> RingState {
        if self == saw && self.phase == 1 { RingState { phase: 2, ..self } } else { self }
    }
}
