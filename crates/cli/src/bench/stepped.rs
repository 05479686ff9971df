//! How many atomic read-modify-writes and system calls a piece of code makes: it is run in a fresh process, one
//! instruction at a time.

use std::process::{Command, Stdio};

use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::{Signal, raise};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use serde::Serialize;

/// What is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// Atomic read-modify-writes.
    pub(super) atomics: u64,
    /// System calls.
    pub(super) calls: u64,
}

/// Who counts no instructions gives up after so many.
const INSTRUCTIONS_MAX: u64 = 20_000_000;

/// In the fresh process: what `code` makes is counted, on the calling thread, which must be the process's first.
pub(super) fn counted(code: impl FnOnce()) -> Result<(), Errno> {
    ptrace::traceme()?;
    // Between the first two stops nothing is run: what a stop itself takes.
    raise(Signal::SIGSTOP)?;
    raise(Signal::SIGSTOP)?;
    code();
    raise(Signal::SIGSTOP)
}

/// Counts what a fresh process of this command makes in its `counted`. An error says why not.
pub(super) fn count<C: Serialize>(command: &str, cell: &C) -> Result<Counts, String> {
    let cell = serde_json::to_string(cell).map_err(|error| error.to_string())?;
    let executable = std::env::current_exe().map_err(|error| format!("this executable: {error}"))?;
    let mut process = Command::new(executable)
        .args(["bench", command, &cell])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| format!("a process cannot be started: {error}"))?;
    let counts = sections(Pid::from_raw(process.id().cast_signed()));
    // It may have ended by itself.
    _ = process.kill();
    _ = process.wait();
    let [empty, full] = counts?;
    Ok(Counts {
        atomics: full.atomics.saturating_sub(empty.atomics),
        calls: full.calls.saturating_sub(empty.calls),
    })
}

/// What is done between its stops.
fn sections(process: Pid) -> Result<[Counts; 2], String> {
    if !has_decoder() {
        return Err("instructions are counted on x86-64 only".to_owned());
    }
    expect_stop(process, Signal::SIGSTOP)?;
    let mut counts = [Counts::default(); 2];
    let mut left = INSTRUCTIONS_MAX;
    for count in &mut counts {
        loop {
            let next = next_instruction(process)?;
            count.atomics += u64::from(is_atomic(next));
            count.calls += u64::from(is_call(next));
            ptrace::step(process, None).map_err(|error| format!("a step is not permitted: {error}"))?;
            match expect_stop(process, Signal::SIGTRAP)? {
                Signal::SIGSTOP => break,
                _ => left -= 1,
            }
            if left == 0 {
                return Err(format!("no end within {INSTRUCTIONS_MAX} instructions"));
            }
        }
    }
    Ok(counts)
}

/// Answers that signal, or SIGSTOP.
fn expect_stop(process: Pid, signal: Signal) -> Result<Signal, String> {
    match waitpid(process, None) {
        Ok(WaitStatus::Stopped(_, by)) if by == signal || by == Signal::SIGSTOP => Ok(by),
        Ok(other) => Err(format!("the process was to stop, but: {other:?}")),
        Err(error) => Err(format!("the process is lost: {error}")),
    }
}

const fn has_decoder() -> bool {
    cfg!(target_arch = "x86_64")
}

#[cfg(target_arch = "x86_64")]
fn next_instruction(process: Pid) -> Result<[u8; 8], String> {
    let said = |error| format!("the next instruction cannot be read: {error}");
    let at = ptrace::getregs(process).map_err(said)?.rip;
    let word = ptrace::read(process, at as ptrace::AddressType).map_err(said)?;
    Ok(word.to_le_bytes())
}

#[cfg(not(target_arch = "x86_64"))]
fn next_instruction(_process: Pid) -> Result<[u8; 8], String> {
    Ok([0; 8])
}

/// Whether an instruction that begins so enters the kernel.
fn is_call(bytes: [u8; 8]) -> bool {
    const SYSCALL: [u8; 2] = [0x0f, 0x05];
    bytes.starts_with(&SYSCALL)
}

/// Whether an instruction that begins so is locked, or exchanges with memory, which is locked by itself.
fn is_atomic(bytes: [u8; 8]) -> bool {
    const LOCK: u8 = 0xf0;
    let is_prefix =
        |byte: &u8| matches!(byte, 0x66 | 0x67 | 0xf2 | 0xf3 | 0x2e | 0x36 | 0x3e | 0x26 | 0x64 | 0x65);
    let mut rest = bytes.iter().skip_while(|byte| is_prefix(byte)).peekable();
    if rest.next_if_eq(&&LOCK).is_some() {
        return true;
    }
    // The operand size and the high registers.
    _ = rest.next_if(|byte| (0x40..=0x4f).contains(*byte));
    let is_exchange = matches!(rest.next(), Some(0x86 | 0x87));
    is_exchange && rest.next().is_some_and(|operands| operands >> 6 != 0b11)
}

#[cfg(test)]
mod tests {
    use super::{is_atomic, is_call};

    #[test]
    fn system_calls_are_told_from_others() {
        assert!(is_call([0x0f, 0x05, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90]));
        // syscall's second byte first, an add, a far jump whose length is two.
        assert!(!is_call([0x05, 0x0f, 0x05, 0x00, 0x00, 0x90, 0x90, 0x90]));
        assert!(!is_call([0x0f, 0x85, 0x0f, 0x05, 0x00, 0x00, 0x90, 0x90]));
    }

    #[test]
    fn locked_instructions_and_exchanges_with_memory_are_told_from_others() {
        let atomic: [&[u8]; 4] = [
            &[0xf0, 0x0f, 0xc1, 0x07],             // lock xadd %eax,(%rdi)
            &[0xf0, 0x49, 0x0f, 0xb1, 0x0c, 0x24], // lock cmpxchg %rcx,(%r12)
            &[0x48, 0x87, 0x07],                   // xchg %rax,(%rdi)
            &[0x66, 0xf0, 0x0f, 0xb1, 0x0f],       // lock cmpxchg %cx,(%rdi)
        ];
        let plain: [&[u8]; 4] = [
            &[0x48, 0x89, 0xf0],       // mov %rsi,%rax
            &[0x48, 0x87, 0xc3],       // xchg %rax,%rbx
            &[0x90],                   // nop
            &[0x48, 0x8b, 0x87, 0xf0], // mov 0xf0(%rdi),%rax
        ];
        let padded = |code: &[u8]| std::array::from_fn(|at| code.get(at).copied().unwrap_or(0x90));
        assert!(atomic.iter().all(|code| is_atomic(padded(code))));
        assert!(!plain.iter().any(|code| is_atomic(padded(code))));
    }
}
