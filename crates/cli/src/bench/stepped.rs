//! How many atomic read-modify-writes a piece of code makes: it is run in a fresh process, one instruction at a time.

use std::process::{Command, Stdio};

use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::signal::{Signal, raise};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;
use serde::Serialize;

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
pub(super) fn count<C: Serialize>(command: &str, cell: &C) -> Result<u64, String> {
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
    Ok(full.saturating_sub(empty))
}

/// The read-modify-writes between its stops.
fn sections(process: Pid) -> Result<[u64; 2], String> {
    if !has_decoder() {
        return Err("read-modify-writes are counted on x86-64 only".to_owned());
    }
    expect_stop(process, Signal::SIGSTOP)?;
    let mut counts = [0; 2];
    let mut left = INSTRUCTIONS_MAX;
    for count in &mut counts {
        loop {
            *count += u64::from(is_next_atomic(process)?);
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
fn is_next_atomic(process: Pid) -> Result<bool, String> {
    let said = |error| format!("the next instruction cannot be read: {error}");
    let at = ptrace::getregs(process).map_err(said)?.rip;
    let word = ptrace::read(process, at as ptrace::AddressType).map_err(said)?;
    Ok(is_atomic(word.to_le_bytes()))
}

#[cfg(not(target_arch = "x86_64"))]
fn is_next_atomic(_process: Pid) -> Result<bool, String> {
    Ok(false)
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
    use super::is_atomic;

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
