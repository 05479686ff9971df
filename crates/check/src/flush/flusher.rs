//! The steps of a flush.

use super::scenario::{Call, Scenario};
use super::variant::{Property, Variant};
use super::world::{Aim, At, Stage, World, is_at_most};
use cmwq_core::limits::PHASE_SLOTS;
use cmwq_core::queue::{ListWord, slot};

impl At {
    /// The flush, if it has made its cut and waits.
    pub(super) fn cut_of(self) -> Option<usize> {
        match self {
            At::Newest { flush, .. } | At::Oldest { flush, .. } => Some(flush),
            At::LookList { flush, aim, .. }
            | At::ReadFirst { flush, aim, .. }
            | At::ReadSecond { flush, aim, .. }
            | At::FallAsleep { flush, aim, .. }
            | At::Asleep { flush, aim, .. }
            | At::Pass { flush, aim, .. }
            | At::Clear { flush, aim, .. } => (aim != Aim::Slot).then_some(flush),
            _ => None,
        }
    }

    /// Whether it is in this flush and has begun to wait, if only for a slot.
    pub(super) fn waits_for(self, flush: usize) -> bool {
        match self {
            At::FindOldest { flush: of, .. }
            | At::LookList { flush: of, .. }
            | At::ReadFirst { flush: of, .. }
            | At::ReadSecond { flush: of, .. }
            | At::FallAsleep { flush: of, .. }
            | At::Asleep { flush: of, .. }
            | At::Pass { flush: of, .. }
            | At::Clear { flush: of, .. } => of == flush,
            at => at.cut_of() == Some(flush),
        }
    }

    /// The phase up to which it waits.
    pub(super) fn target(self) -> Option<u32> {
        match self {
            At::ReadDone { target, .. }
            | At::Close { target, .. }
            | At::FindOldest { target, .. }
            | At::Newest { target, .. }
            | At::Oldest { target, .. }
            | At::LookList { target, .. }
            | At::ReadFirst { target, .. }
            | At::ReadSecond { target, .. }
            | At::FallAsleep { target, .. }
            | At::Asleep { target, .. }
            | At::Pass { target, .. }
            | At::Clear { target, .. } => Some(target),
            _ => None,
        }
    }
}

impl World {
    /// What is listed at a phase, in the way of the variant.
    fn listed(&self, phase: u32, scenario: &Scenario, variant: Variant) -> u32 {
        let list: ListWord = self.lists[slot(phase)];
        match variant {
            Variant::Walk => (1 << scenario.pwqs) - 1,
            Variant::ClearedLate => list.bits() as u32,
            _ => list.at(phase),
        }
    }

