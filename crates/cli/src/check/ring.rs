//! `cmwq check ring`: which wake rules of a completion ring lose messages or hold them back.

use std::fmt::Write;

use cmwq_check::ring::{Group, Report, Rule, Scenario, Variant, expected, explore};
use serde::Serialize;

use super::{Outcome, check_threads, unknown};
use crate::output::{self, Failure, JsonTarget};

/// The completion ring: posters that may stop for ever at any step, one waiter, and the rules by which it is woken.
#[derive(clap::Args)]
pub(crate) struct RingArguments {
    /// The rule to explore: credit, credit-nopreempt, credit-eventfd-waiter, helped-futex, cmwq (the one that ships),
    /// or one of its broken forms; `all` are explored without
    #[arg(long, value_name = "ID", default_value = "all")]
    variant: String,
    /// The shape: 2x2 (posters by posts), 3x1, chain, close, or `all`
    #[arg(long, value_name = "NAME", default_value = "all")]
    shape: String,
    /// One scenario by its name, as traces and tables give it
    #[arg(long, value_name = "NAME")]
    scenario: Option<String>,
    /// Print the shortest way to each broken property, one line a step
    #[arg(long)]
    trace: bool,
    /// Write the table as JSON to FILE, or to standard output if FILE is `-`
    #[arg(long, value_name = "FILE")]
    json: Option<std::path::PathBuf>,
    /// Threads that explore; paths are the shortest only with one
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    threads: usize,
}

#[derive(Serialize)]
struct Document {
    schema: &'static str,
    rows: Vec<Row>,
}

#[derive(Serialize)]
struct Row {
    variant: &'static str,
    ships: bool,
    scenarios: usize,
    states: usize,
    seconds: f64,
    properties: Vec<Property>,
    reached: Vec<&'static str>,
    surprises: Vec<String>,
    reason: &'static str,
}

#[derive(Serialize)]
struct Property {
    property: &'static str,
    expected: &'static str,
    /// Scenarios in which it is broken.
    broken_in: usize,
    /// The length of the shortest way, and where it is.
    steps: Option<usize>,
    scenario: Option<String>,
}

/// Explores what was asked for and prints a table line as soon as each exploration is over.
pub(crate) fn run(arguments: &RingArguments) -> Result<Outcome, Failure> {
    let variants = variants(&arguments.variant)?;
    let scenarios = scenarios(arguments)?;
    check_threads(arguments.threads)?;
    let target = output::json_target(arguments.json.as_deref())?;
    let prints = target != Some(JsonTarget::Stdout);
    let all = arguments.shape == "all" && arguments.scenario.is_none();
    let mut rows = Vec::new();
    if prints {
        output::print(&heading())?;
    }
    for variant in variants {
        let report = explore(variant, &scenarios, arguments.threads);
        let row = row(&report, all);
        if prints {
            output::print(&line(&report, &row))?;
            if arguments.trace {
                for violation in Rule::ALL.iter().filter_map(|&rule| report.of(rule).1.as_ref()) {
                    output::print(&violation.trace())?;
                }
            }
        }
        rows.push(row);
    }
    let sound = rows.iter().all(|row| row.surprises.is_empty());
    if let Some(target) = &target {
        output::write_json(target, &Document { schema: "cmwq-check-ring/1", rows })?;
    }
    Ok(if sound { Outcome::Expected } else { Outcome::Unexpected })
}

fn variants(id: &str) -> Result<Vec<Variant>, Failure> {
    if id == "all" {
        return Ok(Variant::all().collect());
    }
    let ids: Vec<&str> = Variant::all().map(|v| v.id()).collect();
    Variant::parse(id).map(|v| vec![v]).ok_or_else(|| unknown("variant", id, &ids))
}

fn scenarios(arguments: &RingArguments) -> Result<Vec<Scenario>, Failure> {
    let names: Vec<&str> = Group::ALL.iter().map(|g| g.name()).collect();
    let groups = match (arguments.shape.as_str(), Group::named(&arguments.shape)) {
        ("all", _) => Group::ALL.to_vec(),
        (_, Some(group)) => vec![group],
        (name, None) => return Err(unknown("shape", name, &names)),
    };
    let mut scenarios: Vec<Scenario> = groups.into_iter().flat_map(Group::scenarios).collect();
    if let Some(name) = &arguments.scenario {
        scenarios.retain(|s| s.name() == *name);
        if scenarios.is_empty() {
            return Err(Failure::input(format_args!(
                "no scenario is called {name:?}; F-l/2 is two posters, one forced and one lazy, and a need of two"
            )));
        }
    }
    Ok(scenarios)
}

