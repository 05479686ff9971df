//! Playing a recording through a fresh core.

use super::words::{Reader, Words};
use super::{Entry, FileError, Recording, Replayed, Stepped, snapshot};
use crate::id::{Sleeper, WorkerId};
use crate::pool::invariants::{Broken, Outside};
use crate::pool::{Actions, Event, InboxWord, PoolCore};
use crate::worker::State;
use core::fmt;
use std::collections::BTreeSet;

/// Why a replay stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failed {
    /// The recording cannot be read on.
    File(FileError),
    /// An invariant does not hold.
    Invariant(Broken),
    /// The core decides something else than was recorded.
    Differs {
        /// As recorded.
        recorded: Box<Actions<u64>>,
        /// By this core.
        decided: Box<Actions<u64>>,
    },
    /// The core asks for something else than was recorded.
    Questions,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failed::File(error) => error.fmt(f),
            Failed::Invariant(broken) => write!(f, "{} does not hold: {}", broken.label, broken.what),
            Failed::Differs { recorded, decided } => {
                write!(f, "this core decides {decided:?}, recorded is {recorded:?}")
            }
            Failed::Questions => f.write_str("this core asks other questions about items than were recorded"),
        }
    }
}

/// One entry that has been played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Its number, from 0.
    pub number: u64,
    /// What it was.
    pub entry: Entry,
}

/// A recording and the core it is played through. An iterator over steps; it ends after the first failure.
#[derive(Debug)]
pub struct Replay<'a> {
    core: PoolCore<u64>,
    items: Replayed,
    actions: Actions<u64>,
    input: Reader<'a>,
    number: u64,
    /// Wake-ups for work that the core has decided and nobody has consumed yet.
    owed: BTreeSet<Sleeper>,
    has_failed: bool,
}

impl<'a> Replay<'a> {
    /// A replay that stands before the first entry.
    ///
    /// # Errors
    /// [`FileError::Corrupt`] when the snapshot is none.
    pub fn new(recording: &'a Recording) -> Result<Self, FileError> {
        let mut words = Reader::new(&recording.snapshot);
        let (core, items) = snapshot::get(&mut words).ok_or(FileError::Corrupt)?;
        let picked = core.workers().iter().enumerate().filter(|(_, w)| w.picked && w.state == State::Idle);
        let owed = picked.map(|(at, _)| Sleeper::Worker(WorkerId(at as u32))).collect();
        Ok(Replay {
            core,
            items,
            actions: Actions::default(),
            input: Reader::new(&recording.entries),
            number: 0,
            owed,
            has_failed: false,
        })
    }

    /// The core as it is now.
    pub fn core(&self) -> &PoolCore<u64> {
        &self.core
    }

    fn play(&mut self, entry: &Entry) -> Result<(), Failed> {
        match entry {
            Entry::Step(step) => self.step(step)?,
            Entry::EndHold(answers) => {
                self.items.load(answers.clone());
                self.core.end_hold(&mut self.items);
                self.questions()?;
                self.end_hold().map_err(Failed::Invariant)?;
            }
            Entry::Add(limit) => drop(self.core.add_pwq(*limit)),
            Entry::Reuse(pwq, limit) => self.core.reuse_pwq(*pwq, *limit),
        }
        self.core.check_counts().map_err(Failed::Invariant)?;
        self.core.check_gates().map_err(Failed::Invariant)
    }

    fn step(&mut self, step: &Stepped) -> Result<(), Failed> {
        if let Some(before) = &step.before {
            self.actions = before.clone();
        }
        match step.event {
            Event::Woken { worker, .. } | Event::WatchLook { worker, .. } => {
                self.owed.remove(&Sleeper::Worker(worker));
            }
            Event::ManagerLook { .. } => {
                self.owed.remove(&Sleeper::Manager);
            }
            _ => {}
        }
        let woken_before = self.actions.wake.len();
        self.items.load(step.answers.clone());
        self.core.step(step.now, step.event, &mut self.items, &mut self.actions);
        self.questions()?;
        if self.actions != step.after {
            let (recorded, decided) = (Box::new(step.after.clone()), Box::new(self.actions.clone()));
            return Err(Failed::Differs { recorded, decided });
        }
        let core = &self.core;
        let is_dying =
            |s: &Sleeper| matches!(s, Sleeper::Worker(w) if core.workers()[w.index()].state == State::Dying);
        let decided = self.actions.wake.iter().skip(woken_before);
        self.owed.extend(decided.filter(|sleeper| !is_dying(sleeper)));
        Ok(())
    }

    fn questions(&self) -> Result<(), Failed> {
        if self.items.is_spent() { Ok(()) } else { Err(Failed::Questions) }
    }

    /// What holds between holds, as far as the lock sees it: the inbox is taken for empty.
    fn end_hold(&self) -> Result<(), Broken> {
        let is_woken = |sleeper: Sleeper| self.owed.contains(&sleeper);
        let outside = Outside { inbox: InboxWord::Empty, is_woken: &is_woken };
        self.core.check_baton(&outside)?;
        self.core.check_cover(&outside)?;
        self.core.check_no_owed_dies(&|worker| self.owed.contains(&Sleeper::Worker(worker)))
    }
}

impl Iterator for Replay<'_> {
    type Item = Result<Step, (Option<Step>, Failed)>;

    /// Plays one entry.
    fn next(&mut self) -> Option<Self::Item> {
        if self.has_failed || self.input.is_empty() {
            return None;
        }
        let Some(entry) = Entry::get(&mut self.input) else {
            self.has_failed = true;
            return Some(Err((None, Failed::File(FileError::Corrupt))));
        };
        let played = self.play(&entry);
        let step = Step { number: self.number, entry };
        self.number += 1;
        Some(match played {
            Ok(()) => Ok(step),
            Err(failed) => {
                self.has_failed = true;
                Err((Some(step), failed))
            }
        })
    }
}
