//! `cmwq bench queue` as its users see it, with tiny runs.

use std::fs;
use std::process::{Command, Output};

use serde_json::{Value, json};

/// A figure that is a matter of chance is missed within this many tries.
const TRIES: usize = 50;

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cmwq"))
        .args(["bench", "queue"])
        .args(arguments)
        .output()
        .expect("the tool runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

fn document(arguments: &[&str]) -> Value {
    let output = bench(&[&["--json", "-", "--items", "60"], arguments].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a JSON document, and nothing else")
}

fn assert_figures(figures: &Value, is_one: bool) {
    for key in ["items_per_s", "cpu_s_per_million"] {
        assert!(figures[key].as_f64().is_some_and(|figure| figure > 0.0), "{key}: {figures}");
    }
    for key in ["wakes_per_item", "switches_per_item"] {
        assert!(figures[key].as_f64().is_some_and(|figure| figure >= 0.0), "{key}: {figures}");
    }
    let percentiles = |name: &str, keys: &[&str]| {
        let values: Vec<f64> =
            keys.iter().map(|key| figures[name][key].as_f64().expect("a number")).collect();
        assert!(values.is_sorted(), "{name}: {figures}");
    };
    percentiles("submit_ns", &["p50", "p90", "p95", "p99"]);
    if is_one {
        percentiles("round_trip_ns", &["p50", "p99"]);
    } else {
        assert_eq!(figures["round_trip_ns"], Value::Null);
    }
}

fn is_of_engine(row: &Value) -> bool {
    row["shape"] != "condvar" && row["shape"] != "hand-over"
}

/// Whether the CPUs stayed where they were in the same run of both, so that they can be compared.
fn has_runs_side_by_side(row: &Value, other: &Value) -> bool {
    let trips = |row: &Value| -> Vec<Vec<f64>> {
        let trips = |run: &Value| run["line_round_trip_ns"].as_array().cloned().unwrap_or_default();
        let runs = row["runs"].as_array().expect("runs");
        runs.iter().map(|run| trips(run).iter().filter_map(Value::as_f64).collect()).collect()
    };
    trips(row).iter().zip(trips(other)).any(|(trips, others)| {
        let all = || trips.iter().chain(&others).copied();
        all().fold(0.0, f64::max) < 2.0 * all().fold(f64::INFINITY, f64::min)
    })
}

#[test]
fn the_document_has_every_row_run_and_figure() {
    let found =
        document(&["--runs", "2", "--producers", "2", "--scopes", "cache,system", "--synthetic", "core:2"]);
    assert_eq!(found["schema"], "cmwq-bench-queue/1");
    assert!(found["machine"]["kernel"].is_string() && found["machine"]["cpu"].is_string());
    assert_eq!(found["failed"], json!([]));
    let rows = found["rows"].as_array().expect("rows");
    // Two policies by three shapes, each for both scopes, the plain queue, and no queue.
    assert_eq!(rows.len(), 14);
    for row in rows {
        assert_figures(row, true);
        assert_figures(&row["min"], true);
        assert_figures(&row["max"], true);
        assert_eq!(row["producers"], 2);
        assert_eq!(row["mode"], "one");
        let runs = row["runs"].as_array().expect("runs");
        assert_eq!(runs.len(), 2);
        for run in runs {
            assert_figures(run, true);
            assert_eq!(run["items"], 120);
        }
        let is_baseline = |other: &&Value| {
            other["shape"] == "under-lock"
                && other["policy"] == row["policy"]
                && (other["scope"] == row["scope"] || !is_of_engine(row))
        };
        let baseline = rows.iter().find(is_baseline).expect("a baseline");
        let is_compared = row["to_under_lock"]["items_per_s"]["median"].is_f64();
        assert!(is_compared || !has_runs_side_by_side(row, baseline), "{row}");
    }
    let named: Vec<_> = rows.iter().map(|row| (&row["shape"], &row["policy"], &row["scope"])).collect();
    for (shape, policy) in [
        ("under-lock", "spin"),
        ("deferred", "park"),
        ("inbox", "spin"),
        ("condvar", "park"),
        ("hand-over", "spin"),
    ] {
        assert!(named.contains(&(&json!(shape), &json!(policy), &json!("cache"))), "{named:?}");
    }
}

#[test]
fn equal_pods_have_equal_figures_and_say_so() {
    let found =
        document(&["--runs", "1", "--producers", "1", "--scopes", "numa,system", "--synthetic", "core:2"]);
    let rows = found["rows"].as_array().expect("rows");
    let figures = |scope: &str| -> Vec<&Value> {
        let rows = rows.iter().filter(|row| row["scope"] == scope && is_of_engine(row));
        rows.map(|row| &row["runs"]).collect()
    };
    assert_eq!(figures("numa"), figures("system"));
    for row in rows {
        let same = if row["scope"] == "numa" { Value::Null } else { json!("numa") };
        assert_eq!(row["same_pods_as"], same);
    }
}

#[test]
fn a_batch_has_no_round_trips() {
    let found =
        document(&["--batch", "--runs", "1", "--producers", "2", "--scopes", "system", "--claim", "leave"]);
    let rows = found["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 6);
    for row in rows {
        assert_figures(row, false);
        assert_eq!((&row["mode"], &row["claim"]), (&json!("batch"), &json!("leave")));
    }
}

#[test]
fn more_cpus_than_there_are_and_more_producers_than_cpus() {
    let spec = "node:2/core:8/thread:2";
    let found = document(&["--runs", "1", "--producers", "5", "--scopes", "cpu", "--synthetic", spec]);
    assert_eq!(found["machine"]["scopes"][0]["pods"].as_array().map(Vec::len), Some(32));
    assert_eq!(found["failed"], json!([]));
}

#[test]
fn the_table_has_a_line_for_each_row() {
    let output = bench(&["--items", "20", "--runs", "1", "--producers", "1", "--scopes", "smt"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    for shape in ["under-lock", "deferred", "inbox"] {
        assert_eq!(
            table.lines().filter(|line| line.contains(&format!("smt    {shape}"))).count(),
            2,
            "{table}"
        );
    }
    assert!(table.contains("every thread parks, 1 producer\n"), "{table}");
    assert!(output.stderr.is_empty(), "no progress bar without a terminal");
}

/// Single items take as long as threads take to come: sooner or later a figure is missed. Which one is the machine's.
#[test]
fn a_missed_figure_is_status_1_and_shown() {
    let is_missed_and_said = || {
        let output =
            bench(&["--items", "1", "--runs", "1", "--producers", "8", "--scopes", "system", "--judge"]);
        let table = text(&output.stdout);
        assert!(table.contains("items/s with 2 workers"), "the judged figures are shown: {table}");
        let is_missed = table.lines().any(|line| line.starts_with("MISSED  "));
        let lines = text(&output.stderr).lines().count();
        assert_eq!((output.status.code(), lines), (Some(i32::from(is_missed)), usize::from(is_missed)));
        is_missed
    };
    assert!((0..TRIES).any(|_| is_missed_and_said()), "{TRIES} runs of single items missed nothing");
}

#[test]
fn bad_input_is_one_line_and_status_2() {
    let dir = tempfile::tempdir().expect("a directory");
    let missing = dir.path().join("missing/out.json").display().to_string();
    for (arguments, named) in [
        (&["--scopes", "socket"][..], "socket"),
        (&["--producers", "0"], "'0'"),
        (&["--producers", "8,many"], "many"),
        (&["--items", "0"], "'0'"),
        (&["--runs", "0"], "'0'"),
        (&["--workers", "0"], "'0'"),
        (&["--claim", "sometimes"], "kicked"),
        (&["--cover", "backlog:0"], "backlog:N"),
        (&["--sysfs", "/nowhere/at/all"], "/nowhere/at/all"),
        (&["--synthetic", "core:"], "byte 5"),
        (&["--json", &missing], "missing/out.json"),
        (&["--json", "/"], "/: "),
    ] {
        // What is checked late would take long.
        let started = std::time::Instant::now();
        let output = bench(arguments);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(named) && error.lines().count() == 1, "{arguments:?}: {error}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert!(started.elapsed().as_secs() < 20, "{arguments:?}");
    }
    assert_eq!(fs::read_dir(dir.path()).expect("a listing").count(), 0);
}

#[test]
fn a_document_goes_to_a_file_beside_the_table() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("queue.json");
    let file = path.to_str().expect("a plain path");
    let output =
        bench(&["--items", "5", "--runs", "1", "--producers", "1", "--scopes", "cpu", "--json", file]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("the engine's own waits, 1 producer\n"));
    let written: Value =
        serde_json::from_str(&fs::read_to_string(&path).expect("the file")).expect("a document");
    assert_eq!(written["rows"].as_array().map(Vec::len), Some(8));
    assert_eq!(fs::read_dir(dir.path()).expect("a listing").count(), 1);
}
