//! `cmwq check`: explores the protocols of the work queue and says which promises hold.

mod flush;
mod kick;
mod ring;
mod table;

use std::process::ExitCode;
use std::time::Duration;

use cmwq_check::seam::{Config, Report, Tier, Variant, explore};
use cmwq_core::pool::ClaimPolicy;

use crate::output::{self, Failure};

/// Explore every interleaving of a protocol, and say which rules hold.
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    /// Without one, `kick`
    #[command(subcommand)]
    protocol: Option<Protocol>,
    #[command(flatten)]
    kick: kick::KickArguments,
}

#[derive(clap::Subcommand)]
enum Protocol {
    Flush(flush::FlushArguments),
    Kick(kick::KickArguments),
    Seam(SeamArguments),
    Ring(ring::RingArguments),
}

/// The seam between submission without a lock and the core under its lock: words, core and threads that may stop
/// between any two of their steps.
#[derive(clap::Args)]
pub(crate) struct SeamArguments {
    /// The configuration to explore, or `all`
    #[arg(long, value_name = "NAME", default_value = "all")]
    config: String,
    /// Explore a driver that is broken in the way named ID, or `all` of them; without, the driver that ships, and
    /// then every broken one
    #[arg(long, value_name = "ID")]
    variant: Option<String>,
    /// How a picked worker is claimed: stay, kicked (the one that ships), leave, flag, stamp, or `all`
    #[arg(long, value_name = "POLICY", default_value = "kicked")]
    claim: String,
    /// Explore the large configurations as well
    #[arg(long)]
    deep: bool,
    /// Print the shortest way to each broken rule, one line a step
    #[arg(long)]
    trace: bool,
    /// Threads that explore; paths are the shortest only with one
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    threads: usize,
    /// Give up on a configuration after this many seconds
    #[arg(long, value_name = "SECONDS")]
    limit: Option<u64>,
}

/// What was explored, and whether all of it came out as it should.
pub(crate) enum Outcome {
    /// As it should.
    Expected,
    /// Not.
    Unexpected,
}

impl Outcome {
    /// The exit status: 0, or 1 where something came out as it should not.
    pub(crate) fn into_status(self) -> ExitCode {
        match self {
            Outcome::Expected => ExitCode::SUCCESS,
            Outcome::Unexpected => ExitCode::FAILURE,
        }
    }
}

/// Explores what was asked for and prints a table line as soon as each exploration is over.
/// More threads than a large machine has CPUs explore no faster.
const THREADS_MAX: usize = 1024;

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    match &arguments.protocol {
        None => kick::run(&arguments.kick),
        Some(Protocol::Flush(flush)) => flush::run(flush),
        Some(Protocol::Kick(kick)) => kick::run(kick),
        Some(Protocol::Seam(seam)) => run_seam(seam),
        Some(Protocol::Ring(ring)) => ring::run(ring),
    }
}

fn run_seam(arguments: &SeamArguments) -> Result<Outcome, Failure> {
    let configs = configs(arguments)?;
    let variants = variants(arguments)?;
    let claims = claims(arguments)?;
    check_threads(arguments.threads)?;
    let mut sound = true;
    if arguments.variant.is_none() {
        for (claim, policy) in claims {
            output::print(&table::heading(claim))?;
            for config in &configs {
                let report = arguments.explore(&config.clone().with_claim(policy), None);
                // What the other policies give is shown, not judged.
                sound &= report.is_sound() || policy != ClaimPolicy::default();
                output::print(&table::line(&report))?;
                arguments.print_traces(&report)?;
            }
        }
    }
    if !variants.is_empty() {
        output::print(&table::variant_heading())?;
    }
    for variant in variants {
        let name = if arguments.config == "all" { variant.config() } else { arguments.config.as_str() };
        let config = Config::named(name).expect("the names of configurations were checked");
        let report = arguments.explore(&config, Some(variant));
        sound &= !report.violations.is_empty();
        output::print(&table::variant_line(variant, &report))?;
        arguments.print_traces(&report)?;
    }
    Ok(if sound { Outcome::Expected } else { Outcome::Unexpected })
}

impl SeamArguments {
    fn explore(&self, config: &Config, variant: Option<Variant>) -> Report {
        explore(config, variant, self.threads, self.limit.map(Duration::from_secs))
    }

    fn print_traces(&self, report: &Report) -> Result<(), Failure> {
        if !self.trace {
            return Ok(());
        }
        // A broken driver breaks several rules at one place; the first path tells it.
        let shown = if report.variant.is_some() { 1 } else { report.violations.len() };
        for violation in report.violations.iter().take(shown).chain(&report.noted) {
            output::print(&violation.trace(&report.config))?;
        }
        Ok(())
    }
}

fn configs(arguments: &SeamArguments) -> Result<Vec<Config>, Failure> {
    if arguments.config == "all" {
        let fits = |c: &Config| arguments.deep || c.tier < Tier::Deep;
        return Ok(Config::all().into_iter().filter(fits).collect());
    }
    let names: Vec<&str> = Config::all().iter().map(|c| c.name).collect();
    match Config::named(&arguments.config) {
        Some(config) => Ok(vec![config]),
        None => Err(unknown("configuration", &arguments.config, &names)),
    }
}

fn variants(arguments: &SeamArguments) -> Result<Vec<Variant>, Failure> {
    match arguments.variant.as_deref() {
        Some("all") => Ok(Variant::ALL.to_vec()),
        Some(id) => {
            let ids: Vec<&str> = Variant::ALL.iter().map(|v| v.id()).collect();
            Variant::parse(id).map(|v| vec![v]).ok_or_else(|| unknown("variant", id, &ids))
        }
        None if arguments.config == "all" => Ok(Variant::ALL.to_vec()),
        None => Ok(Vec::new()),
    }
}

fn claims(arguments: &SeamArguments) -> Result<Vec<(&'static str, ClaimPolicy)>, Failure> {
    if arguments.claim == "all" {
        return Ok(ClaimPolicy::ALL.to_vec());
    }
    let names: Vec<&str> = ClaimPolicy::ALL.iter().map(|(name, _)| *name).collect();
    let found = ClaimPolicy::ALL.into_iter().find(|(name, _)| *name == arguments.claim);
    found.map(|policy| vec![policy]).ok_or_else(|| unknown("claim policy", &arguments.claim, &names))
}

fn check_threads(threads: usize) -> Result<(), Failure> {
    if threads == 0 {
        return Err(Failure::input("--threads 0: at least one thread explores"));
    }
    if threads > THREADS_MAX {
        return Err(Failure::input(format!(
            "--threads {threads}: at most {THREADS_MAX}; one a CPU is enough"
        )));
    }
    Ok(())
}

fn unknown(what: &str, name: &str, names: &[&str]) -> Failure {
    Failure::input(format_args!("no {what} is called {name:?}; there are {} and all", names.join(", ")))
}

#[cfg(test)]
mod tests;
