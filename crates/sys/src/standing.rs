//! What a thread has set for itself with the system, and what has changed in it: how it stands.

use crate::affinity;
use crate::topology::CpuSet;
use std::fmt;
use std::io;
use std::mem::MaybeUninit;

/// What can change in how a thread stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Leftover {
    /// Which signals it blocks.
    Signals,
    /// On which CPUs it may run.
    Cpus,
    /// Its scheduling policy, priority or nice value.
    Scheduling,
}

impl fmt::Display for Leftover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Leftover::Signals => "the mask of blocked signals",
            Leftover::Cpus => "the CPUs the thread may run on",
            Leftover::Scheduling => "the scheduling policy, priority or nice value",
        })
    }
}

impl Leftover {
    const ALL: [Leftover; 3] = [Leftover::Signals, Leftover::Cpus, Leftover::Scheduling];
}

/// How a thread stands. What the system does not tell is not there, and counts as unchanged.
#[derive(Clone, Debug)]
pub struct Standing {
    /// A bit a signal, from 1.
    signals: Option<u64>,
    cpus: Option<CpuSet>,
    scheduling: Option<Scheduling>,
}

/// What `sched_getattr` tells: policy, flags, nice value, priority, and the times of deadlines. As the kernel lays it
/// out in its first version.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Scheduling {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    times: [u64; 3],
}

impl Standing {
    /// How the calling thread stands. Three system calls; does not block.
    pub fn current() -> Standing {
        Standing {
            signals: signals().ok(),
            cpus: affinity::current().ok(),
            scheduling: Scheduling::current().ok(),
        }
    }

    /// What is different in another.
    pub fn changes(&self, other: &Standing) -> impl Iterator<Item = Leftover> {
        let same = [
            is_same(&self.signals, &other.signals),
            is_same(&self.cpus, &other.cpus),
            is_same(&self.scheduling, &other.scheduling),
        ];
        Leftover::ALL.into_iter().zip(same).filter_map(|(what, same)| (!same).then_some(what))
    }

    /// Makes the calling thread stand like this again, in one respect.
    ///
    /// # Errors
    /// The system's, mostly that it is not permitted, as a lower nice value or another policy may be.
    pub fn restore(&self, what: Leftover) -> io::Result<()> {
        match what {
            Leftover::Signals => self.signals.map_or(Ok(()), set_signals),
            Leftover::Cpus => self.cpus.as_ref().map_or(Ok(()), affinity::set_current),
            Leftover::Scheduling => self.scheduling.map_or(Ok(()), Scheduling::set_current),
        }
    }
}

fn is_same<T: PartialEq>(one: &Option<T>, other: &Option<T>) -> bool {
    one.is_none() || other.is_none() || one == other
}

fn signals() -> io::Result<u64> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: no new set is given, and the old one's place is valid for the call.
    let result = unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), set.as_mut_ptr()) };
    if result != 0 {
        return Err(io::Error::from_raw_os_error(result));
    }
    // SAFETY: the call has filled it.
    let set = unsafe { set.assume_init() };
    // SAFETY: the set is valid; a number that is no signal is answered with an error.
    let is_member = |signal: &i32| unsafe { libc::sigismember(&raw const set, *signal) } == 1;
    Ok((1..=64).filter(is_member).fold(0, |bits, signal| bits | 1 << (signal - 1)))
}

fn set_signals(bits: u64) -> io::Result<()> {
    let mut set = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset initialises the set it is given.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    for signal in (1..=64).filter(|signal| bits >> (signal - 1) & 1 == 1) {
        // SAFETY: the set is initialised; the C library's own signals are refused, and stay as they are.
        unsafe { libc::sigaddset(set.as_mut_ptr(), signal) };
    }
    // SAFETY: the set is valid for the call; no old set is asked for.
    match unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, set.as_ptr(), std::ptr::null_mut()) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

impl Scheduling {
    const SIZE: u32 = size_of::<Scheduling>() as u32;

    fn current() -> io::Result<Scheduling> {
        let mut found = Scheduling::default();
        // SAFETY: the place is valid for writing as many bytes as are named; 0 is the calling thread.
        let result = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut found, Self::SIZE, 0) };
        if result == 0 { Ok(found) } else { Err(io::Error::last_os_error()) }
    }

    fn set_current(mut self) -> io::Result<()> {
        self.size = Self::SIZE;
        // SAFETY: the structure is valid for the call; 0 is the calling thread.
        let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const self, 0) };
        if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

#[cfg(test)]
mod tests;
