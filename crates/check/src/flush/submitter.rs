//! The steps of a submission.

use super::scenario::Scenario;
use super::variant::{Property, Variant};
use super::world::{At, Stage, Who, World, is_at_most};
use cmwq_core::queue::{ListWord, slot};
use cmwq_core::step::Step;

impl World {
    fn set(&mut self, who: Who, at: At) {
        match who {
            Who::Thread(thread) => self.threads[thread].at = at,
            Who::Worker(item) => self.workers[item] = at,
        }
    }

    fn end_submission(&mut self, who: Who) {
        match who {
            Who::Thread(thread) => self.end_call(thread),
            Who::Worker(item) => self.workers[item] = At::Idle,
        }
    }

    /// Tells a submission that its item is pending.
    fn refuse(&mut self, who: Who, item: usize) -> String {
        if let Who::Thread(thread) = who {
            self.threads[thread].told |= 1 << item;
        }
        self.end_submission(who);
        format!("is told that item {item} is pending")
    }

    pub(super) fn begin_submission(&mut self, who: Who, item: usize, variant: Variant) -> String {
        if variant == Variant::ClaimFirst {
            if self.items[item].stage != Stage::Free {
                return self.refuse(who, item);
            }
            self.items[item].stage = Stage::Claimed;
        }
        if self.items[item].stage == Stage::Free || variant == Variant::ClaimFirst {
            self.items[item].strange = self.flushes_that_wait();
        }
        self.set(who, At::Arrive { item, word: self.word });
        format!("submits item {item}: reads phase {}", self.word.phase())
    }

    /// The flushes that have made their cuts and not returned.
    fn flushes_that_wait(&self) -> u8 {
        self.threads.iter().filter_map(|thread| thread.at.cut_of()).fold(0, |all, flush| all | 1 << flush)
    }

    pub(super) fn step_submission(
        &mut self,
        who: Who,
        scenario: &Scenario,
        variant: Variant,
    ) -> Option<String> {
        let at = match who {
            Who::Thread(thread) => self.threads[thread].at,
            Who::Worker(item) => self.workers[item],
        };
        Some(match at {
            At::Arrive { item, word } => {
                let pwq = scenario.items[item].pwq;
                if matches!(variant, Variant::Walk | Variant::Active) {
                    return Some(self.submit_locked(who, item, pwq, scenario, variant));
                }
                self.arrived[pwq][slot(word.phase())] += 1;
                let next = match variant {
                    Variant::ListAfterLook => At::Look { item, word },
                    _ => At::Stamped { item, word },
                };
                self.set(who, next);
                format!("arrives at phase {}", word.phase())
            }
            At::Look { item, word } => {
                if self.word != word && variant != Variant::SecondLookSkipped {
                    self.depart(scenario.items[item].pwq, word.phase());
                    self.set(who, At::Arrive { item, word: self.word });
                    return Some(format!(
                        "finds the phase changed: departs, reads phase {}",
                        self.word.phase()
                    ));
                }
                let phase = word.phase();
                let claim = At::Claim { item, phase };
                self.set(
                    who,
                    if variant == Variant::ListAfterLook { At::Stamped { item, word } } else { claim },
                );
                format!("finds phase {phase} unchanged")
            }
            At::Claim { item, phase } => self.claim(who, item, phase, scenario, variant),
            At::Push { item, phase } => {
                let waits = self.come_to_gate(item, scenario, variant);
                self.end_submission(who);
                format!("queues item {item} in phase {phase}{waits}")
            }
            _ => return self.step_listing(who, at, scenario, variant),
        })
    }

    fn claim(&mut self, who: Who, item: usize, phase: u32, scenario: &Scenario, variant: Variant) -> String {
        if self.items[item].stage != Stage::Free && variant != Variant::ClaimFirst {
            if variant != Variant::RefusedKeepsArrival {
                self.depart(scenario.items[item].pwq, phase);
            }
            return self.refuse(who, item);
        }
        self.items[item].stage = Stage::Claimed;
        self.items[item].phase = phase;
        self.look_for_strangers(item, phase);
        self.set(who, At::Push { item, phase });
        format!("claims item {item}")
    }

