//! One broken rule at one place.

use std::fmt;

/// What is wrong, where, and what to do about it; prints as one line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) path: String,
    pub(crate) line: usize,
    pub(crate) rule: &'static str,
    pub(crate) what: String,
    pub(crate) remedy: String,
}

impl Finding {
    pub(crate) fn new(
        path: &str,
        line: usize,
        rule: &'static str,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Self {
        Self { path: path.to_string(), line, rule, what: what.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}: {}: {}; {}", self.path, self.line, self.rule, self.what, self.remedy)
    }
}