    pub(super) fn step_flush(
        &mut self,
        thread: usize,
        call: Call,
        scenario: &Scenario,
        variant: Variant,
    ) -> Option<String> {
        let (what, next) = match self.threads[thread].at {
            At::Idle => {
                let (Call::Flush(flush) | Call::DropFlush(flush)) = call else { return None };
                self.threads[thread].owed = self.owed_by(thread);
                let target = self.word.phase();
                (format!("flushes: reads phase {target}"), At::ReadDone { flush, target })
            }
            At::ReadDone { flush, target } => self.look_idle(thread, flush, target, scenario, variant),
            At::Close { flush, target, list } => {
                return Some(self.close(thread, call, (flush, target, list), variant));
            }
            At::FindOldest { flush, target } => {
                let phase = self.done;
                if variant == Variant::SleepsForOwnPhase && is_at_most(phase, target) {
                    return None;
                }
                if is_at_most(target, phase) && variant != Variant::PassesOpen {
                    self.threads[thread].at = At::Close { flush, target, list: 0 };
                    return Some("finds that slots are free now".to_owned());
                }
                let at = At::LookList { flush, target, phase, aim: Aim::Slot, list: 0 };
                (format!("will pass phase {phase}"), at)
            }
            At::Newest { flush, target, phase, list } => {
                let is_passed = self.done == phase || !is_at_most(self.done, phase);
                if is_passed && variant != Variant::OutOfOrder {
                    self.threads[thread].at = At::Oldest { flush, target, list };
                    return Some("goes on from the oldest phase".to_owned());
                }
                let aim = Aim::Empty;
                (format!("will see phase {phase} empty"), At::LookList { flush, target, phase, aim, list })
            }
            At::Oldest { flush, target, list } => {
                if !is_at_most(self.done, target) {
                    return Some(self.end_flush(thread, flush));
                }
                let (phase, aim) = (self.done, Aim::Pass);
                (format!("will pass phase {phase}"), At::LookList { flush, target, phase, aim, list })
            }
            At::LookList { flush, target, phase, aim, list } => {
                let is_known = variant == Variant::LookBeforeClose && phase == target;
                let left = if is_known { list } else { self.listed(phase, scenario, variant) };
                (format!("finds {left:#x} listed"), At::ReadFirst { flush, target, phase, aim, left })
            }
            At::Pass { flush, target, phase, aim } => self.pass(flush, target, (phase, aim), variant),
            At::Clear { flush, target, phase, aim } => {
                self.lists[slot(phase)] = ListWord::default();
                (format!("clears the list of phase {phase}"), again(flush, target, phase, aim))
            }
            at => self.look_at_pwq(at, variant)?,
        };
        if self.threads[thread].at != At::Idle || next != At::Idle {
            self.threads[thread].at = next;
        }
        if let At::ReadSecond { flush, target: _, phase: _, aim: Aim::Pass, left: 0, first: _ } = next {
            return Some(self.end_flush(thread, flush));
        }
        Some(what)
    }

    /// What a flush that is called now by this thread owes.
    fn owed_by(&self, thread: usize) -> u16 {
        let in_flight = |stage| matches!(stage, Stage::Queued | Stage::Inactive | Stage::Running);
        let items = self.items.iter().enumerate();
        let queued = items.filter(|(_, item)| in_flight(item.stage)).fold(0, |all, (at, _)| all | 1 << at);
        queued | self.threads[thread].told
    }

    fn look_idle(
        &mut self,
        _thread: usize,
        flush: usize,
        target: u32,
        scenario: &Scenario,
        variant: Variant,
    ) -> (String, At) {
        let list = self.listed(target, scenario, variant);
        if list != 0 {
            return (format!("finds {list:#x} listed at phase {target}"), At::Close { flush, target, list });
        }
        if self.done == target || variant == Variant::IdleIgnoresOlder {
            let phase = target;
            let at = At::ReadSecond { flush, target, phase, aim: Aim::Pass, left: 0, first: 0 };
            return (format!("finds nothing listed at phase {target}"), at);
        }
        let target = target.wrapping_sub(1);
        let next = At::Newest { flush, target, phase: target, list: 0 };
        (format!("finds nothing listed: waits up to phase {target}"), next)
    }

    fn close(
        &mut self,
        thread: usize,
        call: Call,
        (flush, target, list): (usize, u32, u32),
        variant: Variant,
    ) -> String {
        let cuts_max = match variant {
            Variant::TwoSlots => 1,
            Variant::OneSlotFewer => PHASE_SLOTS as u32 - 2,
            _ => PHASE_SLOTS as u32 - 1,
        };
        let is_full = self.word.phase() == target && target.wrapping_sub(self.done) >= cuts_max;
        let mut word = self.word;
        let is_closed = !is_full && word.close(target, self.done).apply(&mut word);
        if is_closed {
            self.word = word;
        }
        if matches!(call, Call::DropFlush(_)) {
            self.end_call(thread);
            return format!(
                "{} phase {target}, and is dropped",
                if is_closed { "closes" } else { "cannot close" }
            );
        }
        self.threads[thread].at = if is_closed {
            At::Newest { flush, target, phase: target, list }
        } else {
            At::FindOldest { flush, target }
        };
        if is_closed {
            format!("finds phase {target} closed, or closes it")
        } else {
            "finds no slot free".to_owned()
        }
    }

