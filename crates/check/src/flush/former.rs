//! The queue that had the pwq before: its end, and an item of it that has been taken off its timer and comes late.

use super::scenario::Call;
use super::variant::Variant;
use super::world::{At, World};

/// Where the late item's owner is. It knows the queue, and is no handle of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Visit {
    /// It has read the queue's word, and found the queue open.
    Arrive,
    /// It has arrived.
    Enter,
    /// Its pwq is listed: it looks again.
    Look,
    /// Its arrival was confirmed, and its item runs; the queue is known to nobody through it.
    Run,
    /// The item has ended and departed.
    Report,
}

/// That queue. Its one phase is enough: it ends in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Former {
    is_destroyed: bool,
    is_listed: bool,
    /// Somebody may still arrive: the owner of the item.
    is_known: bool,
    /// An end has not been reported.
    is_active: bool,
    arrived: u8,
    departed: u8,
    /// Its pwq is the other queue's now.
    is_given: bool,
}

impl Default for Former {
    fn default() -> Self {
        Former {
            is_destroyed: false,
            is_listed: false,
            is_known: true,
            is_active: false,
            arrived: 0,
            departed: 0,
            is_given: false,
        }
    }
}

impl World {
    pub(super) fn step_former(&mut self, thread: usize, call: Call, variant: Variant) -> Option<String> {
        match (call, self.threads[thread].at) {
            (Call::Replace, At::Idle) => {
                self.former.is_destroyed = true;
                self.threads[thread].at = At::Replacing;
                Some("destroys the former queue".to_owned())
            }
            (Call::Replace, _) => self.replace(thread, variant),
            (_, At::Visiting(visit)) => Some(self.visit(thread, visit)),
            _ if self.former.is_destroyed => {
                self.former.is_known = false;
                self.end_call(thread);
                Some("finds the former queue destroyed".to_owned())
            }
            _ => {
                self.threads[thread].at = At::Visiting(Visit::Arrive);
                Some("finds the former queue open".to_owned())
            }
        }
    }

    /// Sees that the former queue is at rest; then the pool gives its pwq to the new one, or another.
    fn replace(&mut self, thread: usize, variant: Variant) -> Option<String> {
        let former = &mut self.former;
        let is_quiet = !former.is_listed || former.arrived == former.departed;
        if !is_quiet && variant != Variant::PwqGivenBusy {
            return None;
        }
        let is_known = former.is_known && !matches!(variant, Variant::PwqGivenEarly | Variant::PwqGivenBusy);
        let is_active = former.is_active && variant != Variant::PwqGivenBusy;
        former.is_given = !is_known && !is_active;
        let is_given = former.is_given;
        if is_given && variant == Variant::DeparturesKept {
            self.departed[0][0] = former.departed;
        }
        self.end_call(thread);
        Some(if is_given { "gets its pwq" } else { "gets another pwq" }.to_owned())
    }

    fn visit(&mut self, thread: usize, visit: Visit) -> String {
        let (what, next) = match visit {
            Visit::Arrive => {
                self.former.arrived += 1;
                ("arrives there", Visit::Enter)
            }
            Visit::Enter => {
                self.former.is_listed = true;
                ("lists its pwq", Visit::Look)
            }
            Visit::Look if self.former.is_destroyed => {
                self.depart_from_former();
                self.former.is_known = false;
                self.end_call(thread);
                return "finds it destroyed meanwhile: departs".to_owned();
            }
            Visit::Look => {
                self.former.is_active = true;
                self.former.is_known = false;
                ("finds it open still: its item runs", Visit::Run)
            }
            Visit::Run => {
                self.depart_from_former();
                ("ends its item: departs", Visit::Report)
            }
            Visit::Report => {
                self.former.is_active = false;
                self.end_call(thread);
                return "reports the end".to_owned();
            }
        };
        self.threads[thread].at = At::Visiting(next);
        what.to_owned()
    }

    /// At the pwq, whosever that is.
    fn depart_from_former(&mut self) {
        if self.former.is_given {
            self.departed[0][0] += 1;
        } else {
            self.former.departed += 1;
        }
    }
}
