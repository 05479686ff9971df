//! `cmwq bench timer` as its users see it, with tiny runs.

use std::process::{Command, Output};

use serde_json::{Value, json};

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cmwq"))
        .args(["bench", "timer", "--items", "2000"])
        .args(arguments)
        .output()
        .expect("the tool runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[test]
fn the_document_has_every_row_run_and_figure() {
    let output = bench(&["--runs", "2", "--armed", "2000,10", "--json", "-"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("a JSON document, and nothing else");
    assert_eq!(found["schema"], "cmwq-bench-timer/1");
    assert_eq!((&found["items"], &found["failed"]), (&json!(2000), &json!([])));
    let rows = found["rows"].as_array().expect("rows");
    let armed: Vec<_> = rows.iter().map(|row| &row["armed"]).collect();
    assert_eq!(armed, [&json!(10), &json!(2000)], "in order");
    for row in rows {
        assert_eq!(row["runs"].as_array().map(Vec::len), Some(2));
        for key in [
            "arm_ns",
            "modify_ns",
            "cancel_ns",
            "modify_any_ns",
            "late_p50_us",
            "late_p99_us",
            "bare_late_p99_us",
        ] {
            let of = |end: &str| row[key][end].as_f64().expect("a number");
            assert!(
                0.0 < of("min") && of("min") <= of("median") && of("median") <= of("max"),
                "{key}: {row}"
            );
        }
        assert!(row["late_p99_us"]["median"].as_f64() <= row["late_max_us"]["max"].as_f64());
    }
    assert_eq!(rows[0]["times"], Value::Null);
    assert!(rows[1]["times"]["arm"]["median"].as_f64().is_some_and(|ratio| ratio > 0.0));
}

#[test]
fn the_table_has_a_line_for_each_row_and_the_judgement() {
    let output = bench(&["--runs", "1", "--armed", "10,20", "--judge"]);
    let table = text(&output.stdout);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", text(&output.stderr));
    assert_eq!(
        table.lines().filter(|line| line.starts_with("holds ") || line.starts_with("MISSED")).count(),
        3 + 2
    );
    assert!(table.contains("with 20 armed / with 10 armed"), "{table}");
    let missed = table.contains("MISSED");
    assert_eq!(output.status.code(), Some(i32::from(missed)), "{table}");
}

#[test]
fn one_number_cannot_be_judged() {
    let output = bench(&["--runs", "1", "--armed", "10", "--judge"]);
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert_eq!(error, "cmwq: nothing to compare; give --armed more than one number\n");
}

#[test]
fn bad_numbers_are_named() {
    for bad in ["0", "many"] {
        let output = bench(&["--armed", bad]);
        assert_eq!(output.status.code(), Some(2));
        let error = text(&output.stderr);
        assert!(error.lines().count() == 1 && error.contains(bad) && error.contains("--armed"), "{error}");
    }
}
