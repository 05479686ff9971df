//! Whether a figure is what it should be.

use std::fmt;

use serde::{Serialize, Serializer};

use super::figures::Spread;

/// What a figure's median should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bound {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
}

/// One judged figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Verdict {
    /// What it is.
    pub(crate) figure: String,
    /// What was measured.
    pub(crate) found: Spread,
    /// What it should be.
    pub(crate) bound: Bound,
    /// Whether it is.
    pub(crate) holds: bool,
}

impl Verdict {
    /// Judges a figure by its median.
    pub(crate) fn new(figure: String, found: Spread, bound: Bound) -> Verdict {
        let holds = match bound {
            Bound::AtLeast(least) => found.median >= least,
            Bound::AtMost(most) => found.median <= most,
        };
        Verdict { figure, found, bound, holds }
    }
}

impl Verdict {
    /// Judges a figure by its worst run.
    pub(crate) fn by_worst(figure: String, found: Spread, bound: Bound) -> Verdict {
        let holds = match bound {
            Bound::AtLeast(least) => found.min >= least,
            Bound::AtMost(most) => found.max <= most,
        };
        Verdict { figure: format!("{figure} (worst run)"), found, bound, holds }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::AtLeast(bound) => write!(f, "at least {bound}"),
            Bound::AtMost(bound) => write!(f, "at most {bound}"),
        }
    }
}

impl Serialize for Bound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Spread { median, min, max } = self.found;
        let holds = if self.holds { "holds " } else { "MISSED" };
        // Ratios have decimals that matter, rates have not.
        let decimals = if median < 1000.0 { 3 } else { 0 };
        write!(f, "{holds}  {}: {median:.decimals$} ({min:.decimals$} to {max:.decimals$}), ", self.figure)?;
        self.bound.fmt(f)
    }
}

#[cfg(test)]
mod tests;
