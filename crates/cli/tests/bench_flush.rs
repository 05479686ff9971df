//! `cmwq bench flush` as its users see it, with tiny runs.

use std::process::{Command, Output};

use serde_json::Value;

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cmwq"))
        .args(["bench", "flush", "--runs", "1", "--turn-ms", "1"])
        .args(arguments)
        .output()
        .expect("the tool runs")
}

fn rows(arguments: &[&str]) -> Vec<Value> {
    let output = bench(&[arguments, &["--json", "-"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("a JSON document, and nothing else");
    assert_eq!(found["schema"], "cmwq-bench-flush/2");
    assert_eq!(found["failed"], Value::Array(Vec::new()));
    found["rows"].as_array().expect("rows").clone()
}

#[test]
fn the_document_has_every_row_of_every_design() {
    let rows = rows(&["--cpus", "4,8", "--threads", "1,3"]);
    // Of a machine: eight cases with three designs, two of them twice; two cases with four designs; one with one.
    assert_eq!(rows.len(), 2 * (10 * 3 + 2 * 4 + 1));
    for row in &rows {
        assert_eq!(row["broken"], 0);
        let [p50, p99] = ["p50", "p99"].map(|key| row["ns"][key]["median"].as_f64().expect("a number"));
        assert!(0.0 < p50 && p50 <= p99, "{row}");
    }
}

/// What a reading of the code finds: an item is claimed, pushed and taken by one each; counting adds an arrival and a
/// departure, and a flush of one used pwq its close, its looks and the passing of the phase.
#[test]
fn read_modify_writes_are_counted() {
    if cfg!(not(target_arch = "x86_64")) {
        println!("skipped: read-modify-writes are counted on x86-64 only");
        return;
    }
    let rows = rows(&["--cpus", "8", "--cases", "idle,submission,submission-batch,one-active"]);
    let counted = |case: &str, design: &str| {
        let row = rows.iter().find(|row| row["case"] == case && row["design"] == design).expect("a row");
        row["rmw_per_item"].as_f64()
    };
    if counted("idle", "cmwq").is_none() {
        println!("skipped: a process may not be stepped here");
        return;
    }
    assert_eq!(counted("idle", "cmwq"), Some(0.0));
    assert_eq!(counted("submission", "none"), Some(3.0));
    assert_eq!(counted("submission", "cmwq"), Some(5.0));
    let batch = ["cmwq", "none"].map(|design| counted("submission-batch", design).expect("a number"));
    assert!((batch[0] - batch[1] - 1.0).abs() < 0.1, "one more each: {batch:?}");
    let flush = ["walk", "cmwq"].map(|design| counted("one-active", design).expect("a number"));
    assert!(flush[1] < flush[0] / 2.0, "{flush:?}");
}

#[test]
fn cpus_that_nodes_do_not_divide_are_refused() {
    let output = bench(&["--cpus", "9"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--cpus 9"));
}

#[test]
fn unknown_cases_and_files_that_cannot_be_written_are_refused_before_anything_is_measured() {
    let unknown = bench(&["--cases", "idle,dense"]);
    assert_eq!(unknown.status.code(), Some(2));
    let said = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(said.contains("dense-inside") && said.contains("'dense'"), "{said}");
    let unwritable = bench(&["--json", "/nonexistent/flush.json"]);
    assert_eq!(unwritable.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unwritable.stderr).contains("/nonexistent"));
    assert!(unwritable.stdout.is_empty());
}

#[test]
fn what_is_not_measured_is_not_judged() {
    let output = bench(&["--cpus", "8", "--cases", "idle", "--judge"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("192"));
}
