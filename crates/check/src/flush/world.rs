//! The state of a small queue, and one step of one thread.

use super::former::{Former, Visit};
use super::scenario::{Call, Scenario};
use super::variant::{Property, Variant};
use crate::row::Row;
use cmwq_core::limits::PHASE_SLOTS;
use cmwq_core::queue::{ListWord, QueueWord, slot};

pub(super) type Counts = [u8; PHASE_SLOTS];

/// How far an item has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Stage {
    Free,
    /// Claimed, and on the way to be queued.
    Claimed,
    /// It may start.
    Queued,
    /// It waits for its limit.
    Inactive,
    Running,
    /// It has departed, and its end has not been reported: it keeps its place.
    Departed,
    Ended,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ItemState {
    pub(super) stage: Stage,
    pub(super) phase: u32,
    /// The flushes to which it is a stranger, one a bit.
    pub(super) strange: u8,
}

/// What a flush looks at a phase for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Aim {
    /// It has not made its cut, for want of a slot: the oldest phase must end.
    Slot,
    /// It waits for the phases up to its own, the newest first.
    Empty,
    /// All of them have been empty: it moves `done` on, phase by phase.
    Pass,
}

/// Where a thread is in its call. The fields are its locals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum At {
    /// Before its next call.
    Idle,
    // ---- a submission ----
    Arrive {
        item: usize,
        word: QueueWord,
    },
    Stamped {
        item: usize,
        word: QueueWord,
    },
    ReadList {
        item: usize,
        word: QueueWord,
    },
    CheckPhase {
        item: usize,
        word: QueueWord,
        list: ListWord,
    },
    EnterList {
        item: usize,
        word: QueueWord,
        list: ListWord,
    },
    Stamp {
        item: usize,
        word: QueueWord,
    },
    Look {
        item: usize,
        word: QueueWord,
    },
    Claim {
        item: usize,
        phase: u32,
    },
    Push {
        item: usize,
        phase: u32,
    },
    // ---- of the queue that had the pwq before ----
    Replacing,
    Visiting(Visit),
    // ---- a flush ----
    ReadDone {
        flush: usize,
        target: u32,
    },
    Close {
        flush: usize,
        target: u32,
        list: u32,
    },
    FindOldest {
        flush: usize,
        target: u32,
    },
    Newest {
        flush: usize,
        target: u32,
        phase: u32,
        list: u32,
    },
    Oldest {
        flush: usize,
        target: u32,
        list: u32,
    },
    LookList {
        flush: usize,
        target: u32,
        phase: u32,
        aim: Aim,
        list: u32,
    },
    ReadFirst {
        flush: usize,
        target: u32,
        phase: u32,
        aim: Aim,
        left: u32,
    },
    ReadSecond {
        flush: usize,
        target: u32,
        phase: u32,
        aim: Aim,
        left: u32,
        first: u8,
    },
    FallAsleep {
        flush: usize,
        target: u32,
        phase: u32,
        aim: Aim,
        left: u32,
        seen: u8,
    },
    Asleep {
        flush: usize,
        target: u32,
        phase: u32,
        aim: Aim,
        left: u32,
        seen: u8,
    },
    Pass {
        flush: usize,
        target: u32,
        phase: u32,
        aim: Aim,
    },
    Clear {
        flush: usize,
        target: u32,
        phase: u32,
        aim: Aim,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Thread {
    pub(super) call: usize,
    pub(super) at: At,
    /// The items that must end before its flush returns, one a bit.
    pub(super) owed: u16,
    /// The items that its submissions were told to be pending, one a bit.
    pub(super) told: u16,
    /// The claim is held already (`claim-first`).
    pub(super) claimed: bool,
}

/// Whoever makes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Who {
    /// A thread of the scenario.
    Thread(usize),
    /// The worker of an item.
    Worker(usize),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct World {
    pub(super) word: QueueWord,
    pub(super) done: u32,
    pub(super) lists: [ListWord; PHASE_SLOTS],
    /// Of each leaf: the queue word at which its pwq was last listed.
    pub(super) stamps: Vec<u64>,
    pub(super) arrived: Vec<Counts>,
    pub(super) departed: Vec<Counts>,
    pub(super) items: Vec<ItemState>,
    pub(super) threads: Vec<Thread>,
    /// What a worker submits from inside its item.
    pub(super) workers: Vec<At>,
    /// The items that wait for their limit, in order.
    pub(super) line: Row,
    pub(super) former: Former,
    pub(super) returned: u8,
    pub(super) broken: Option<Property>,
}

impl World {
    pub(super) fn new(scenario: &Scenario) -> World {
        let done = scenario.phase.wrapping_sub(scenario.outstanding);
        let mut world = World {
            word: QueueWord::from_bits(u64::from(scenario.phase)),
            done,
            lists: [ListWord::default(); PHASE_SLOTS],
            stamps: vec![u64::MAX; scenario.pwqs],
            arrived: vec![[0; PHASE_SLOTS]; scenario.pwqs],
            departed: vec![[0; PHASE_SLOTS]; scenario.pwqs],
            items: Vec::new(),
            threads: Vec::new(),
            workers: vec![At::Idle; scenario.items.len()],
            line: Row::default(),
            former: Former::default(),
            returned: 0,
            broken: None,
        };
        for item in scenario.items {
            let stage = if item.oldest { Stage::Queued } else { Stage::Free };
            if item.oldest {
                world.arrived[item.pwq][slot(done)] += 1;
                world.lists[slot(done)].list(item.pwq as u32, done).apply(&mut world.lists[slot(done)]);
            }
            world.items.push(ItemState { stage, phase: done, strange: 0 });
        }
        let thread = |_| Thread { call: 0, at: At::Idle, owed: 0, told: 0, claimed: false };
        world.threads = scenario.threads.iter().map(thread).collect();
        world
    }

    /// Every state that one step leads to, with who makes it and what it is.
    pub(super) fn steps(&self, scenario: &Scenario, variant: Variant) -> Vec<(Who, String, World)> {
        let mut steps = Vec::new();
        if self.broken.is_some() {
            return steps;
        }
        let threads = (0..self.threads.len()).map(Who::Thread);
        for who in threads.chain((0..self.items.len()).map(Who::Worker)) {
            let mut next = self.clone();
            let what = match who {
                Who::Thread(at) => next.step_thread(at, scenario, variant),
                Who::Worker(item) => next.step_worker(item, scenario, variant),
            };
            if let Some(what) = what {
                steps.push((who, what, next));
            }
        }
        steps
    }

    /// Whether nobody has anything left to do.
    pub(super) fn is_over(&self, scenario: &Scenario) -> bool {
        let calls = scenario.threads.iter().zip(&self.threads);
        calls.clone().all(|(calls, thread)| thread.call == calls.len())
            && self.items.iter().all(|item| matches!(item.stage, Stage::Free | Stage::Ended))
    }

    fn step_thread(&mut self, at: usize, scenario: &Scenario, variant: Variant) -> Option<String> {
        let call = *scenario.threads[at].get(self.threads[at].call)?;
        match (call, self.threads[at].at) {
            (Call::Submit(item), At::Idle) => Some(self.begin_submission(Who::Thread(at), item, variant)),
            (Call::SubmitLate(item), At::Idle) => {
                let phase = self.word.phase();
                let old =
                    QueueWord::from_bits(u64::from(scenario.phase.wrapping_sub(PHASE_SLOTS as u32 - 1)));
                self.threads[at].at = At::Arrive { item, word: old };
                Some(format!(
                    "goes on with item {item}, having read phase {}; now it is {phase}",
                    old.phase()
                ))
            }
            (Call::SubmitDuring(item, flush), At::Idle) => {
                let waits = self.threads.iter().any(|thread| thread.at.waits_for(flush));
                let has_begun = waits || self.returned & (1 << flush) != 0;
                has_begun.then(|| self.begin_submission(Who::Thread(at), item, variant))
            }
            (Call::Cancel(item), At::Idle) => Some(self.cancel(at, item, scenario, variant)),
            (Call::Submit(_) | Call::SubmitLate(_) | Call::SubmitDuring(..) | Call::Cancel(_), _) => {
                self.step_submission(Who::Thread(at), scenario, variant)
            }
            (Call::Replace | Call::Fire, _) => self.step_former(at, call, variant),
            (Call::Flush(_) | Call::DropFlush(_), _) => self.step_flush(at, call, scenario, variant),
        }
    }

    fn step_worker(&mut self, item: usize, scenario: &Scenario, variant: Variant) -> Option<String> {
        let plan = &scenario.items[item];
        if self.workers[item] != At::Idle {
            return self.step_submission(Who::Worker(item), scenario, variant);
        }
        match self.items[item].stage {
            Stage::Queued => {
                self.items[item].stage = Stage::Running;
                Some(format!("starts item {item}"))
            }
            Stage::Departed => {
                self.items[item].stage = Stage::Ended;
                let next = self.make_room(plan.pwq, scenario, variant);
                Some(format!("reports the end of item {item}{next}"))
            }
            Stage::Running => {
                if let Some(again) = plan.again
                    && self.items[again].stage == Stage::Free
                {
                    return Some(self.begin_submission(Who::Worker(item), again, variant));
                }
                if plan.waits_for.is_some_and(|flush| self.returned & (1 << flush) == 0) {
                    return None;
                }
                let instance = match plan.again {
                    Some(again) if variant == Variant::PhaseAtFinish => again,
                    _ => item,
                };
                let phase = self.items[instance].phase;
                let has_limit = scenario.max_active < scenario.items.len();
                self.items[item].stage = if has_limit { Stage::Departed } else { Stage::Ended };
                if variant != Variant::HandOffKeepsArrival || self.line.is_empty() {
                    self.depart(plan.pwq, phase);
                }
                Some(format!("ends item {item}: departs from phase {phase}"))
            }
            _ => None,
        }
    }

    fn cancel(&mut self, at: usize, item: usize, scenario: &Scenario, variant: Variant) -> String {
        self.end_call(at);
        let pwq = scenario.items[item].pwq;
        let next = match self.items[item].stage {
            Stage::Inactive => {
                if variant != Variant::CancelStaysInLine {
                    let _ = self.line.remove(item as u8);
                }
                self.items[item].stage = Stage::Ended;
                ", which waits".to_owned()
            }
            Stage::Queued => {
                self.items[item].stage = Stage::Ended;
                self.make_room(pwq, scenario, variant)
            }
            _ => return format!("finds item {item} not queued: cancels nothing"),
        };
        if variant != Variant::CancelKeepsArrival {
            self.depart(pwq, self.items[item].phase);
        }
        format!("cancels item {item}{next}")
    }

    /// A pushed item comes to the gate of its pwq. Inboxes keep the order of pushes: it is as if it came at once.
    /// Says whether it waits there.
    pub(super) fn come_to_gate(
        &mut self,
        item: usize,
        scenario: &Scenario,
        variant: Variant,
    ) -> &'static str {
        let pwq = scenario.items[item].pwq;
        let is_active = |stage| matches!(stage, Stage::Queued | Stage::Running | Stage::Departed);
        let of_pwq = self.items.iter().zip(scenario.items).filter(|(_, plan)| plan.pwq == pwq);
        let active = of_pwq.filter(|(item, _)| is_active(item.stage)).count();
        if active < scenario.max_active && self.line.is_empty() {
            self.items[item].stage = Stage::Queued;
            return "";
        }
        self.items[item].stage = Stage::Inactive;
        self.line.push(item as u8);
        if variant == Variant::CountedWhenActive {
            self.depart(pwq, self.items[item].phase);
        }
        ", where it waits"
    }

    /// A place of a pwq is free: it goes to the first item in line. Says so.
    fn make_room(&mut self, pwq: usize, scenario: &Scenario, variant: Variant) -> String {
        let mut line = self.line.as_slice().iter().copied();
        let Some(next) = line.find(|&item| scenario.items[usize::from(item)].pwq == pwq) else {
            return String::new();
        };
        let _ = self.line.remove(next);
        let next = usize::from(next);
        if self.items[next].stage != Stage::Inactive {
            self.depart(pwq, self.items[next].phase);
            return format!(", finds item {next} cancelled, and departs for it");
        }
        self.items[next].stage = Stage::Queued;
        if matches!(variant, Variant::CountedWhenActive | Variant::PhaseAtActivation) {
            let phase = self.word.phase();
            self.items[next].phase = phase;
            if variant == Variant::CountedWhenActive {
                self.arrived[pwq][slot(phase)] += 1;
                let list = &mut self.lists[slot(phase)];
                list.list(pwq as u32, phase).apply(list);
            }
        }
        format!(", and item {next} has its place")
    }

    pub(super) fn depart(&mut self, pwq: usize, phase: u32) {
        self.departed[pwq][slot(phase)] += 1;
    }

    pub(super) fn end_call(&mut self, at: usize) {
        self.threads[at].at = At::Idle;
        self.threads[at].call += 1;
    }
}

/// Phases wrap.
pub(super) fn is_at_most(phase: u32, target: u32) -> bool {
    (target.wrapping_sub(phase) as i32) >= 0
}
