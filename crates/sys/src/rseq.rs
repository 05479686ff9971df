//! Where the C library keeps the kernel's note of the CPU a thread runs on (its area for restartable sequences).
//!
//! The kernel rewrites the note whenever it moves the thread, so that reading it takes one instruction. C libraries
//! that have
//! no such area, or machines this code has not been written for, answer by the library's function instead.

#[cfg(all(target_arch = "x86_64", not(any(miri, cmwq_shuttle))))]
use std::sync::OnceLock;

/// The note, if this process has one.
#[inline]
pub(crate) fn cpu() -> Option<u32> {
    // An interpreter, and a model, run every thread in one place.
    #[cfg(any(miri, cmwq_shuttle))]
    return Some(0);
    #[cfg(all(target_arch = "x86_64", not(any(miri, cmwq_shuttle))))]
    if let Some(offset) = note() {
        let cpu: i32;
        // SAFETY: `note` has found the library's area, which lies at this offset from the thread pointer in every
        // thread, and
        // is registered for as long as the thread runs.
        unsafe {
            core::arch::asm!(
                "mov {cpu:e}, fs:[{note}]",
                cpu = out(reg) cpu,
                note = in(reg) offset,
                options(nostack, preserves_flags, readonly)
            );
        }
        // Negative where the kernel refused to register the thread's area.
        return u32::try_from(cpu).ok();
    }
    #[cfg(not(any(miri, cmwq_shuttle)))]
    None
}

/// The field `cpu_id` of the area: after `cpu_id_start`.
#[cfg(all(target_arch = "x86_64", not(any(miri, cmwq_shuttle))))]
const CPU_ID: isize = 4;

#[cfg(all(target_arch = "x86_64", not(any(miri, cmwq_shuttle))))]
#[inline]
fn note() -> Option<isize> {
    static NOTE: OnceLock<Option<isize>> = OnceLock::new();
    *NOTE.get_or_init(|| {
        // SAFETY: the names end with a zero byte; the answers are addresses of objects of the C library, or null.
        let offset = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_offset".as_ptr()) };
        // SAFETY: as above.
        let size = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__rseq_size".as_ptr()) };
        if offset.is_null() || size.is_null() {
            return None;
        }
        // SAFETY: the library's documented type of this constant, written before `main`.
        let size = unsafe { *size.cast::<libc::c_uint>() };
        // SAFETY: as above.
        let offset = unsafe { *offset.cast::<libc::ptrdiff_t>() };
        (size != 0).then_some(offset + CPU_ID)
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_note_names_the_cpu_a_bound_thread_runs_on() {
        let Some(_) = super::cpu() else {
            eprintln!("skipped: this C library keeps no note of the CPU");
            return;
        };
        let before = crate::affinity::current().unwrap();
        for cpu in before.iter() {
            crate::affinity::set_current(&[cpu].into_iter().collect()).unwrap();
            assert_eq!(super::cpu(), Some(cpu.0));
        }
        crate::affinity::set_current(&before).unwrap();
    }
}
