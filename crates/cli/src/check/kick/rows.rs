//! The table of verdicts, as text and as JSON.

use std::fmt::Write;

use cmwq_check::kick::{Property, Report, Setup, Trace, expected};
use serde::Serialize;

/// The version of the document.
const SCHEMA: &str = "cmwq-check/1";

/// One promise of one design in one setup.
#[derive(Serialize)]
pub(crate) struct Row {
    protocol: &'static str,
    variant: &'static str,
    property: &'static str,
    floor: u8,
    setup: &'static str,
    workers: u8,
    creatable: u8,
    submitters: u8,
    /// Items of each submitter.
    items: u8,
    managed: bool,
    max_active: u8,
    ratio: bool,
    reference: bool,
    verdict: &'static str,
    /// Nothing where no expectation was written down.
    expected: Option<&'static str>,
    reason: Option<&'static str>,
    /// Whether every state was seen.
    complete: bool,
    states: usize,
    depth: usize,
    seconds: f64,
    /// Whether the situation that the promise is about occurred.
    reached: bool,
    trace: Option<TraceJson>,
}

/// The shortest way to break a promise.
#[derive(Serialize)]
struct TraceJson {
    what: &'static str,
    first: String,
    steps: Vec<StepJson>,
}

#[derive(Serialize)]
struct StepJson {
    thread: String,
    did: String,
    state: String,
}

impl From<&Trace> for TraceJson {
    fn from(trace: &Trace) -> TraceJson {
        let step = |step: &cmwq_check::kick::TraceStep| StepJson {
            thread: step.who.name(),
            did: step.did.clone(),
            state: step.state.clone(),
        };
        let steps = trace.steps.iter().map(step).collect();
        TraceJson { what: trace.what, first: trace.first.clone(), steps }
    }
}

const fn word(holds: bool) -> &'static str {
    if holds { "holds" } else { "violated" }
}

impl Row {
    pub(crate) fn new(report: &Report, property: Property) -> Row {
        let Report { setup, rules, .. } = report;
        let trace = report.violation(property);
        let expected = expected(setup, rules, property);
        Row {
            protocol: "kick",
            variant: rules.variant.id(),
            property: property.id(),
            floor: rules.floor,
            setup: setup.name,
            workers: setup.workers,
            creatable: setup.creatable,
            submitters: setup.submitters,
            items: setup.items,
            managed: setup.managed,
            max_active: setup.max_active,
            ratio: rules.ratio,
            reference: rules.reference,
            verdict: word(trace.is_none()),
            expected: expected.map(|expected| word(expected.holds)),
            reason: expected.map(|expected| expected.reason),
            complete: report.complete,
            states: report.states,
            depth: report.depth,
            seconds: report.time.as_secs_f64(),
            reached: report.reached.contains(&property.twin()),
            trace: trace.map(TraceJson::from),
        }
    }

    /// A promise that has been seen broken is broken; one that holds needs every state.
    fn is_expected(&self) -> bool {
        let as_written = self.expected.is_none_or(|expected| expected == self.verdict);
        as_written && (self.complete || self.verdict == "violated")
    }
}

/// What `--json` writes.
#[derive(Serialize)]
pub(crate) struct Document {
    schema: &'static str,
    pub(crate) rows: Vec<Row>,
    /// Promises about situations that no exploration of a design has reached: `variant floor property`.
    never_reached: Vec<String>,
}

impl Document {
    pub(crate) fn new() -> Document {
        Document { schema: SCHEMA, rows: Vec::new(), never_reached: Vec::new() }
    }

    /// In the whole table each design has to come into every situation. A part of the table, or what goes beyond it,
    /// is shown without that judgement.
    pub(crate) fn judge_twins(&mut self, properties: &[Property]) {
        let whole = Setup::TABLE.iter().all(|setup| self.rows.iter().any(|row| row.setup == setup.name));
        let mut designs: Vec<&str> = self.rows.iter().map(|row| row.variant).collect();
        designs.dedup();
        designs.sort_unstable();
        designs.dedup();
        for design in designs.into_iter().filter(|_| whole) {
            for property in properties {
                let mine = |row: &&Row| row.variant == design && row.property == property.id();
                if !self.rows.iter().filter(mine).any(|row| row.reached) {
                    self.never_reached.push(format!("{design} {}", property.twin().name()));
                }
            }
        }
    }

    pub(crate) fn is_expected(&self) -> bool {
        self.never_reached.is_empty() && self.rows.iter().all(Row::is_expected)
    }

    /// The last lines of the text: what came out otherwise than expected.
    pub(crate) fn summary(&self) -> String {
        let mut text = String::new();
        for row in self.rows.iter().filter(|row| !row.is_expected()) {
            let Row { variant, property, floor, setup, verdict, .. } = row;
            if row.complete || row.expected.is_some_and(|expected| expected != *verdict) {
                let reason = row.reason.unwrap_or_default();
                let _ = writeln!(
                    text,
                    "unexpected: {variant} floor {floor} {setup}: {property} {verdict}, expected otherwise: {reason}"
                );
            } else {
                let _ = writeln!(
                    text,
                    "gave up: {variant} floor {floor} {setup}: {property} after {} states; give it more with --memory",
                    row.states
                );
            }
        }
        for missed in &self.never_reached {
            let _ = writeln!(text, "never reached: {missed}");
        }
        let violated = self.rows.iter().filter(|row| row.verdict == "violated").count();
        let seconds = self.seconds();
        let _ = writeln!(
            text,
            "\n{} cells, {violated} violated, {}; {seconds:.0} s",
            self.rows.len(),
            if self.is_expected() { "all as expected" } else { "NOT all as expected" }
        );
        text
    }

    /// Seconds of all explorations: the rows of one share theirs.
    fn seconds(&self) -> f64 {
        let mut explorations: Vec<(&str, u8, &str, f64)> =
            self.rows.iter().map(|row| (row.variant, row.floor, row.setup, row.seconds)).collect();
        explorations.dedup_by_key(|(variant, floor, setup, _)| (*variant, *floor, *setup));
        explorations.iter().map(|(.., seconds)| seconds).sum()
    }
}

/// The head of the table of one setup.
pub(crate) fn heading(setup: &Setup, properties: &[Property]) -> String {
    let Setup { name, workers, creatable, submitters, items, .. } = setup;
    let mut text = format!(
        "\n{name}: {workers} workers, {creatable} more can be made, {submitters} submitters of {items} items{}{}; \
         \"no\" comes with the length of the shortest way\n{:<26}{:>5}",
        if setup.managed { ", per-CPU" } else { "" },
        if setup.max_active == 1 { ", ordered" } else { "" },
        "variant",
        "floor"
    );
    for property in properties {
        let _ = write!(text, "  {:<15}", property.id());
    }
    let _ = writeln!(text, "{:>10} {:>5} {:>7}", "states", "depth", "seconds");
    text
}

/// One design with one floor. What was not expected is marked.
pub(crate) fn line(report: &Report, properties: &[Property]) -> String {
    let mut text = format!("{:<26}{:>5}", report.rules.variant.id(), report.rules.floor);
    for &property in properties {
        let mut cell = match report.violation(property) {
            Some(trace) => format!("no ({})", trace.steps.len()),
            None if report.complete => "holds".to_owned(),
            None => "gave up".to_owned(),
        };
        if !Row::new(report, property).is_expected() {
            cell.push_str(" (!)");
        }
        let _ = write!(text, "  {cell:<15}");
    }
    let seconds = report.time.as_secs_f64();
    let _ = writeln!(text, "{:>10} {:>5} {seconds:>7.1}", report.states, report.depth);
    text
}
