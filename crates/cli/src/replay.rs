//! `cmwq replay`: plays a recording through a fresh core and says whether everything held.

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;

use cmwq_core::pool::record::{self, Entry, FileError, Recording, Replay, Step, Transition};
use serde::Serialize;

use crate::output::{self, Failure, JsonTarget};

/// Play a recording of an engine through fresh pools, and check every invariant at every step.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The recording, as the engine gave it
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print every step, one line each, and between them, by their times, what threads did to the lock-free words
    #[arg(long)]
    trace: bool,
    /// Write the outcome as JSON to FILE, or to standard output with `-`
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    file: String,
    pools: Vec<Outcome>,
    failed: usize,
}

/// What has become of one pool.
#[derive(Default, Serialize)]
struct Outcome {
    pool: String,
    /// Whether the recording begins with the pool.
    whole: bool,
    holds: u64,
    steps: u64,
    arrived: u64,
    finished: u64,
    wakes: u64,
    culls: u64,
    /// What threads did to the pool's lock-free words, as far as it was kept.
    transitions: usize,
    /// From the first step to the last.
    span_ns: u64,
    failed: Option<FailedAt>,
    #[serde(skip)]
    trace: String,
}

#[derive(Serialize)]
struct FailedAt {
    entry: u64,
    what: String,
}

pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let json = output::json_target(arguments.json.as_deref())?;
    let name = arguments.file.display();
    let bytes = std::fs::read(&arguments.file)
        .map_err(|error| Failure::input(format!("{name}: {error}; name a recording")))?;
    let bad = |error: FileError| Failure::input(format!("{name}: {error}"));
    let recordings = record::read(&bytes).map_err(bad)?;
    let mut pools = Vec::new();
    for recording in &recordings {
        pools.push(play(recording, arguments.trace).map_err(bad)?);
    }
    let failed = pools.iter().filter(|outcome| outcome.failed.is_some()).count();
    let document = Document { schema: "cmwq-replay/1", file: name.to_string(), pools, failed };
    if json != Some(JsonTarget::Stdout) {
        output::print(&table(&document))?;
    }
    if let Some(target) = &json {
        output::write_json(target, &document)?;
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Plays one pool's recording. A core that contradicts itself panics; that is an outcome here.
fn play(recording: &Recording, trace: bool) -> Result<Outcome, FileError> {
    let mut replay = Replay::new(recording)?;
    let mut outcome = Outcome {
        pool: recording.pool.clone(),
        whole: recording.forgotten == 0,
        transitions: recording.transitions.len(),
        ..Outcome::default()
    };
    let mut transitions = recording.transitions.iter().peekable();
    let mut times = None;
    let mut at = 0;
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let played = catch_unwind(AssertUnwindSafe(|| {
        for played in &mut replay {
            let (step, failed) = match played {
                Ok(step) => (Some(step), None),
                Err((step, failed)) => (step, Some(failed)),
            };
            if let Some(step) = &step {
                outcome.count(step, &mut times);
                if trace {
                    if let Entry::Step(step) = &step.entry {
                        while let Some(earlier) = transitions.next_if(|transition| transition.now < step.now)
                        {
                            transition_line(&mut outcome.trace, earlier);
                        }
                    }
                    line(&mut outcome.trace, step);
                }
                at = step.number + 1;
            }
            match failed {
                Some(record::Failed::File(error)) => return Err(error),
                Some(failed) => {
                    let entry = step.map_or(at, |step| step.number);
                    outcome.failed = Some(FailedAt { entry, what: failed.to_string() });
                }
                None => {}
            }
        }
        Ok(())
    }));
    std::panic::set_hook(hook);
    match played {
        Ok(result) => result?,
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("it panicked");
            outcome.failed = Some(FailedAt { entry: at, what: format!("the core refuses the step: {text}") });
        }
    }
    if trace {
        transitions.for_each(|transition| transition_line(&mut outcome.trace, transition));
    }
    outcome.span_ns = times.map_or(0, |(first, last): (u64, u64)| last.saturating_sub(first));
    Ok(outcome)
}

impl Outcome {
    fn count(&mut self, step: &Step, times: &mut Option<(u64, u64)>) {
        use cmwq_core::pool::Event;
        let step = match &step.entry {
            Entry::Step(step) => step,
            Entry::EndHold(_) => {
                self.holds += 1;
                return;
            }
            Entry::Add(_) | Entry::Reuse(..) => return,
        };
        self.steps += 1;
        if step.now.0 > 0 {
            // Holds that need no time have none.
            let (first, last) = times.unwrap_or((step.now.0, step.now.0));
            *times = Some((first.min(step.now.0), last.max(step.now.0)));
        }
        match step.event {
            Event::Arrive(_) => self.arrived += 1,
            Event::Finish { .. } => self.finished += 1,
            Event::Woken { .. } => self.wakes += 1,
            Event::Cull => self.culls += 1,
            _ => {}
        }
    }
}

fn transition_line(out: &mut String, transition: &Transition) {
    let Transition { now, thread, change } = transition;
    writeln!(out, "{:>7} {:>15}   {thread}: {change:?}", "", now.0).expect("writing to a string cannot fail");
}

fn line(out: &mut String, step: &Step) {
    let number = step.number;
    let written = match &step.entry {
        Entry::Step(step) => {
            let after = &step.after;
            let wakes: Vec<_> = after.wake.iter().collect();
            write!(out, "{number:>7} {:>15} {:?} -> {:?}", step.now.0, step.event, after.verdict).and_then(
                |()| {
                    if !wakes.is_empty() {
                        write!(out, ", wake {wakes:?}")?;
                    }
                    if let Some(sleeper) = after.stand_by {
                        write!(out, ", stand by {sleeper:?}")?;
                    }
                    writeln!(out)
                },
            )
        }
        Entry::EndHold(_) => writeln!(out, "{number:>7} {:>15} ---- unlock", ""),
        Entry::Add(limit) => writeln!(out, "{number:>7} {:>15} pwq added, {limit:?}", ""),
        Entry::Reuse(pwq, limit) => writeln!(out, "{number:>7} {:>15} {pwq} used again, {limit:?}", ""),
    };
    written.expect("writing to a string cannot fail");
}

fn table(document: &Document) -> String {
    let mut out = String::new();
    for pool in &document.pools {
        out.push_str(&pool.trace);
    }
    out.push_str(
        "pool             begins    steps    holds    items    ended    woken    culls    words  span ms  outcome\n",
    );
    for pool in &document.pools {
        let begins = if pool.whole { "whole" } else { "cut" };
        let outcome = match &pool.failed {
            None => "every step holds".to_owned(),
            Some(failed) => format!("FAILED at entry {}: {}", failed.entry, failed.what),
        };
        writeln!(
            out,
            "{:<16} {begins:<6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8.1}  {outcome}",
            pool.pool,
            pool.steps,
            pool.holds,
            pool.arrived,
            pool.finished,
            pool.wakes,
            pool.culls,
            pool.transitions,
            pool.span_ns as f64 / 1e6,
        )
        .expect("writing to a string cannot fail");
    }
    out
}
