//! `cmwq bench ring` as its users see it, with tiny runs.

use std::process::{Command, Output};

use serde_json::{Value, json};

fn bench(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cmwq"));
    command.args(["bench", "ring"]).args(arguments).output().expect("the tool runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

const TINY: [&str; 8] = ["--items", "3000", "--runs", "2", "--producers", "1,3", "--need", "1,4"];

#[test]
fn the_document_has_every_row_and_figure() {
    let output = bench(&[&TINY[..], &["--json", "-"]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("a JSON document, and nothing else");
    assert_eq!((&found["schema"], &found["failed"]), (&json!("cmwq-bench-ring/1"), &json!([])));
    let rows = found["rows"].as_array().expect("rows");
    // io_uring may not be permitted: one row alone, four streams.
    let missing = if found["skipped"] == json!([]) { 0 } else { 5 };
    assert_eq!(rows.len() + missing, 5 + 2 * 5 + 2 * 4);
    for row in rows {
        for figures in [row, &row["min"], &row["max"]] {
            for key in ["messages_per_s", "post_ns", "cpu_s_per_million"] {
                assert!(figures[key].as_f64().is_some_and(|figure| figure >= 0.0), "{key}: {figures}");
            }
        }
        let runs = row["runs"].as_array().expect("runs");
        assert_eq!(runs.len(), 2);
        for run in runs {
            let expected =
                if row["mode"] == "alone" { 3008 } else { 3000 * row["producers"].as_u64().unwrap() };
            assert_eq!(run["messages"], expected, "{row}");
        }
        if row["shape"] == "ring" {
            let wakes = row["wakes_per_message"].as_f64().expect("the ring counts");
            assert!(wakes < 1.0 && row["calls_per_post"] == row["wakes_per_message"]);
        }
        if row["shape"] == "msg-ring" {
            let calls = row["calls_per_post"].as_f64().expect("posters count");
            assert!(calls >= 1.0, "one each, and more where one found no room: {row}");
        }
        let is_compared = row["mode"] == "stream" && row["shape"] != "ring";
        assert_eq!(row["messages_per_take"].is_number(), row["mode"] == "stream");
        // CPUs that moved in every run leave nothing to compare.
        assert!(is_compared || row["ring_over"].is_null(), "{row}");
        if let Some(ratio) = row["ring_over"].as_object() {
            assert!((1..=2).contains(&ratio["compared"].as_u64().unwrap()), "{row}");
            assert!(
                ratio["min"].as_f64() <= ratio["lower"].as_f64()
                    && ratio["lower"].as_f64() <= ratio["max"].as_f64()
            );
        }
    }
}

/// What a reading of the code finds. A post is one push, and one of 64 fetches room; a take of all takes one step,
/// and gives room back 64 at a time. A post that wakes notes that it has, and makes the one system call.
#[test]
fn read_modify_writes_and_system_calls_are_counted() {
    let output = bench(&["--items", "100", "--runs", "1", "--producers", "1", "--need", "1", "--json", "-"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("a JSON document");
    let rows = found["rows"].as_array().expect("rows");
    if let Some(why) = found["not_counted"].as_str() {
        println!("skipped: {why}");
        return;
    }
    let counted = |shape: &str, part: &str| {
        let row = rows.iter().find(|row| row["shape"] == shape && row["mode"] == "alone")?;
        let each = &row["counted"][part];
        Some([each["rmw"].as_f64().expect("a number"), each["calls"].as_f64().expect("a number")])
    };
    assert_eq!(counted("ring", "post"), Some([1.0 + 1.0 / 64.0, 0.0]));
    assert_eq!(counted("ring", "take"), Some([1.0 / 64.0 + 1.0 / 64.0, 0.0]));
    assert_eq!(counted("ring", "wake"), Some([2.0, 1.0]));
    for shape in ["mutex", "mutex-swap"] {
        assert_eq!(counted(shape, "post"), Some([2.0, 0.0]), "{shape}: locks and unlocks");
        assert_eq!(counted(shape, "wake"), Some([2.0, 1.0]), "{shape}");
    }
    if let Some(post) = counted("msg-ring", "post") {
        assert_eq!(post[1], 1.0);
    }
    assert!(rows.iter().all(|row| row["counted"].is_null() == (row["mode"] == "stream")));
}

#[test]
fn the_table_has_a_block_for_each_count_and_need() {
    let output = bench(&TINY);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let shown = text(&output.stdout);
    for title in
        ["one thread alone", "1 producer, forced", "3 producers, forced", "3 producers, lazy posts, need 4"]
    {
        assert!(shown.contains(title), "{title}: {shown}");
    }
    assert!(shown.contains("RMW/post") && shown.contains("calls/taken"), "{shown}");
}

#[test]
fn bad_options_are_named() {
    for (option, value) in [("--need", "0"), ("--producers", "none"), ("--items", "0"), ("--runs", "0")] {
        let output = bench(&[option, value]);
        assert_eq!(output.status.code(), Some(2), "{option} {value}");
        assert!(text(&output.stderr).contains(option), "{}", text(&output.stderr));
    }
}
