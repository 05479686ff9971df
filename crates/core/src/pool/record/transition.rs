//! What threads do to a pool's lock-free words, of which the core under the lock knows nothing.

use super::words::{Reader, Words};
use crate::id::{PwqId, Sleeper, WorkerId};
use crate::time::Tick;
use core::fmt;

/// A thread, as a recording knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Thread {
    /// A worker of an engine, by its number in its pool.
    Worker(WorkerId),
    /// Another thread, by the order in which threads of the process have come to a recorded word.
    Other(u32),
}

/// One step of a thread on a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Inbox: an item has been pushed, and whoever stood by is owed a wake-up.
    Pushed(Option<Sleeper>),
    /// Inbox: taken under the lock, with whatever was in it.
    Taken,
    /// Inbox: a stand-by mark has been left.
    StoodBy(Sleeper),
    /// Inbox: a stand-by mark was refused, since items had arrived.
    Refused(Sleeper),
    /// Inbox: leased for items of this pwq.
    Leased(PwqId),
    /// Inbox: the leaseholder has taken an item.
    TookOne(PwqId),
    /// Wake word: its owner is about to sleep.
    Announced(WorkerId),
    /// Wake word: a wake-up has been claimed.
    Claimed(Sleeper),
    /// Wake word: a wake-up has been issued, by who claimed it or by another.
    Issued(Sleeper),
    /// Wake word: its owner is up again.
    Resumed(WorkerId),
}

/// One step, with who took it and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transition {
    /// Read by the thread after the step.
    pub now: Tick,
    /// Who.
    pub thread: Thread,
    /// What.
    pub change: Change,
}

const OTHER: u64 = 1 << 32;
const NOBODY: u64 = 0;
const MANAGER: u64 = 1;
const FIRST_WORKER: u64 = 2;

fn sleeper_bits(sleeper: Sleeper) -> u64 {
    match sleeper {
        Sleeper::Manager => MANAGER,
        Sleeper::Worker(worker) => u64::from(worker.0) + FIRST_WORKER,
    }
}

fn sleeper(bits: u64) -> Option<Sleeper> {
    match bits {
        NOBODY => None,
        MANAGER => Some(Sleeper::Manager),
        worker => Some(Sleeper::Worker(WorkerId(u32::try_from(worker - FIRST_WORKER).ok()?))),
    }
}

impl Transition {
    /// As words that are written one by one.
    pub fn to_words(self) -> [u64; 3] {
        let thread = match self.thread {
            Thread::Worker(worker) => u64::from(worker.0),
            Thread::Other(number) => OTHER | u64::from(number),
        };
        let (kind, value) = match self.change {
            Change::Pushed(owed) => (0, owed.map_or(NOBODY, sleeper_bits)),
            Change::Taken => (1, 0),
            Change::StoodBy(by) => (2, sleeper_bits(by)),
            Change::Refused(by) => (3, sleeper_bits(by)),
            Change::Leased(pwq) => (4, u64::from(pwq.0)),
            Change::TookOne(pwq) => (5, u64::from(pwq.0)),
            Change::Announced(worker) => (6, u64::from(worker.0)),
            Change::Claimed(by) => (7, sleeper_bits(by)),
            Change::Issued(by) => (8, sleeper_bits(by)),
            Change::Resumed(worker) => (9, u64::from(worker.0)),
        };
        [self.now.0, thread, kind | value << 8]
    }

    /// `None`: these words are no transition.
    pub fn from_words([now, thread, change]: [u64; 3]) -> Option<Transition> {
        let number = thread as u32;
        let thread = match thread >> 32 {
            0 => Thread::Worker(WorkerId(number)),
            1 => Thread::Other(number),
            _ => return None,
        };
        let value = change >> 8;
        let id = || u32::try_from(value).ok();
        let change = match change & 0xff {
            0 if value == NOBODY => Change::Pushed(None),
            0 => Change::Pushed(Some(sleeper(value)?)),
            1 if value == 0 => Change::Taken,
            2 => Change::StoodBy(sleeper(value)?),
            3 => Change::Refused(sleeper(value)?),
            4 => Change::Leased(PwqId(id()?)),
            5 => Change::TookOne(PwqId(id()?)),
            6 => Change::Announced(WorkerId(id()?)),
            7 => Change::Claimed(sleeper(value)?),
            8 => Change::Issued(sleeper(value)?),
            9 => Change::Resumed(WorkerId(id()?)),
            _ => return None,
        };
        Some(Transition { now: Tick(now), thread, change })
    }
}

impl Words for Transition {
    fn put(&self, out: &mut Vec<u64>) {
        out.extend(self.to_words());
    }
    fn get(input: &mut Reader<'_>) -> Option<Self> {
        Transition::from_words([input.word()?, input.word()?, input.word()?])
    }
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Thread::Worker(worker) => worker.fmt(f),
            Thread::Other(number) => write!(f, "t{number}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transition_is_read_back_and_other_words_are_none() {
        let by = [Sleeper::Manager, Sleeper::Worker(WorkerId(0)), Sleeper::Worker(WorkerId(4095))];
        let mut changes = vec![
            Change::Pushed(None),
            Change::Taken,
            Change::Leased(PwqId(7)),
            Change::TookOne(PwqId(0)),
            Change::Announced(WorkerId(3)),
            Change::Resumed(WorkerId(u32::MAX)),
        ];
        for by in by {
            changes.extend([Change::Pushed(Some(by)), Change::StoodBy(by), Change::Refused(by)]);
            changes.extend([Change::Claimed(by), Change::Issued(by)]);
        }
        for change in changes {
            for thread in [Thread::Worker(WorkerId(5)), Thread::Other(0)] {
                let transition = Transition { now: Tick(9), thread, change };
                assert_eq!(Transition::from_words(transition.to_words()), Some(transition));
            }
        }
        for bad in [[0, 2 << 32, 1], [0, 0, 10], [0, 0, 2], [0, 0, 1 | 1 << 8], [0, 0, 9 | u64::MAX << 8]] {
            assert_eq!(Transition::from_words(bad), None, "{bad:?}");
        }
    }
}
