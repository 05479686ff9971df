//! How far apart the CPUs are while something is measured: hypervisors move virtual CPUs, and what ran with them at
//! another distance is no measure for this.

use cmwq_sys::topology::CpuSet;

use super::figures::{least, most};
use super::mailbox;

/// Round trips of a cache line that differ by this much are of CPUs at different distances.
const RATIO: f64 = 2.0;

/// A cache line's round trip between two CPUs, in ns, right before and right after; `None` where it is not known.
pub(super) type Trips = Option<[f64; 2]>;

/// Whether all of these ran with the CPUs equally far apart, as far as is known.
pub(super) fn is_one(trips: impl IntoIterator<Item = Trips>) -> bool {
    let trips: Vec<f64> = trips.into_iter().flatten().flatten().collect();
    trips.is_empty() || most(&trips) < least(&trips) * RATIO
}

/// Looks between measurements.
pub(super) struct Watch<'a> {
    cpus: &'a CpuSet,
    /// As it was last.
    last: Option<f64>,
}

impl Watch<'_> {
    /// Looks for the first time.
    pub(super) fn new(cpus: &CpuSet) -> Watch<'_> {
        Watch { cpus, last: mailbox::round_trip_ns(cpus) }
    }

    /// After a measurement: the round trips around it.
    pub(super) fn trips(&mut self) -> Trips {
        let before = std::mem::replace(&mut self.last, mailbox::round_trip_ns(self.cpus));
        before.zip(self.last).map(|(before, after)| [before, after])
    }

    /// The distance as it was last, as that of something that ran with nothing changing.
    pub(super) fn now(&self) -> Trips {
        self.last.map(|last| [last; 2])
    }
}

#[cfg(test)]
mod tests {
    use super::is_one;

    #[test]
    fn a_factor_of_two_is_another_distance() {
        assert!(is_one([Some([100.0, 199.0]), Some([120.0, 130.0])]));
        assert!(!is_one([Some([100.0, 200.0])]), "moved meanwhile");
        assert!(!is_one([Some([100.0, 110.0]), Some([210.0, 220.0])]));
        assert!(is_one([None, Some([100.0, 110.0]), None]));
        assert!(is_one([None]));
    }
}
