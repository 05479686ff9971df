//! `cmwq topo`: shows a machine as work queues see it.

mod document;
mod picture;

use std::path::PathBuf;

use cmwq_sys::topology::SPEC_GRAMMAR;

use document::DOCUMENT_FORM;

use crate::output::{self, Failure, JsonTarget};
use crate::source::Source;

/// Show which CPUs there are, which of them may be used, and the pods of every affinity scope.
#[derive(clap::Args)]
#[command(after_help = format!("{SPEC_GRAMMAR}\n\n{DOCUMENT_FORM}"))]
pub(crate) struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Write a JSON document to FILE, or, if it is `-`, to standard output in place of the picture
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Reads the machine asked for and shows it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let topology = arguments.source.read()?;
    let target = arguments.json.as_deref().map(JsonTarget::from);
    if let Some(target) = &target {
        output::write_json(target, &document::of(&topology))?;
    }
    match target {
        Some(JsonTarget::Stdout) => Ok(()),
        _ => output::print(&picture::of(&topology)),
    }
}
