//! Recording what happens to a core, and playing it again.
#![doc = include_str!("../../../flow/8-recording.md")]

mod file;
mod recorder;
mod replay;
mod snapshot;
mod tape;
mod transition;
mod words;

pub use file::{FileError, Recording, SCHEMA, read, write};
pub use recorder::Recorder;
pub use replay::{Failed, Replay, Step};
pub use tape::{Replayed, Taped};
pub use transition::{Change, Thread, Transition};
pub(crate) use words::fields;
pub use words::{Reader, Words};

#[cfg(test)]
mod tests;

use super::{Actions, Event};
use crate::id::PwqId;
use crate::pwq::Limit;
use crate::time::Tick;

/// One thing that has happened to a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// One event, with what it was told and what it decided.
    Step(Box<Stepped>),
    /// The hold has ended.
    EndHold(Vec<u64>),
    /// A pwq has joined with this limit.
    Add(Limit),
    /// A pwq whose queue is gone has joined again.
    Reuse(PwqId, Limit),
}

/// One event as recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stepped {
    /// When.
    pub now: Tick,
    /// What has happened; handles are numbers.
    pub event: Event<u64>,
    /// What the driver has left of earlier decisions, where it has taken some since the last step.
    pub before: Option<Actions<u64>>,
    /// Answers to the core's questions about items, in their order.
    pub answers: Vec<u64>,
    /// What is decided after the event.
    pub after: Actions<u64>,
}

const STEP: u64 = 1;
const END_HOLD: u64 = 2;
const ADD: u64 = 3;
const REUSE: u64 = 4;

impl Words for Entry {
    fn put(&self, out: &mut Vec<u64>) {
        match self {
            Entry::Step(step) => {
                out.push(STEP);
                step.now.put(out);
                step.event.put(out);
                step.before.put(out);
                step.answers.put(out);
                step.after.put(out);
            }
            Entry::EndHold(answers) => {
                out.push(END_HOLD);
                answers.put(out);
            }
            Entry::Add(limit) => {
                out.push(ADD);
                limit.put(out);
            }
            Entry::Reuse(pwq, limit) => {
                out.push(REUSE);
                pwq.put(out);
                limit.put(out);
            }
        }
    }

    fn get(input: &mut Reader<'_>) -> Option<Self> {
        Some(match input.word()? {
            STEP => Entry::Step(Box::new(Stepped {
                now: Words::get(input)?,
                event: Words::get(input)?,
                before: Words::get(input)?,
                answers: Words::get(input)?,
                after: Words::get(input)?,
            })),
            END_HOLD => Entry::EndHold(Words::get(input)?),
            ADD => Entry::Add(Words::get(input)?),
            REUSE => Entry::Reuse(Words::get(input)?, Words::get(input)?),
            _ => return None,
        })
    }
}