    fn look_for_strangers(&mut self, item: usize, phase: u32) {
        for thread in &self.threads {
            if let (Some(flush), Some(target)) = (thread.at.cut_of(), thread.at.target())
                && self.items[item].strange & (1 << flush) != 0
                && is_at_most(phase, target)
            {
                self.broken = Some(Property::WaitsForNoStranger);
            }
        }
    }

    /// Arrival, listing, claim and push in one step.
    fn submit_locked(
        &mut self,
        who: Who,
        item: usize,
        pwq: usize,
        scenario: &Scenario,
        variant: Variant,
    ) -> String {
        if self.items[item].stage != Stage::Free {
            return self.refuse(who, item);
        }
        let phase = self.word.phase();
        self.arrived[pwq][slot(phase)] += 1;
        let list = &mut self.lists[slot(phase)];
        list.list(pwq as u32, phase).apply(list);
        self.items[item].phase = phase;
        let waits = self.come_to_gate(item, scenario, variant);
        self.look_for_strangers(item, phase);
        self.end_submission(who);
        format!("queues item {item} in phase {phase}, under the lock{waits}")
    }

    fn step_listing(&mut self, who: Who, at: At, scenario: &Scenario, variant: Variant) -> Option<String> {
        let after = |item, word: cmwq_core::queue::QueueWord| match variant {
            Variant::ListAfterLook => At::Claim { item, phase: word.phase() },
            _ => At::Look { item, word },
        };
        Some(match at {
            At::Stamped { item, word } => {
                let stamp = &mut self.stamps[scenario.items[item].pwq];
                if *stamp == word.bits() {
                    self.set(who, after(item, word));
                    return Some("finds its leaf stamped".to_owned());
                }
                if variant == Variant::TagFirst {
                    *stamp = word.bits();
                }
                self.set(who, At::ReadList { item, word });
                "finds its leaf not stamped".to_owned()
            }
            At::ReadList { item, word } => {
                let list = self.lists[slot(word.phase())];
                let next = match variant {
                    Variant::LateLister | Variant::ClearedLate => At::EnterList { item, word, list },
                    _ if list.at(word.phase()) & (1 << scenario.items[item].pwq) != 0 => {
                        At::Stamp { item, word }
                    }
                    _ if list.phase() == word.phase() => At::EnterList { item, word, list },
                    _ => At::CheckPhase { item, word, list },
                };
                self.set(who, next);
                format!("reads the list: {:#x} of phase {}", list.at(list.phase()), list.phase())
            }
            At::CheckPhase { item, word, list } => {
                let is_late = self.word.phase() != word.phase();
                self.set(who, if is_late { after(item, word) } else { At::EnterList { item, word, list } });
                format!("finds that its phase {}", if is_late { "has gone" } else { "accepts still" })
            }
            At::EnterList { item, word, list } => {
                let (pwq, phase) = (scenario.items[item].pwq, word.phase());
                let place = &mut self.lists[slot(phase)];
                if *place != list {
                    self.set(who, At::ReadList { item, word });
                    return Some("finds the list changed".to_owned());
                }
                let entered = match (variant, list.list(pwq as u32, phase)) {
                    (Variant::ClearedLate, _) => ListWord::from_bits(list.bits() & 0xffff_ffff | 1 << pwq),
                    (_, Step::Write(next, ())) => next,
                    (_, Step::Keep(())) => list,
                };
                *place = entered;
                self.set(who, At::Stamp { item, word });
                format!("enters pwq {pwq} in the list of phase {phase}")
            }
            At::Stamp { item, word } => {
                self.stamps[scenario.items[item].pwq] = word.bits();
                self.set(who, after(item, word));
                format!("stamps its leaf with phase {}", word.phase())
            }
            _ => return None,
        })
    }
}
