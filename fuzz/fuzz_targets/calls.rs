//! Calls on works and queues, chosen by the fuzzer, beside the sequential oracle of the tests.
//!
//! `cargo +nightly fuzz run calls`, in the directory above. A panic is a wrong answer; a time-out is a hang.
#![no_main]

use cmwq::Engine;
use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;

#[path = "../../crates/cmwq/tests/support/oracle.rs"]
mod oracle;

/// One engine for all inputs: what an earlier one leaves behind must not change a later one.
static ENGINE: OnceLock<Engine> = OnceLock::new();

fuzz_target!(|input: &[u8]| {
    let engine = ENGINE.get_or_init(|| Engine::new().expect("an engine"));
    let Some((first, calls)) = input.split_first() else { return };
    let mut oracle = oracle::Oracle::new(engine, first % 2 == 1);
    for call in calls.chunks_exact(3) {
        oracle.step(u32::from_le_bytes([call[0], call[1], call[2], 0]));
    }
    oracle.finish();
});
