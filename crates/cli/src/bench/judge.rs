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
    /// Why this machine cannot reach the bound, measured in the same runs; such a figure is not counted as missed.
    pub(crate) beyond: Option<String>,
    /// Of a missed figure: what bounds it, measured in the same runs. It is counted as missed all the same.
    pub(crate) because: Option<String>,
}

impl Verdict {
    /// Judges a figure by its median.
    pub(crate) fn new(figure: String, found: Spread, bound: Bound) -> Verdict {
        let holds = match bound {
            Bound::AtLeast(least) => found.median >= least,
            Bound::AtMost(most) => found.median <= most,
        };
        Verdict { figure, found, bound, holds, beyond: None, because: None }
    }
}

impl Verdict {
    /// Judges a figure by its worst run.
    pub(crate) fn by_worst(figure: String, found: Spread, bound: Bound) -> Verdict {
        let holds = match bound {
            Bound::AtLeast(least) => found.min >= least,
            Bound::AtMost(most) => found.max <= most,
        };
        Verdict { figure: format!("{figure} (worst run)"), found, bound, holds, beyond: None, because: None }
    }

    /// Judges a figure by what its median is not below, with confidence.
    pub(crate) fn by_lower(figure: String, found: Spread, lower: f64, least: f64) -> Verdict {
        let figure = format!("{figure} (lower bound {lower:.3})");
        let (bound, holds) = (Bound::AtLeast(least), lower >= least);
        Verdict { figure, found, bound, holds, beyond: None, because: None }
    }

    /// Says what bounds a figure that does not hold.
    pub(crate) fn because(self, why: impl FnOnce() -> Option<String>) -> Verdict {
        if self.holds { self } else { Verdict { because: why(), ..self } }
    }

    /// Gives the reason why nothing could reach the bound here.
    pub(crate) fn beyond(self, why: Option<String>) -> Verdict {
        Verdict { beyond: why.filter(|_| !self.holds), ..self }
    }

    /// Whether it should hold here and does not.
    pub(crate) fn is_missed(&self) -> bool {
        !self.holds && self.beyond.is_none()
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
        let holds = match (self.holds, &self.beyond) {
            (true, _) => "holds ",
            (false, None) => "MISSED",
            (false, Some(_)) => "beyond",
        };
        // Ratios have decimals that matter, rates have not.
        let decimals = if median < 1000.0 { 3 } else { 0 };
        write!(f, "{holds}  {}: {median:.decimals$} ({min:.decimals$} to {max:.decimals$}), ", self.figure)?;
        self.bound.fmt(f)?;
        self.beyond.iter().chain(&self.because).try_for_each(|why| write!(f, "; {why}"))
    }
}

#[cfg(test)]
mod tests;
