//! How much CPU time a process may use.

use std::cmp::Ordering;
use std::fmt;

/// A limit on CPU time, in CPUs' worth: the tightest of those set on the process's cgroup and its
/// ancestors.
///
/// ```
/// use cmwq_sys::topology::Quota;
///
/// let quota = Quota::new(150_000, 100_000).expect("one and a half CPUs");
/// assert_eq!(quota.cpus(), 1.5);
/// assert_eq!(quota.usable_cpus(8), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Quota {
    time_us: u64,
    period_us: u64,
}

impl Quota {
    /// `time_us` microseconds of CPU time in every `period_us` microseconds. `None` if either is
    /// zero.
    pub fn new(time_us: u64, period_us: u64) -> Option<Quota> {
        (time_us > 0 && period_us > 0).then_some(Quota { time_us, period_us })
    }

    /// CPUs' worth of time, above zero: 0.25 is a quarter of one CPU.
    pub fn cpus(self) -> f64 {
        self.time_us as f64 / self.period_us as f64
    }

    /// How many of `cpus` CPUs are worth keeping busy: the quota rounded **up**, at most `cpus`, at
    /// least one.
    ///
    /// Up, since rounding down leaves time unused that was granted, whereas one thread too many is
    /// merely throttled for a part of each period. Half a CPU is one, one and a half are two.
    pub fn usable_cpus(self, cpus: usize) -> usize {
        let rounded_up = usize::try_from(self.time_us.div_ceil(self.period_us)).unwrap_or(usize::MAX);
        rounded_up.min(cpus).max(1)
    }

    /// The tighter of two quotas.
    pub(super) fn tighter(self, other: Quota) -> Quota {
        let mine = u128::from(self.time_us) * u128::from(other.period_us);
        let theirs = u128::from(other.time_us) * u128::from(self.period_us);
        if mine.cmp(&theirs) == Ordering::Greater { other } else { self }
    }
}

impl fmt::Display for Quota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cpus = (self.cpus() * 1000.0).round() / 1000.0;
        write!(f, "{cpus} {}", if cpus == 1.0 { "CPU" } else { "CPUs" })
    }
}
