//! What the process has used so far.

use std::mem::MaybeUninit;

/// Times a thread of this process left its CPU so far, by itself or preempted; ended threads count too. One system
/// call.
pub fn context_switches() -> u64 {
    let mut usage = MaybeUninit::<libc::rusage>::uninit();
    // SAFETY: the pointer is valid for writing one `rusage`.
    let result = unsafe { libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr()) };
    if result != 0 {
        return 0;
    }
    // SAFETY: the call has succeeded and so filled it.
    let usage = unsafe { usage.assume_init() };
    (usage.ru_nvcsw.max(0) as u64) + (usage.ru_nivcsw.max(0) as u64)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_sleep_is_a_switch() {
        let before = super::context_switches();
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(super::context_switches() > before);
    }
}
