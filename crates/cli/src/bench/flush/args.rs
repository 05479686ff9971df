//! The options of `cmwq bench flush`.

use std::path::PathBuf;

use super::cell::{Case, Cell};

/// Flush idle queues, and queues that threads queue items to, on machines of many CPUs.
#[derive(Debug, clap::Args)]
#[command(after_help = super::document::DOCUMENT_FORM)]
pub(crate) struct Arguments {
    /// CPUs of the synthetic machines, a list
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values = ["8", "64", "128", "192", "1024"],
        value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(super) cpus: Vec<u32>,
    /// Nodes of each; has to divide the number of CPUs
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(super) nodes: u32,
    /// Threads that queue an item and flush, a list
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values = ["1", "16"],
        value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(super) threads: Vec<u32>,
    /// Cases, a list; all if it is left out
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = case)]
    pub(super) cases: Vec<Case>,
    /// Fresh processes for each row
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) runs: u32,
    /// Time of a turn of one design, ten turns each, in ms
    #[arg(long, value_name = "MS", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub(super) turn_ms: u64,
    /// Judge the figures for 192 CPUs; the exit status is 1 when one is missed
    #[arg(long)]
    pub(super) judge: bool,
    /// Write a JSON document to FILE, or, if it is `-`, to standard output in place of the table
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
}

/// Threads that submit while another flushes.
const LOAD_THREADS: u32 = 2;

impl Arguments {
    /// What is measured, in the order of the table.
    pub(super) fn cells(&self) -> Vec<Cell> {
        let mut cells: Vec<Cell> = Vec::new();
        for case in Case::ALL.into_iter().filter(|case| self.cases.is_empty() || self.cases.contains(case)) {
            let threads = match case {
                _ if case.has_threads() => &self.threads[..],
                Case::UnderLoad => &[LOAD_THREADS],
                _ => &[1],
            };
            for &threads in threads {
                let cell = |&cpus| Cell { case, cpus, nodes: self.nodes, threads, turn_ms: self.turn_ms };
                cells.extend(self.cpus.iter().map(cell));
            }
        }
        cells
    }
}

fn case(name: &str) -> Result<Case, String> {
    let names = || Case::ALL.map(Case::name).join(", ");
    Case::ALL.into_iter().find(|case| case.name() == name).ok_or_else(|| format!("there are {}", names()))
}
