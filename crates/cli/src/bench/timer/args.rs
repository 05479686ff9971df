//! The options of `cmwq bench timer`.

use std::path::PathBuf;

/// Delay items, change their time and cancel them, while more and more others are armed; then see how late items
/// are queued.
#[derive(Debug, clap::Args)]
#[command(after_help = super::document::DOCUMENT_FORM)]
pub(crate) struct Arguments {
    /// Items that are armed meanwhile, a list
    #[arg(long, value_name = "LIST", value_delimiter = ',',
        default_values = ["100", "1000", "10000", "100000", "1000000"],
        value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    armed: Vec<u32>,
    /// Calls of each kind
    #[arg(long, value_name = "N", default_value_t = 200_000,
        value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    pub(super) items: u32,
    /// Fresh processes for each row
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) runs: u32,
    /// Judge the figures; the exit status is 1 when one is missed
    #[arg(long)]
    pub(super) judge: bool,
    /// Write a JSON document to FILE, or, if it is `-`, to standard output in place of the table
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
}

impl Arguments {
    /// Numbers of armed items, the least first, each once.
    pub(super) fn armed(&self) -> Vec<u32> {
        let mut armed = self.armed.clone();
        armed.sort_unstable();
        armed.dedup();
        armed
    }
}