    fn pass(
        &mut self,
        flush: usize,
        target: u32,
        (phase, aim): (u32, Aim),
        variant: Variant,
    ) -> (String, At) {
        if variant == Variant::OutOfOrder {
            // It waits for nothing else.
            let at = At::ReadSecond { flush, target, phase, aim: Aim::Pass, left: 0, first: 0 };
            return (format!("finds phase {phase} empty"), at);
        }
        let is_oldest = self.done == phase;
        if aim == Aim::Empty && !(variant == Variant::PassesNewest && is_at_most(self.done, phase)) {
            return (format!("finds phase {phase} empty"), again(flush, target, phase, aim));
        }
        let is_passing = is_oldest || aim == Aim::Empty;
        if is_passing {
            self.done = phase.wrapping_add(1);
        }
        let next = if variant == Variant::ClearedLate {
            At::Clear { flush, target, phase, aim }
        } else {
            again(flush, target, phase, aim)
        };
        (
            format!(
                "finds phase {phase} empty: {}",
                if is_passing { "passes it" } else { "passed by another" }
            ),
            next,
        )
    }

    /// The steps at one pwq.
    fn look_at_pwq(&mut self, at: At, variant: Variant) -> Option<(String, At)> {
        let is_swapped = variant == Variant::ArrivalsFirst;
        Some(match at {
            At::ReadFirst { flush, target, phase, aim, left } => {
                if left == 0 || !is_at_most(self.done, phase) {
                    return Some(("has seen them all".to_owned(), At::Pass { flush, target, phase, aim }));
                }
                let pwq = left.trailing_zeros() as usize;
                let counts = if is_swapped { &self.arrived } else { &self.departed };
                let first = counts[pwq][slot(phase)];
                let what = if is_swapped { "arrivals" } else { "departures" };
                (format!("reads {first} {what}"), At::ReadSecond { flush, target, phase, aim, left, first })
            }
            At::ReadSecond { flush, target, phase, aim, left, first } => {
                let pwq = left.trailing_zeros() as usize;
                let counts = if is_swapped { &self.departed } else { &self.arrived };
                let second = counts[pwq][slot(phase)];
                if first == second {
                    let left = left & (left - 1);
                    (format!("reads {second}: empty"), At::ReadFirst { flush, target, phase, aim, left })
                } else {
                    let seen = if is_swapped { second } else { first };
                    (
                        format!("reads {second}: not empty"),
                        At::FallAsleep { flush, target, phase, aim, left, seen },
                    )
                }
            }
            At::FallAsleep { flush, target, phase, aim, left, seen } => {
                let pwq = left.trailing_zeros() as usize;
                let now = self.departed[pwq][slot(phase)];
                let seen = if variant == Variant::SleepsOnNewValue { now } else { seen };
                if !is_at_most(self.done, phase) {
                    return Some(("finds it passed".to_owned(), again(flush, target, phase, aim)));
                }
                ("falls asleep".to_owned(), At::Asleep { flush, target, phase, aim, left, seen })
            }
            At::Asleep { flush, target, phase, aim, left, seen } => {
                if self.departed[left.trailing_zeros() as usize][slot(phase)] == seen {
                    return None;
                }
                ("wakes".to_owned(), At::ReadFirst { flush, target, phase, aim, left })
            }
            _ => return None,
        })
    }

    fn end_flush(&mut self, thread: usize, flush: usize) -> String {
        let owed = self.threads[thread].owed;
        let has_ended = |at: usize| matches!(self.items[at].stage, Stage::Departed | Stage::Ended);
        let left = |at: usize| !has_ended(at) && owed & (1 << at) != 0;
        if (0..self.items.len()).any(left) {
            self.broken = Some(Property::OwesNothing);
        }
        self.returned |= 1 << flush;
        self.threads[thread].told = 0;
        self.end_call(thread);
        format!("returns from flush {flush}")
    }
}

/// What a flush does when it has seen a phase empty: goes on, or tries to close again.
fn again(flush: usize, target: u32, phase: u32, aim: Aim) -> At {
    match aim {
        Aim::Slot => At::Close { flush, target, list: 0 },
        Aim::Empty => At::Newest { flush, target, phase: phase.wrapping_sub(1), list: 0 },
        Aim::Pass => At::Oldest { flush, target, list: 0 },
    }
}