fn row(report: &Report, all: bool) -> Row {
    let verdict = expected(report.variant);
    let property = |&rule: &Rule| {
        let (broken_in, violation) = report.of(rule);
        Property {
            property: rule.name(),
            expected: if verdict.broken.contains(&rule) { "broken" } else { "holds" },
            broken_in: *broken_in,
            steps: violation.as_ref().map(|v| v.steps()),
            scenario: violation.as_ref().map(|v| v.scenario.name()),
        }
    };
    Row {
        variant: report.variant.id(),
        ships: report.variant == Variant::Cmwq,
        scenarios: report.scenarios,
        states: report.states,
        seconds: report.time.as_secs_f64(),
        properties: Rule::ALL.iter().map(property).collect(),
        reached: report.reached.iter().map(|what| what.name()).collect(),
        surprises: verdict.surprises(report, all),
        reason: verdict.reason,
    }
}

fn heading() -> String {
    let rules: Vec<&str> = Rule::ALL.iter().map(|r| r.name()).collect();
    format!(
        "ring; properties: {}; a property is broken in so many scenarios, the shortest way has so many steps\n\
         {:<22} {:>9} {:>10} {:>7}  what was found\n",
        rules.join(", "),
        "variant",
        "scenarios",
        "states",
        "seconds"
    )
}

/// One rule: every property holds, or which are broken; whether that was expected, and why.
fn line(report: &Report, row: &Row) -> String {
    let mut line =
        format!("{:<22} {:>9} {:>10} {:>7.1}  ", row.variant, row.scenarios, row.states, row.seconds);
    let broken = row.properties.iter().filter(|p| p.broken_in > 0);
    let broken: Vec<String> = broken
        .map(|p| format!("{} broken in {} ({} steps)", p.property, p.broken_in, p.steps.unwrap_or_default()))
        .collect();
    line.push_str(&if broken.is_empty() { "all hold".to_owned() } else { broken.join(", ") });
    if row.surprises.is_empty() {
        let _ = write!(line, "; as expected: {}", row.reason);
    } else {
        let _ = write!(line, "; UNEXPECTED: {}", row.surprises.join("; "));
    }
    if report.variant == Variant::Cmwq {
        line.push_str("\nbroken forms of it, each explored until it is found");
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(arguments: &[&str]) -> RingArguments {
        use clap::Parser;
        #[derive(Parser)]
        struct Whole {
            #[command(flatten)]
            ring: RingArguments,
        }
        let all = std::iter::once("ring").chain(arguments.iter().copied());
        Whole::try_parse_from(all).expect("the arguments are right").ring
    }

    fn run_ring(list: &[&str]) -> Result<Outcome, Failure> {
        run(&arguments(list))
    }

    #[test]
    fn what_holds_and_what_is_found_broken_are_both_expected() {
        for variant in ["cmwq", "credit", "helped-futex", "credit-nopreempt"] {
            let outcome = run_ring(&["--scenario", "F-F-F/1", "--variant", variant, "--trace"]);
            assert!(matches!(outcome, Ok(Outcome::Expected)), "{variant}");
        }
    }

    #[test]
    fn a_broken_form_that_is_not_found_is_unexpected() {
        let outcome = run_ring(&["--scenario", "F-F-F/1", "--variant", "forced-untold"]);
        assert!(matches!(outcome, Ok(Outcome::Unexpected)), "with a need of one, force makes no difference");
    }

    #[test]
    fn an_unknown_name_is_answered_with_those_there_are() {
        for (list, known) in [
            (["--variant", "nothing"], "helped-futex"),
            (["--shape", "round"], "2x2"),
            (["--scenario", "x"], "F-l/2"),
            (["--threads", "0"], "at least one"),
        ] {
            let text = run_ring(&list).map_err(|e| e.to_string()).err().expect("there is none");
            assert!(text.contains(known) && text.lines().count() == 1, "{text}");
        }
    }
}
