//! `cmwq check flush`: what flushes wait for, by every design, with a shortest way to each broken promise.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

use cmwq_check::flush::{Property, Report, Scenario, Variant, explore};
use serde::Serialize;

use super::{Outcome, unknown};
use crate::output::{self, Failure, JsonTarget};

/// Whether a flush waits for all that it owes and for nothing else, and ends: every design, in every interleaving of
/// small scenarios.
#[derive(clap::Args)]
pub(crate) struct FlushArguments {
    /// The design to explore, or `all`
    #[arg(long, value_name = "ID", default_value = "all")]
    variant: String,
    /// The scenario to explore, or `all`
    #[arg(long, value_name = "NAME", default_value = "all")]
    scenario: String,
    /// Print a shortest way to each broken promise, one line a step
    #[arg(long)]
    trace: bool,
    /// Write rows and traces to FILE as JSON (`-`: to standard output, and nothing else)
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Give up on an exploration after this many states
    #[arg(long, value_name = "COUNT", default_value_t = 5_000_000, value_parser = states_limit())]
    states: u64,
}

fn states_limit() -> clap::builder::RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(1..=100_000_000)
}

/// The version of the document.
const SCHEMA: &str = "cmwq-check/1";

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    rows: Vec<Row>,
}

/// One promise of one design in one scenario.
#[derive(Serialize)]
struct Row {
    protocol: &'static str,
    variant: &'static str,
    property: &'static str,
    scenario: &'static str,
    verdict: &'static str,
    /// Of a broken design: that one of its rows is violated.
    expected: Option<&'static str>,
    complete: bool,
    states: usize,
    seconds: f64,
    trace: Option<Vec<Step>>,
}

#[derive(Serialize)]
struct Step {
    thread: String,
    did: String,
}

pub(crate) fn run(arguments: &FlushArguments) -> Result<Outcome, Failure> {
    let variants = variants(&arguments.variant)?;
    let scenarios = scenarios(&arguments.scenario)?;
    let target = output::json_target(arguments.json.as_deref())?;
    let quiet = target == Some(JsonTarget::Stdout);
    if !quiet {
        output::print(&heading())?;
    }
    let mut document = Document { schema: SCHEMA, rows: Vec::new() };
    let mut as_expected = true;
    for variant in variants {
        let mut is_caught = false;
        let mut all_complete = true;
        for scenario in &scenarios {
            let start = Instant::now();
            let report = explore(scenario, variant, arguments.states as usize);
            let seconds = start.elapsed().as_secs_f64();
            is_caught |= !report.violations.is_empty();
            all_complete &= report.complete;
            as_expected &= report.never.is_empty();
            document.rows.extend(Property::ALL.map(|property| row(&report, property, seconds)));
            if !quiet && (variant.is_sound() || !report.violations.is_empty()) {
                output::print(&line(&report, seconds))?;
                arguments.print_traces(&report)?;
            }
            if !quiet && !report.never.is_empty() {
                output::print(&format!("  never happens: {:?}\n", report.never))?;
            }
            if is_caught && !variant.is_sound() && arguments.scenario == "all" {
                break;
            }
        }
        // One scenario alone need not catch every broken design.
        as_expected &= if variant.is_sound() {
            !is_caught && all_complete
        } else {
            is_caught || arguments.scenario != "all"
        };
        if !quiet && !variant.is_sound() && !is_caught {
            output::print(&format!("{:<24} NOT CAUGHT\n", variant.id()))?;
        }
    }
    if let Some(target) = &target {
        output::write_json(target, &document)?;
    }
    Ok(if as_expected { Outcome::Expected } else { Outcome::Unexpected })
}

impl FlushArguments {
    fn print_traces(&self, report: &Report) -> Result<(), Failure> {
        if !self.trace {
            return Ok(());
        }
        for violation in &report.violations {
            let mut text = format!("  {} ({}):\n", violation.property.id(), report.scenario.what);
            for (who, did) in &violation.steps {
                let _ = writeln!(text, "    {who:<18} {did}");
            }
            output::print(&text)?;
        }
        Ok(())
    }
}

fn heading() -> String {
    let mut text = format!("{:<24} {:<16} {:>9} {:>8}", "variant", "scenario", "states", "seconds");
    for property in Property::ALL {
        let _ = write!(text, "  {:<21}", property.id());
    }
    text.trim_end().to_owned() + "\n"
}

fn line(report: &Report, seconds: f64) -> String {
    let (variant, scenario, states) = (report.variant.id(), report.scenario.name, report.states);
    let mut text = format!("{variant:<24} {scenario:<16} {states:>9} {seconds:>8.1}");
    for property in Property::ALL {
        let cell = match report.violation(property) {
            Some(violation) => format!("violated, {} steps", violation.steps.len()),
            None => verdict(report, property).to_owned(),
        };
        let _ = write!(text, "  {cell:<21}");
    }
    text.trim_end().to_owned() + "\n"
}

/// What is known: an exploration that ended early, as that of a caught design does, says nothing of the rest.
fn verdict(report: &Report, property: Property) -> &'static str {
    match report.violation(property) {
        Some(_) => "violated",
        None if report.complete => "holds",
        None => "unknown",
    }
}

fn row(report: &Report, property: Property, seconds: f64) -> Row {
    let steps = report.violation(property).map(|violation| &violation.steps);
    let step = |(thread, did): &(String, String)| Step { thread: thread.clone(), did: did.clone() };
    Row {
        protocol: "flush",
        variant: report.variant.id(),
        property: property.id(),
        scenario: report.scenario.name,
        verdict: verdict(report, property),
        expected: report.variant.is_sound().then_some("holds"),
        complete: report.complete,
        states: report.states,
        seconds,
        trace: steps.map(|steps| steps.iter().map(step).collect()),
    }
}

fn variants(id: &str) -> Result<Vec<Variant>, Failure> {
    if id == "all" {
        return Ok(Variant::ALL.to_vec());
    }
    let ids: Vec<&str> = Variant::ALL.iter().map(|variant| variant.id()).collect();
    Variant::parse(id).map(|variant| vec![variant]).ok_or_else(|| unknown("variant", id, &ids))
}

fn scenarios(name: &str) -> Result<Vec<Scenario>, Failure> {
    if name == "all" {
        return Ok(Scenario::ALL.to_vec());
    }
    let names: Vec<&str> = Scenario::ALL.iter().map(|scenario| scenario.name).collect();
    Scenario::named(name).map(|scenario| vec![scenario]).ok_or_else(|| unknown("scenario", name, &names))
}
