//! `cmwq topo`: shows a machine as work queues see it.

mod document;
mod picture;

use std::path::{Path, PathBuf};

use cmwq_sys::topology::{SPEC_GRAMMAR, Topology};

use document::DOCUMENT_FORM;

use crate::output::{self, Failure, JsonTarget};

/// Show which CPUs there are, which of them may be used, and the pods of every affinity scope.
#[derive(clap::Args)]
#[command(after_help = format!("{SPEC_GRAMMAR}\n\n{DOCUMENT_FORM}"))]
pub(crate) struct Arguments {
    /// Read the machine whose files are below DIR, which stands for `/` (it holds `sys/`); the
    /// limits of this process are not applied
    #[arg(long, value_name = "DIR")]
    sysfs: Option<PathBuf>,
    /// Show the machine that SPEC describes; see below
    #[arg(long, value_name = "SPEC", conflicts_with = "sysfs")]
    synthetic: Option<String>,
    /// Write a JSON document to FILE, or, if it is `-`, to standard output in place of the picture
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Reads the machine asked for and shows it.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    let topology = read(arguments)?;
    let target = arguments.json.as_deref().map(JsonTarget::from);
    if let Some(target) = &target {
        output::write_json(target, &document::of(&topology))?;
    }
    match target {
        Some(JsonTarget::Stdout) => Ok(()),
        _ => output::print(&picture::of(&topology)),
    }
}

fn read(arguments: &Arguments) -> Result<Topology, Failure> {
    let topology = match (&arguments.synthetic, arguments.sysfs.as_deref()) {
        (Some(spec), _) => Topology::synthetic(spec),
        (None, Some(root)) => Topology::from_sysfs(non_empty(root)),
        (None, None) => Topology::detect(),
    };
    topology.map_err(Failure::input)
}

/// An empty path is this directory, as everywhere else.
fn non_empty(path: &Path) -> &Path {
    if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    }
}
