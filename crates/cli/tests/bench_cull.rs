//! `cmwq bench cull` as its users see it, with tiny runs.

use std::process::{Command, Output};

use serde_json::Value;

fn tool(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cmwq")).args(arguments).output().expect("the tool runs")
}

fn bench(arguments: &[&str]) -> Output {
    let items: &[&str] = if arguments.contains(&"--items") { &[] } else { &["--items", "60"] };
    tool(&[&["bench", "cull", "--runs", "1"], items, arguments].concat())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[test]
fn what_strands_an_item_is_recorded_and_the_replay_names_the_step() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("stranded").display().to_string();
    let output = bench(&[
        "--variant",
        "deferred-own",
        "--floor",
        "0",
        "--timeout",
        "2ms",
        "--record",
        &file,
        "--json",
        "-",
    ]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("a JSON document, and nothing else");
    assert_eq!((&found["schema"], &found["timeout_us"]), (&"cmwq-bench-cull/1".into(), &2000.into()));
    let row = &found["rows"][0];
    assert_eq!((&row["variant"], &row["floor"]), (&"deferred-own".into(), &0.into()));
    assert!(row["stranded"]["min"].as_f64().is_some_and(|count| count >= 1.0), "{row}");
    assert_eq!(row["recordings"][0][1], "stranded");
    let replay = tool(&["replay", &file]);
    let said = text(&replay.stdout);
    assert_eq!(replay.status.code(), Some(1), "{said}");
    assert!(said.contains("FAILED") && said.contains("B1 baton") || said.contains("B3 no cull"), "{said}");
}

#[test]
fn nothing_is_stranded_with_the_design_that_ships_and_its_recording_plays_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("ships").display().to_string();
    let output = bench(&["--variant", "cmwq-coalesce", "--floor", "0", "--record", &file, "--json", "-"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("a JSON document, and nothing else");
    assert_eq!(found["rows"][0]["stranded"]["max"], 0.0);
    assert!(found["rows"][0]["culled"]["min"].as_f64().is_some_and(|count| count >= 1.0), "{found}");
    let replay = tool(&["replay", &file]);
    assert_eq!(replay.status.code(), Some(0), "{}", text(&replay.stdout));
}

#[test]
fn what_cannot_be_run_is_named_in_one_line() {
    let cases: [(&[&str], &str); 6] = [
        (&["--variant", "nobody"], "wake-under-lock"),
        (&["--variant", "leave-at-pick-and-create"], "the runtime cannot run it"),
        (&["--record", "/tmp/x"], "--record keeps one row"),
        (&["--timeout", "2"], "2ms"),
        (&["--floor", "9"], "--floor"),
        (&["--variant", "stamp", "--json", "/no/such/place"], "/no/such/place"),
    ];
    for (arguments, named) in cases {
        let output = bench(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.lines().count() == 1 && said.contains(named), "{arguments:?}: {said}");
    }
}

#[test]
fn the_table_has_a_line_for_each_row_and_for_what_is_left_out() {
    let output = bench(&["--variant", "all", "--floor", "2", "--items", "3"]);
    let table = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for id in ["wake-under-lock", "stamp", "cmwq-coalesce", "leave-at-pick-and-create: not run"] {
        assert_eq!(table.lines().filter(|line| line.starts_with(id)).count(), 1, "{id}: {table}");
    }
}
