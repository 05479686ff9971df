//! What the counting of submissions for flushes adds to the path of an item, in instructions.
//!
//! The example `path_length` is built as it is and with the counting compiled out, and each is run under valgrind for
//! two counts of items: the difference of the two runs is what the items cost. The kernel's part is not in it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const ITEMS: [u64; 2] = [20_000, 120_000];
/// Of a whole round trip, one in flight, what the counting may add.
const ADDED_MAX_PERCENT: f64 = 2.0;
/// Of the shortest path there is, where a worker's items queue each other: two read-modify-writes, two looks at the
/// queue word and one at the leaf's stamp are about 16.
const ADDED_MAX: f64 = 24.0;

/// Prints the figures, and answers how many are beyond their bounds.
///
/// # Errors
/// The reason why nothing could be counted.
pub(crate) fn run() -> Result<usize, String> {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let counted = build(&target, "")?;
    let uncounted = build(&target.join("uncounted"), "--cfg cmwq_uncounted")?;
    println!(
        "{:<6} {:>9} {:>10} {:>6} {:>7}   instructions an item",
        "path", "counted", "uncounted", "added", "%"
    );
    let mut beyond = 0;
    for path in ["chain", "round"] {
        let (with, without) = (an_item(&counted, path)?, an_item(&uncounted, path)?);
        let (added, percent) = (with - without, 100.0 * (with / without - 1.0));
        println!("{path:<6} {with:>9.1} {without:>10.1} {added:>6.1} {percent:>6.2}%");
        let holds = if path == "chain" { added <= ADDED_MAX } else { percent <= ADDED_MAX_PERCENT };
        beyond += usize::from(!holds);
    }
    println!(
        "chain: at most {ADDED_MAX} instructions; round: at most {ADDED_MAX_PERCENT} %; {beyond} beyond"
    );
    Ok(beyond)
}

fn build(target: &Path, flags: &str) -> Result<PathBuf, String> {
    let build = Command::new("cargo")
        .args([
            "build",
            "--quiet",
            "--release",
            "--package",
            "cmwq",
            "--example",
            "path_length",
            "--target-dir",
        ])
        .arg(target)
        .env("RUSTFLAGS", flags)
        .status();
    if build.is_ok_and(|status| status.success()) {
        Ok(target.join("release/examples/path_length"))
    } else {
        Err(format!("the example path_length does not build with flags {flags:?}"))
    }
}

fn an_item(program: &Path, path: &str) -> Result<f64, String> {
    let [few, many] = ITEMS.map(|items| instructions(program, path, items));
    Ok((many? - few?) as f64 / (ITEMS[1] - ITEMS[0]) as f64)
}

fn instructions(program: &Path, path: &str, items: u64) -> Result<u64, String> {
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .args([path, &items.to_string()])
        .output()
        .map_err(|error| format!("valgrind: {error}; install the package valgrind"))?;
    let printed = String::from_utf8_lossy(&output.stderr);
    let count = printed.lines().find_map(|line| line.split_once("I   refs:")).and_then(|(_, count)| {
        let digits: String = count.chars().filter(char::is_ascii_digit).collect();
        digits.parse().ok()
    });
    match count.filter(|_| output.status.success()) {
        Some(count) => Ok(count),
        None => Err(format!("{} {path} {items} under valgrind: {printed}", program.display())),
    }
}
