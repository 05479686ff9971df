//! Which machine a command looks at.

use std::path::{Path, PathBuf};

use cmwq_sys::topology::Topology;
use serde::{Deserialize, Serialize};

use crate::output::Failure;

/// This machine, unless an option names another.
#[derive(Clone, Debug, Default, clap::Args, Serialize, Deserialize)]
pub(crate) struct Source {
    /// Read the machine whose files are below DIR, which stands for `/` (it holds `sys/`); the
    /// limits of this process are not applied
    #[arg(long, value_name = "DIR")]
    sysfs: Option<PathBuf>,
    /// Take the machine that SPEC describes, such as `node:2/cache:4/core:8/thread:2`
    #[arg(long, value_name = "SPEC", conflicts_with = "sysfs")]
    synthetic: Option<String>,
}

impl Source {
    /// Reads it.
    pub(crate) fn read(&self) -> Result<Topology, Failure> {
        let topology = match (&self.synthetic, self.sysfs.as_deref()) {
            (Some(spec), _) => Topology::synthetic(spec),
            (None, Some(root)) => Topology::from_sysfs(non_empty(root)),
            (None, None) => Topology::detect(),
        };
        topology.map_err(Failure::input)
    }

    /// What was asked for, in a few words.
    pub(crate) fn name(&self) -> String {
        match (&self.synthetic, &self.sysfs) {
            (Some(spec), _) => format!("synthetic {spec}"),
            (None, Some(root)) => format!("sysfs {}", root.display()),
            (None, None) => "this machine".to_owned(),
        }
    }
}

/// An empty path is this directory, as everywhere else.
fn non_empty(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}
