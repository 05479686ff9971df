//! How widely an item's worker may be shared: the kernel's affinity scopes.

use std::fmt;
use std::str::FromStr;

/// How CPUs are grouped into pods, from narrow to wide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Scope {
    /// Every CPU is a pod.
    Cpu,
    /// The hardware threads of one core.
    Smt,
    /// About eight cores that share a last-level cache; never part of a core.
    #[default]
    CacheShard,
    /// The CPUs that share a last-level cache.
    Cache,
    /// The CPUs of one NUMA node.
    Numa,
    /// All CPUs.
    System,
}

impl Scope {
    /// Every scope, in the kernel's order.
    pub const ALL: [Scope; 6] =
        [Scope::Cpu, Scope::Smt, Scope::CacheShard, Scope::Cache, Scope::Numa, Scope::System];

    /// The kernel's name of the scope.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Cpu => "cpu",
            Scope::Smt => "smt",
            Scope::CacheShard => "cache_shard",
            Scope::Cache => "cache",
            Scope::Numa => "numa",
            Scope::System => "system",
        }
    }

    /// The place of the scope in [`Scope::ALL`].
    pub(super) const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that names no scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseScopeError {
    text: String,
}

impl fmt::Display for ParseScopeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is no affinity scope: use default", self.text)?;
        Scope::ALL.iter().try_for_each(|scope| write!(f, ", {scope}"))
    }
}

impl std::error::Error for ParseScopeError {}

impl FromStr for Scope {
    type Err = ParseScopeError;

    /// Reads the kernel's name of a scope; `default` is [`Scope::default`].
    fn from_str(text: &str) -> Result<Self, ParseScopeError> {
        if text == "default" {
            return Ok(Scope::default());
        }
        let named = Scope::ALL.into_iter().find(|scope| scope.name() == text);
        named.ok_or_else(|| ParseScopeError { text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests;
