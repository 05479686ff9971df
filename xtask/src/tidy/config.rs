//! The lists in `tidy.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

/// Everything that a maintainer may change without touching a rule.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Config {
    /// Directories whose code explains each memory ordering it names.
    pub(crate) ordering_scope: Vec<String>,
    /// Globs of the driver files: the only files there that may name one.
    pub(crate) ordering_files: Vec<String>,
    /// Package directories whose roots forbid unsafe code.
    pub(crate) forbid_unsafe: Vec<String>,
    /// Source directories without threads, clock and atomics.
    pub(crate) pure: Vec<String>,
    /// Words, matched whole and in any case.
    pub(crate) forbidden_words: Vec<String>,
    /// Regular expressions, matched as they are.
    pub(crate) forbidden_patterns: Vec<String>,
    /// Globs of files that may use forbidden words.
    pub(crate) words_exempt: Vec<String>,
    /// Globs of sources that need not parse and follow no source rule.
    pub(crate) source_exempt: Vec<String>,
    /// Dependency name -> the cfg under which alone a package may depend on it.
    pub(crate) conditional: BTreeMap<String, String>,
    /// Package name -> what it may know.
    pub(crate) knows: BTreeMap<String, Knows>,
}

/// What the normal and build dependencies of one package may be; `*` stands for anything.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Knows {
    /// Packages of this workspace.
    pub(crate) workspace: Vec<String>,
    /// Packages of a registry.
    pub(crate) external: Vec<String>,
    /// Nothing in the workspace depends on it, not even a test.
    pub(crate) leaf: bool,
}

impl Config {
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::parse(&text).map_err(|error| format!("{}: {error}", path.display()))
    }

    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }
}
