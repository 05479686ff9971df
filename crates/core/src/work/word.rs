//! The item word: who owns an item, whether it runs, how many of its instances have ended.
//!
//! | bits | field | set by | cleared by |
//! |---|---|---|---|
//! | 0 | PENDING | the submission that claims the item | the worker that starts it, or a cancel |
//! | 1 | RUNNING | the worker that starts it | the worker that finishes it |
//! | 2 | HANDED | a submission that found it RUNNING, once it has filled in where it goes | the finisher, who
//! pushes |
//! | 4 | BEHIND | a submission to the ordered queue in which it runs, before the push | the finisher, or a cancel |
//! | 3 | WAITERS | a thread about to sleep until an instance has ended | whoever ends an instance |
//! | 8..16 | skips | cancels of pending instances during a run (saturates) | the finisher, who counts them all |
//! | 16..32 | disable depth | disables | enables |
//! | 32.. | ended | - | counts instances that have ended (finished or cancelled), wraps |
//!
//! PENDING without RUNNING, or with BEHIND, and without HANDED is either in transit (claimed, not yet pushed) or
//! linked in a pool.
//! The upper half is what waiters sleep on.

use crate::step::Step;

const PENDING: u64 = 1;
const RUNNING: u64 = 1 << 1;
const HANDED: u64 = 1 << 2;
const WAITERS: u64 = 1 << 3;
const BEHIND: u64 = 1 << 4;
const SKIP_ONE: u64 = 1 << 8;
const SKIPS: u64 = 0xff << 8;
const DEPTH_ONE: u64 = 1 << 16;
const DEPTH: u64 = 0xffff << 16;
const ENDED_ONE: u64 = 1 << 32;

/// The word of one item. See the table in the module's documentation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct WorkWord(u64);

/// What a submission learns from the item word.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Submit {
    /// The item was idle: the caller owns it now and pushes it.
    Push,
    /// The item runs: the caller owns the next instance, fills in where it goes, then calls
    /// [`WorkWord::hand_over`].
    HandOver,
    /// Somebody else owns the next instance. The word was rewritten with the same value, so what the caller stored
    /// before is seen by that instance.
    AlreadyPending,
    /// The item is disabled. The word was rewritten with the same value.
    Disabled,
}

/// What an enable did.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Enable {
    /// It took back the last disable: submissions are accepted again.
    Enabled,
    /// Other disables remain.
    StillDisabled,
    /// There was no disable to take back.
    WasEnabled,
}

/// What a submission does after it filled in the target of an item it found running.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HandOver {
    /// The item still runs: its finisher will push it.
    Left,
    /// The run has ended meanwhile: push it yourself.
    Push,
}

/// What remains to be done when an instance has ended.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ended {
    /// A handed-over next instance must be pushed by the caller.
    pub push: bool,
    /// Threads may sleep on the word's upper half: wake them all.
    pub wake: bool,
}

/// Which instance a flush waits for.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FlushTarget {
    /// Neither pending nor running.
    Idle,
    /// Wait until the count of ended instances has reached this value (wrapping).
    Until(u32),
}

impl WorkWord {
    /// An idle item that never ran.
    pub const IDLE: WorkWord = WorkWord(0);
    /// An item claimed by its creator before anybody else can see it (one-shot items).
    pub const CLAIMED: WorkWord = WorkWord(PENDING);

    /// The word from its stored bits.
    pub const fn from_bits(bits: u64) -> WorkWord {
        WorkWord(bits)
    }

    /// The word's stored bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether an instance is owned, queued or handed over.
    pub const fn is_pending(self) -> bool {
        self.0 & PENDING != 0
    }

    /// Whether an instance runs.
    pub const fn is_running(self) -> bool {
        self.0 & RUNNING != 0
    }

    /// Whether the next instance waits for the running one to end.
    pub const fn is_handed(self) -> bool {
        self.0 & HANDED != 0
    }

    /// How many instances have ended, modulo 2^32.
    pub const fn ended(self) -> u32 {
        (self.0 >> 32) as u32
    }

    const fn skips(self) -> u32 {
        ((self.0 & SKIPS) >> 8) as u32
    }

    /// How many disables have not been taken back.
    pub const fn disable_depth(self) -> u16 {
        ((self.0 & DEPTH) >> 16) as u16
    }

    /// Claims the item for a submission. A refusal is a `Write` of the same value.
    pub const fn submit(self) -> Step<WorkWord, Submit> {
        if self.disable_depth() != 0 {
            return Step::Write(self, Submit::Disabled);
        }
        if self.is_pending() {
            return Step::Write(self, Submit::AlreadyPending);
        }
        let answer = if self.is_running() { Submit::HandOver } else { Submit::Push };
        Step::Write(WorkWord(self.0 | PENDING), answer)
    }

    /// A submission that cannot be granted asks whether the item is pending: then it is refused as by
    /// [`WorkWord::submit`], and the pending run sees what was stored before (`W2 refusal writes`).
    pub const fn confirm_pending(self) -> Step<WorkWord, bool> {
        if self.is_pending() { Step::Write(self, true) } else { Step::Keep(false) }
    }

    /// Leaves a claimed next instance to the finisher, if the item still runs.
    pub const fn hand_over(self) -> Step<WorkWord, HandOver> {
        if self.is_running() {
            Step::Write(WorkWord(self.0 | HANDED), HandOver::Left)
        } else {
            Step::Keep(HandOver::Push)
        }
    }

