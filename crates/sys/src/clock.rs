//! Monotonic time.

use core::time::Duration;
use rustix::time::{ClockId, clock_gettime};

/// Time since an arbitrary start, which never runs backwards. About 30 ns, no system call on usual machines.
pub fn now() -> Duration {
    to_duration(clock_gettime(ClockId::Monotonic))
}

/// CPU time used so far by all threads of this process.
pub fn process_cpu_time() -> Duration {
    to_duration(clock_gettime(ClockId::ProcessCPUTime))
}

fn to_duration(time: rustix::time::Timespec) -> Duration {
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}
