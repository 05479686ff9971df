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

#[test]
fn the_document_has_every_row_of_both_designs() {
    let output = bench(&["--cpus", "8,64", "--threads", "1,4", "--json", "-"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("a JSON document, and nothing else");
    assert_eq!(found["schema"], "cmwq-bench-flush/1");
    let rows = found["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 12);
    for row in rows {
        assert_eq!(row["broken"], 0);
        let [p50, p99] = ["p50", "p99"].map(|key| row["ns"][key]["median"].as_f64().expect("a number"));
        assert!(0.0 < p50 && p50 <= p99, "{row}");
    }
}

#[test]
fn cpus_that_nodes_do_not_divide_are_refused() {
    let output = bench(&["--cpus", "9"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("--cpus 9"));
}
