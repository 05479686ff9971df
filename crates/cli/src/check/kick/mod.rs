//! `cmwq check kick`: who is picked, woken and culled, by every design, with the shortest way to each broken promise.

mod picture;
mod rows;

use std::path::PathBuf;

use cmwq_check::kick::{Bounds, Property, Report, Rules, Setup, Variant, explore};

use super::{Outcome, unknown};
use crate::output::{self, Failure, JsonTarget};
use rows::{Document, Row};

/// Whether a picked worker can be culled and its item stranded: every design, each promise, the shortest sequences.
#[derive(clap::Args)]
pub(crate) struct KickArguments {
    /// The design to explore, or `all`
    #[arg(long, value_name = "ID", default_value = "all")]
    variant: String,
    /// The setup to explore, `table` for those with expectations, or `all`
    #[arg(long, value_name = "NAME", default_value = "table")]
    setup: String,
    /// Idle workers that culling leaves; without, 0, 1 and 2
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u8).range(0..=4))]
    floor: Option<u8>,
    /// Show this promise alone
    #[arg(long, value_name = "ID")]
    property: Option<String>,
    /// Cull without the rule that idle workers must outnumber a quarter of the busy ones
    #[arg(long)]
    no_ratio: bool,
    /// Let a worker be freed although somebody owes it a wake-up
    #[arg(long)]
    no_reference: bool,
    /// Print the shortest way to each broken promise, one line a step
    #[arg(long)]
    trace: bool,
    /// Draw the shortest way of all to a broken promise into FILE, as SVG with a lane for each thread
    #[arg(long, value_name = "FILE")]
    picture: Option<PathBuf>,
    /// Write rows and traces to FILE as JSON (`-`: to standard output, and nothing else)
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Threads that explore; ways are the shortest only with one
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    threads: usize,
    /// Memory for states; an exploration that needs more ends as `gave up`
    #[arg(long, value_name = "MIB", default_value_t = 3072, value_parser = clap::value_parser!(u64).range(1..=1 << 22))]
    memory: u64,
}

pub(crate) fn run(arguments: &KickArguments) -> Result<Outcome, Failure> {
    let variants = variants(&arguments.variant)?;
    let setups = setups(&arguments.setup)?;
    let properties = properties(arguments.property.as_deref())?;
    super::check_threads(arguments.threads)?;
    let target = output::json_target(arguments.json.as_deref())?;
    let quiet = target == Some(JsonTarget::Stdout);
    let floors = arguments.floor.map_or_else(|| vec![0, 1, 2], |floor| vec![floor]);
    let bounds = Bounds { threads: arguments.threads, memory: (arguments.memory as usize) << 20 };
    let mut document = Document::new();
    let mut shortest: Option<(Report, Property)> = None;
    for setup in setups {
        if !quiet {
            output::print(&rows::heading(&setup, &properties))?;
        }
        for &variant in &variants {
            for &floor in &floors {
                let rules = Rules {
                    ratio: !arguments.no_ratio,
                    reference: !arguments.no_reference,
                    ..Rules::new(variant, floor)
                };
                let report = explore(setup, rules, bounds);
                if !quiet {
                    output::print(&rows::line(&report, &properties))?;
                    arguments.print_traces(&report, &properties)?;
                }
                for &property in &properties {
                    document.rows.push(Row::new(&report, property));
                    let Some(trace) = report.violation(property) else { continue };
                    let best = shortest.as_ref().and_then(|(report, property)| report.violation(*property));
                    if best.is_none_or(|best| trace.steps.len() < best.steps.len()) {
                        shortest = Some((report.clone(), property));
                    }
                }
            }
        }
    }
    document.judge_twins(&properties);
    if let Some(path) = &arguments.picture {
        draw(path, shortest.as_ref())?;
    }
    if let Some(target) = &target {
        output::write_json(target, &document)?;
    }
    if !quiet {
        output::print(&document.summary())?;
    }
    Ok(if document.is_expected() { Outcome::Expected } else { Outcome::Unexpected })
}

impl KickArguments {
    fn print_traces(&self, report: &Report, properties: &[Property]) -> Result<(), Failure> {
        if !self.trace {
            return Ok(());
        }
        for trace in report.violations.iter().filter(|trace| properties.contains(&trace.property)) {
            output::print(&trace.text())?;
        }
        Ok(())
    }
}

fn draw(path: &std::path::Path, shortest: Option<&(Report, Property)>) -> Result<(), Failure> {
    let Some((report, property)) = shortest else {
        return Err(Failure::input("--picture: no promise is broken here, so there is nothing to draw"));
    };
    let trace = report.violation(*property).expect("it was kept for this violation");
    let title = format!(
        "{} with a floor of {}, {}: {}",
        report.rules.variant.id(),
        report.rules.floor,
        report.setup.name,
        property.id()
    );
    let written = std::fs::write(path, picture::svg(&title, trace));
    written.map_err(|error| Failure::input(format_args!("{}: {error}", path.display())))
}

fn variants(id: &str) -> Result<Vec<Variant>, Failure> {
    if id == "all" {
        return Ok(Variant::ALL.to_vec());
    }
    let ids = Variant::ALL.map(Variant::id);
    Variant::parse(id).map(|variant| vec![variant]).ok_or_else(|| unknown("variant", id, &ids))
}

fn setups(name: &str) -> Result<Vec<Setup>, Failure> {
    match name {
        "all" => Ok(Setup::ALL.to_vec()),
        "table" => Ok(Setup::TABLE.to_vec()),
        name => {
            let mut names: Vec<&str> = Setup::ALL.iter().map(|setup| setup.name).collect();
            names.push("table");
            Setup::named(name).map(|setup| vec![setup]).ok_or_else(|| unknown("setup", name, &names))
        }
    }
}

fn properties(id: Option<&str>) -> Result<Vec<Property>, Failure> {
    let Some(id) = id else { return Ok(Property::ALL.to_vec()) };
    let ids = Property::ALL.map(Property::id);
    Property::parse(id).map(|property| vec![property]).ok_or_else(|| unknown("property", id, &ids))
}

#[cfg(test)]
mod tests;
