//! On which CPUs the calling thread may run, and on which it does. Any number of CPUs.

use std::io;

use crate::topology::{CpuId, CpuSet};

/// The kernel's masks are arrays of this.
type Word = libc::c_ulong;

/// A mask for this many CPUs is tried first.
const CPUS_AT_FIRST: usize = 1024;

/// The CPUs the calling thread may run on. One or a few system calls; does not block.
///
/// # Errors
/// Those of `sched_getaffinity`, such as a sandbox that forbids it.
pub fn current() -> io::Result<CpuSet> {
    let mut words = vec![0; CPUS_AT_FIRST / Word::BITS as usize];
    loop {
        let bytes = size_of_val(words.as_slice());
        // SAFETY: the pointer is valid for writing `bytes` bytes, and any bit pattern is a mask.
        let result = unsafe { libc::sched_getaffinity(0, bytes, words.as_mut_ptr().cast()) };
        if result == 0 {
            return Ok(cpus_of(&words));
        }
        let error = io::Error::last_os_error();
        let is_too_small = error.raw_os_error() == Some(libc::EINVAL);
        if !is_too_small || words.len() * Word::BITS as usize >= CpuSet::LIMIT as usize {
            return Err(error);
        }
        words = vec![0; words.len() * 2];
    }
}

/// Binds the calling thread to these CPUs. One system call; it may move the thread before it
/// returns.
///
/// # Errors
/// Those of `sched_setaffinity`: `InvalidInput` if no CPU of the set is online and allowed by the
/// cpuset.
pub fn set_current(cpus: &CpuSet) -> io::Result<()> {
    let words = words_of(cpus);
    let bytes = size_of_val(words.as_slice());
    // SAFETY: the pointer is valid for reading `bytes` bytes.
    let result = unsafe { libc::sched_setaffinity(0, bytes, words.as_ptr().cast()) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The CPU the calling thread runs on, or ran on a moment ago. No system call where the vDSO or
/// rseq answers; never fails: 0 where the kernel does not tell.
#[inline]
pub fn current_cpu() -> u32 {
    if let Some(cpu) = crate::rseq::cpu() {
        return cpu;
    }
    // SAFETY: takes nothing and touches no memory of ours.
    let cpu = unsafe { libc::sched_getcpu() };
    u32::try_from(cpu).unwrap_or(0)
}

fn cpus_of(words: &[Word]) -> CpuSet {
    let bits = words.len() as u32 * Word::BITS;
    let is_set = |bit: &u32| words[(bit / Word::BITS) as usize] >> (bit % Word::BITS) & 1 == 1;
    (0..bits).filter(is_set).map(CpuId).collect()
}

fn words_of(cpus: &CpuSet) -> Vec<Word> {
    let count = cpus.last().map_or(1, |last| last.0 / Word::BITS + 1);
    let mut words = vec![0; count as usize];
    for cpu in cpus {
        words[(cpu.0 / Word::BITS) as usize] |= 1 << (cpu.0 % Word::BITS);
    }
    words
}

#[cfg(test)]
mod tests;
