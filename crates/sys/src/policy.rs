//! How the system schedules the calling thread.

use std::fmt;
use std::io;

/// How the system schedules a thread in real time, and its priority: it runs before every thread of the normal policy
/// and before those of a lower priority. On Linux 1 is the lowest priority and 99 the highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchedPolicy {
    /// SCHED_FIFO: it runs until it sleeps.
    Fifo(u8),
    /// SCHED_RR: those of one priority take turns.
    RoundRobin(u8),
}

impl SchedPolicy {
    /// The priority.
    pub const fn priority(self) -> u8 {
        let (SchedPolicy::Fifo(priority) | SchedPolicy::RoundRobin(priority)) = self;
        priority
    }
}

impl fmt::Display for SchedPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SchedPolicy::Fifo(priority) => write!(f, "SCHED_FIFO {priority}"),
            SchedPolicy::RoundRobin(priority) => write!(f, "SCHED_RR {priority}"),
        }
    }
}

/// Puts the calling thread under this policy. Threads that it creates inherit it. Never blocks.
///
/// # Errors
/// The system's: that it is not permitted, or that the priority is out of [`priorities`].
pub fn set(policy: SchedPolicy) -> io::Result<()> {
    match policy {
        SchedPolicy::Fifo(priority) => set_scheduler(libc::SCHED_FIFO, priority),
        SchedPolicy::RoundRobin(priority) => set_scheduler(libc::SCHED_RR, priority),
    }
}

/// The policy of the calling thread, if it is one in real time. Never blocks.
pub fn current() -> Option<SchedPolicy> {
    // SAFETY: a structure of integers, for which zeros are valid.
    let mut parameter: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: the parameter is valid for the call; 0 is the calling thread.
    unsafe { libc::sched_getparam(0, &mut parameter) };
    let priority = parameter.sched_priority as u8;
    // SAFETY: the call takes a number.
    match unsafe { libc::sched_getscheduler(0) } & !libc::SCHED_RESET_ON_FORK {
        libc::SCHED_FIFO => Some(SchedPolicy::Fifo(priority)),
        libc::SCHED_RR => Some(SchedPolicy::RoundRobin(priority)),
        _ => None,
    }
}

/// The priorities that the system knows for real time: on Linux 1 to 99.
pub fn priorities() -> std::ops::RangeInclusive<u8> {
    // SAFETY: the call takes a number.
    let least = unsafe { libc::sched_get_priority_min(libc::SCHED_FIFO) };
    // SAFETY: as above.
    let most = unsafe { libc::sched_get_priority_max(libc::SCHED_FIFO) };
    least as u8..=most as u8
}

/// Puts the calling thread under SCHED_FIFO with this priority, or back under the normal policy with 0. Threads that it
/// creates inherit the policy. Never blocks.
///
/// # Errors
/// The system's: mostly that it is not permitted.
pub fn set_fifo(priority: u8) -> io::Result<()> {
    set_scheduler(if priority == 0 { libc::SCHED_OTHER } else { libc::SCHED_FIFO }, priority)
}

fn set_scheduler(policy: libc::c_int, priority: u8) -> io::Result<()> {
    // SAFETY: a structure of integers, for which zeros are valid.
    let mut parameter: libc::sched_param = unsafe { std::mem::zeroed() };
    parameter.sched_priority = priority.into();
    // SAFETY: the parameter is valid for the call; 0 is the calling thread.
    match unsafe { libc::sched_setscheduler(0, policy, &parameter) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
