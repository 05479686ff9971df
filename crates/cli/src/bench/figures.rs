//! Percentiles, medians, ranges.

use serde::Serialize;

/// The elements at `floor(count * p / 100)` of the sorted samples, for ascending percentiles. Reorders the samples;
/// zero without any.
pub(crate) fn percentiles<const N: usize>(samples: &mut [u32], percentiles: [u32; N]) -> [u32; N] {
    let (count, mut from) = (samples.len(), 0);
    percentiles.map(|percentile| {
        if count == 0 {
            return 0;
        }
        let at = (count * percentile as usize / 100).min(count - 1).max(from);
        // What is below the last percentile is in front of it already.
        let (_, found, _) = samples[from..].select_nth_unstable(at - from);
        let found = *found;
        from = at;
        found
    })
}

/// The middle one, or the mean of both; NaN of nothing.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        count if count % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// The least; NaN of nothing.
pub(crate) fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NAN, f64::min)
}

/// The most; NaN of nothing.
pub(crate) fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NAN, f64::max)
}

/// What the median of the population is not below, with a confidence of 95 %, whatever its distribution: an order
/// statistic. Of fewer than five values, the least of them, with a confidence of `1 - 2^-n`; NaN of nothing.
pub(crate) fn lower_bound(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    // That so few of n values, or fewer, lie below the median: binomial.
    let (mut below, mut each, mut rank) =
        (0.0, 0.5_f64.powi(i32::try_from(sorted.len()).unwrap_or(i32::MAX)), 0);
    while rank < sorted.len() {
        below += each;
        if below > UNSURE {
            break;
        }
        each *= (sorted.len() - rank) as f64 / (rank + 1) as f64;
        rank += 1;
    }
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// How often a bound may be wrong.
const UNSURE: f64 = 0.05;

/// Several runs' values of one figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    /// The median.
    pub(crate) median: f64,
    /// The least.
    pub(crate) min: f64,
    /// The most.
    pub(crate) max: f64,
}

impl Spread {
    /// `None` of nothing.
    pub(crate) fn of(values: &[f64]) -> Option<Spread> {
        let spread = || Spread { median: median(values), min: least(values), max: most(values) };
        (!values.is_empty()).then(spread)
    }
}

#[cfg(test)]
mod tests;
