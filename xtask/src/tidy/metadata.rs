//! The workspace as cargo sees it: packages, their targets and direct dependencies.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// The part of `cargo metadata` that the rules read.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Metadata {
    pub(crate) workspace_root: PathBuf,
    pub(crate) packages: Vec<Package>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) manifest_path: PathBuf,
    #[serde(default)]
    pub(crate) dependencies: Vec<Dependency>,
    #[serde(default)]
    pub(crate) targets: Vec<Target>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// `None` is a normal dependency; else `dev` or `build`.
    pub(crate) kind: Option<String>,
    /// The `cfg(..)` or triple that it is limited to.
    pub(crate) target: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Target {
    pub(crate) kind: Vec<String>,
    pub(crate) src_path: PathBuf,
}

impl Metadata {
    /// Asks cargo about the workspace of the current directory.
    pub(crate) fn read() -> Result<Self, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["metadata", "--format-version", "1", "--no-deps"])
            .output()
            .map_err(|error| format!("cannot run cargo metadata: {error}"))?;
        if !output.status.success() {
            return Err(format!("cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr)));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        Self::parse(&text)
    }

    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| format!("cargo metadata is not understood: {error}"))
    }

    /// A path below the workspace root, with `/` between its names.
    pub(crate) fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.workspace_root).unwrap_or(path).to_string_lossy().into_owned()
    }

    pub(crate) fn is_member(&self, name: &str) -> bool {
        self.packages.iter().any(|package| package.name == name)
    }
}

impl Target {
    /// Tests, benches and examples: code that does not ship.
    pub(crate) fn is_test(&self) -> bool {
        self.kind.iter().any(|kind| matches!(kind.as_str(), "test" | "bench" | "example"))
    }
}
