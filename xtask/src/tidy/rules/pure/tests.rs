use super::check;
use crate::tidy::rules::sample;

const CONFIG: &str = "forbid_unsafe = ['crates/core']\npure = ['crates/core/src']";
const ROOT: &str = "crates/core/src/lib.rs";
const HEAD: &str = "#![forbid(unsafe_code)]\n";

fn places(text: &str) -> Vec<String> {
    let files = [(ROOT, text), ("crates/cmwq/src/lib.rs", "use std::thread;")];
    let mut findings = Vec::new();
    check(&sample::tree(&files), &sample::metadata(&files), &sample::config(CONFIG), &mut findings);
    sample::places(&findings)
}

#[test]
fn a_pure_core_passes() {
    assert!(places(&format!("{HEAD}use core::fmt;\n// std::thread is not here\nstruct Instant;")).is_empty());
}

#[test]
fn a_root_that_allows_unsafe_is_a_finding() {
    assert_eq!(places("#![deny(unsafe_code)]\n"), ["crates/core/src/lib.rs:1"]);
}

#[test]
fn a_missing_package_is_a_finding() {
    let mut findings = Vec::new();
    check(&sample::tree(&[]), &sample::metadata(&[]), &sample::config(CONFIG), &mut findings);
    assert_eq!(sample::places(&findings), ["tidy.toml:1"]);
}

#[test]
fn threads_clock_and_atomics_are_findings() {
    for line in [
        "fn a() { std::thread::yield_now(); }",
        "use std::{fmt, thread};",
        "fn a() -> u8 { let now = std::time::Instant::now(); 0 }",
        "use core::sync::atomic::AtomicU64;",
        "use std::time; fn a(at: time::Instant) {}",
    ] {
        assert_eq!(places(&format!("{HEAD}{line}\n")), ["crates/core/src/lib.rs:2"], "{line}");
    }
}