    /// The next instance of an item that runs in an ordered queue goes to that same queue: it is pushed at once, to
    /// keep its place, and nothing is left to the finisher. The queue starts it only when the run has been reported.
    pub const fn stay_behind(self) -> Step<WorkWord, ()> {
        if self.is_running() { Step::Write(WorkWord(self.0 | BEHIND), ()) } else { Step::Keep(()) }
    }

    /// Whether the next instance is pushed, or being pushed, although the item runs.
    pub const fn is_behind(self) -> bool {
        self.0 & BEHIND != 0
    }

    /// A worker starts the instance: PENDING ends, RUNNING begins, so that the item can be queued again while it
    /// runs.
    pub const fn start(self) -> Step<WorkWord, ()> {
        Step::Write(WorkWord((self.0 & !PENDING) | RUNNING), ())
    }

    /// A worker starts an instance of a caller-owned item: PENDING ends and nothing is remembered, for the function
    /// may
    /// free the item.
    pub const fn let_go(self) -> Step<WorkWord, ()> {
        Step::Write(WorkWord(self.0 & !PENDING), ())
    }

    /// The bits that [`WorkWord::let_go`] leaves, whatever the word: one read-modify-write `word & KEPT` does the
    /// same.
    pub const KEPT: u64 = !PENDING;

    /// The worker's function has returned.
    pub const fn finish(self) -> Step<WorkWord, Ended> {
        let answer = Ended { push: self.0 & HANDED != 0, wake: self.0 & WAITERS != 0 };
        let next = self.0 & !(RUNNING | HANDED | BEHIND | WAITERS | SKIPS);
        let count = (1 + self.skips() as u64) * ENDED_ONE;
        Step::Write(WorkWord(next.wrapping_add(count)), answer)
    }

    /// Ends a pending instance that has been unlinked from its pool (or was handed over and is taken back).
    pub const fn cancel(self) -> Step<WorkWord, Ended> {
        if self.is_running() {
            // Waiters of the running instance must not be released by the end of the one behind it.
            // When the field is full the number stays, and the next pending instance takes it over: a flush of the
            // cancelled instance then waits for that one, or until the item is idle.
            let skip = if self.0 & SKIPS == SKIPS { 0 } else { SKIP_ONE };
            let next = (self.0 & !(PENDING | HANDED | BEHIND)) + skip;
            return Step::Write(WorkWord(next), Ended { push: false, wake: false });
        }
        let answer = Ended { push: false, wake: self.0 & WAITERS != 0 };
        let next = self.0 & !(PENDING | WAITERS);
        Step::Write(WorkWord(next.wrapping_add(ENDED_ONE)), answer)
    }

    /// Takes back from the finisher an instance that was left to it. `true`: the caller owns it, as its submission did
    /// before the hand-over.
    pub const fn take_back(self) -> Step<WorkWord, bool> {
        if self.is_handed() { Step::Write(WorkWord(self.0 & !HANDED), true) } else { Step::Keep(false) }
    }

    /// Ends a pending instance as [`WorkWord::cancel`] does, and begins the next one at the same time, whose owner is
    /// the caller: PENDING stays. For the owner of an instance that is linked nowhere.
    pub const fn renew(self) -> Step<WorkWord, Ended> {
        match self.cancel() {
            Step::Keep(answer) => Step::Keep(answer),
            Step::Write(next, answer) => Step::Write(WorkWord(next.0 | PENDING), answer),
        }
    }

    /// Refuses submissions until it is taken back. `false`: the depth is full, and nothing was changed.
    pub const fn disable(self) -> Step<WorkWord, bool> {
        if self.0 & DEPTH == DEPTH {
            Step::Keep(false)
        } else {
            Step::Write(WorkWord(self.0 + DEPTH_ONE), true)
        }
    }

    /// Takes back one disable.
    pub const fn enable(self) -> Step<WorkWord, Enable> {
        match self.disable_depth() {
            0 => Step::Keep(Enable::WasEnabled),
            1 => Step::Write(WorkWord(self.0 - DEPTH_ONE), Enable::Enabled),
            _ => Step::Write(WorkWord(self.0 - DEPTH_ONE), Enable::StillDisabled),
        }
    }

    /// What a canceller that waits for the running instance waits for; `None` when none runs.
    pub const fn running_target(self) -> Option<u32> {
        if self.is_running() { Some(self.ended().wrapping_add(1)) } else { None }
    }

    /// Which instance a flush that begins now has to wait for: the pending one, else the running one.
    pub const fn flush_target(self) -> FlushTarget {
        let instances = match (self.is_running(), self.is_pending()) {
            (false, false) => return FlushTarget::Idle,
            (true, true) => 2 + self.skips(),
            (true, false) => 1 + self.skips(),
            (false, true) => 1,
        };
        FlushTarget::Until(self.ended().wrapping_add(instances))
    }

    /// Whether the instance named by a flush target has ended. An idle item has none left to wait for, whatever the
    /// count says: cancels beyond what the word can count are not in it.
    pub const fn has_ended(self, target: u32) -> bool {
        let is_idle = self.0 & (PENDING | RUNNING) == 0;
        is_idle || (self.ended().wrapping_sub(target) as i32) >= 0
    }

    /// Announces a sleeper on the word's upper half, unless the target has been reached.
    pub const fn announce_waiter(self, target: u32) -> Step<WorkWord, bool> {
        if self.has_ended(target) { Step::Keep(false) } else { Step::Write(WorkWord(self.0 | WAITERS), true) }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
