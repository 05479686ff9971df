//! The options of `cmwq bench queue`.

use std::path::PathBuf;
use std::str::FromStr;

use cmwq::{ClaimPolicy, Scope};

use super::cell::{Cover, Mode};
use crate::source::Source;

/// Queue items from several threads, each with one in flight, for every affinity scope and three shapes
/// of submission: `under-lock` (wake-ups are issued under the pool's lock), `deferred` (after it) and
/// `inbox` (no lock, the engine's own); beside them a plain mutex-and-condvar queue (park) and, where threads spin, a
/// bare `hand-over` of one word, which no queue can beat.
#[derive(Debug, clap::Args)]
#[command(after_help = super::document::DOCUMENT_FORM)]
pub(crate) struct Arguments {
    /// Threads that queue, a list; `cpus` is one per CPU
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values = ["8", "cpus"])]
    pub(super) producers: Vec<Producers>,
    /// Items of each producer; without it each cell runs for a fraction of a second
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000_000))]
    pub(super) items: Option<u64>,
    /// Affinity scopes, a list; default: all
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub(super) scopes: Vec<Scope>,
    /// Fresh processes for each row
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) runs: u32,
    /// The most workers of each pool
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(super) workers: Option<u32>,
    /// Queue up to 4096 items without waiting, then flush, and again
    #[arg(long)]
    batch: bool,
    /// How a picked worker is claimed: stay, kicked, leave, flag or stamp
    #[arg(long, value_name = "POLICY", default_value = "kicked", value_parser = claim)]
    pub(super) claim: &'static str,
    /// Who looks after new items while workers run: watched, eager or backlog:N
    #[arg(long, value_name = "POLICY", default_value = "watched")]
    pub(super) cover: Cover,
    /// Judge the figures; the exit status is 1 when one is missed
    #[arg(long)]
    pub(super) judge: bool,
    /// Write a JSON document to FILE, or, if it is `-`, to standard output in place of the table
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
    #[command(flatten)]
    pub(super) source: Source,
}

impl Arguments {
    pub(super) fn mode(&self) -> Mode {
        if self.batch { Mode::Batch } else { Mode::One }
    }

    /// Whether rows were asked for, and not left to the command.
    pub(super) fn is_narrowed(&self) -> bool {
        let default = [Producers::Count(8), Producers::PerCpu];
        !self.scopes.is_empty() || self.workers.is_some() || self.producers != default
    }
}

/// How many producers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Producers {
    /// This many.
    Count(u32),
    /// One for each CPU that may be used here.
    PerCpu,
}

const PRODUCERS_MAX: u32 = 1024;

impl FromStr for Producers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "cpus" {
            return Ok(Producers::PerCpu);
        }
        match text.parse() {
            Ok(count) if (1..=PRODUCERS_MAX).contains(&count) => Ok(Producers::Count(count)),
            _ => Err(format!("use a number of 1 to {PRODUCERS_MAX}, or cpus")),
        }
    }
}

fn claim(text: &str) -> Result<&'static str, String> {
    let known = ClaimPolicy::ALL.iter().map(|(name, _)| *name);
    known.clone().find(|name| *name == text).ok_or_else(|| {
        let names: Vec<_> = known.collect();
        format!("use one of {}", names.join(", "))
    })
}
