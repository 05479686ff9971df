//! The processor's cycle counter, for intervals too short for a clock.

use std::time::Duration;

use crate::clock;

/// The counter now: the time-stamp counter on x86-64, the virtual counter on aarch64, nanoseconds elsewhere. About 10
/// ns: it is read only after what comes before has been executed, or short intervals would look empty.
#[inline(always)]
pub fn now() -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        // SAFETY: every x86-64 processor has this instruction.
        unsafe { core::arch::x86_64::_mm_lfence() };
        // SAFETY: reads a register that user space may read on every Linux machine.
        unsafe { core::arch::x86_64::_rdtsc() }
    }
    #[cfg(target_arch = "aarch64")]
    {
        let count: u64;
        // SAFETY: reads a register that Linux opens to user space; touches no memory and no flags.
        unsafe {
            core::arch::asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack, preserves_flags))
        };
        count
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        clock::now().as_nanos() as u64
    }
}

/// How long the counter's unit is, and how much of an interval is the reading itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Units a nanosecond.
    pub per_ns: f64,
    /// The median interval of two readings with nothing in between, in units.
    pub empty_pair: u64,
}

const EMPTY_PAIRS: usize = 1001;

impl Calibration {
    /// Compares the counter with the monotonic clock for this long. Keeps the CPU busy meanwhile.
    pub fn measure(time: Duration) -> Calibration {
        let (clock_first, first) = (clock::now(), now());
        let mut pairs: Vec<u64> = (0..EMPTY_PAIRS).map(|_| empty_pair()).collect();
        let middle = pairs.len() / 2;
        let empty_pair = *pairs.select_nth_unstable(middle).1;
        while clock::now() - clock_first < time {
            std::hint::spin_loop();
        }
        let (clock_last, last) = (clock::now(), now());
        let ns = (clock_last - clock_first).as_nanos().max(1) as f64;
        Calibration { per_ns: last.saturating_sub(first).max(1) as f64 / ns, empty_pair }
    }

    /// An interval between two readings, without the reading itself, in nanoseconds.
    pub fn ns(&self, interval: u64) -> f64 {
        interval.saturating_sub(self.empty_pair) as f64 / self.per_ns
    }

    /// A duration in units of the counter.
    pub fn units(&self, duration: Duration) -> u64 {
        (duration.as_nanos() as f64 * self.per_ns) as u64
    }
}

#[inline(always)]
fn empty_pair() -> u64 {
    let first = now();
    now().wrapping_sub(first)
}

#[cfg(test)]
mod tests;
