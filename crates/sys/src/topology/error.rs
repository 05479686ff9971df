//! Why a topology could not be had, and what was passed over in one that could.

use std::fmt;
use std::path::{Path, PathBuf};

use super::cpu_set::ParseCpuSetError;

/// Why there is no topology. Printed, it is one line that names the input and the remedy.
#[derive(Clone, Debug)]
pub struct TopologyError {
    kind: TopologyErrorKind,
    text: String,
}

/// The kinds of [`TopologyError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TopologyErrorKind {
    /// The root holds no readable `sys/devices/system/cpu`.
    Unreadable,
    /// The root was read, and names no CPU that is online.
    NoCpus,
    /// A synthetic spec that cannot be understood.
    Spec,
    /// The operating system did not tell this thread's affinity.
    Affinity,
}

impl TopologyError {
    /// What went wrong.
    pub fn kind(&self) -> TopologyErrorKind {
        self.kind
    }

    pub(super) fn unreadable(path: &Path, why: &str) -> Self {
        let remedy = "name the directory that stands for `/`, the one that holds `sys`";
        let text = format!("{}: {why}; {remedy}", path.display());
        TopologyError { kind: TopologyErrorKind::Unreadable, text }
    }

    pub(super) fn no_cpus(path: &Path) -> Self {
        let remedy = "an `online` list or directories `cpu0`, `cpu1`, .. are needed";
        let text = format!("{}: no CPU is online here; {remedy}", path.display());
        TopologyError { kind: TopologyErrorKind::NoCpus, text }
    }

    pub(super) fn affinity(why: &std::io::Error) -> Self {
        let text = format!("sched_getaffinity: {why}; this system call must be permitted");
        TopologyError { kind: TopologyErrorKind::Affinity, text }
    }

    /// `at` is a byte of the spec, from 0.
    pub(super) fn spec(spec: &str, at: usize, why: &str) -> Self {
        let text = format!("synthetic machine {spec:?}, byte {at}: {why}");
        TopologyError { kind: TopologyErrorKind::Spec, text }
    }

    pub(super) fn spec_cpus(spec: &str, at: usize, error: ParseCpuSetError) -> Self {
        let error = error.moved_by(at);
        TopologyError::spec(spec, error.at(), &format!("{}; write CPUs as 0-3,8", error.why()))
    }
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for TopologyError {}

/// A file or directory that was passed over, or contradicted by another, and why.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Ignored {
    /// Where it is, the root included. One entry may stand for many: `.../cpu*/cache`.
    pub path: PathBuf,
    /// What was wrong with it, and what was done instead.
    pub why: String,
}

impl Ignored {
    pub(super) fn new(path: impl Into<PathBuf>, why: impl Into<String>) -> Self {
        Ignored { path: path.into(), why: why.into() }
    }
}

impl fmt::Display for Ignored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.why)
    }
}
