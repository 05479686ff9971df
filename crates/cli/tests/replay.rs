//! `cmwq replay` as its users see it.

use std::path::PathBuf;
use std::process::{Command, Output};

use cmwq::{Engine, Scope};
use cmwq_core::pool::record::{self, Entry, Reader, Words};
use serde_json::Value;

fn recorded() -> Vec<u8> {
    let engine = Engine::builder().record(1 << 20).build().expect("an engine");
    let queue = engine.queue("replayed").scope(Scope::System).build().expect("a queue");
    for _ in 0..20 {
        queue.spawn(|| ()).join().expect("it runs");
    }
    engine.recording().expect("it records")
}

/// A file of this test's own, gone afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, bytes: &[u8]) -> Scratch {
        let path = std::env::temp_dir().join(format!("cmwq-replay-{}-{name}", std::process::id()));
        std::fs::write(&path, bytes).expect("a temporary file");
        Scratch(path)
    }

    fn replay(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cmwq"));
        command.arg("replay").arg(&self.0).args(arguments).output().expect("the tool runs")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

#[test]
fn a_recording_is_played_and_summed_up() {
    let file = Scratch::new("good", &recorded());
    let output = file.replay(&["--trace"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    assert!(table.contains("every step holds") && table.contains("Arrive("), "{table}");

    let output = file.replay(&["--json", "-"]);
    let found: Value = serde_json::from_slice(&output.stdout).expect("a JSON document, and nothing else");
    assert_eq!((&found["schema"], &found["failed"]), (&"cmwq-replay/1".into(), &0.into()));
    assert_eq!(found["pools"][0]["arrived"], 20);
    assert_eq!(found["pools"][0]["whole"], true);
}

#[test]
fn a_broken_step_is_named_and_fails() {
    let mut recordings = record::read(&recorded()).expect("a recording");
    let words = std::mem::take(&mut recordings[0].entries);
    let mut input = Reader::new(&words);
    let mut changed = None;
    for number in 0.. {
        if input.is_empty() {
            break;
        }
        let mut entry = Entry::get(&mut input).expect("an entry");
        if let Entry::Step(step) = &mut entry
            && number > 20
            && changed.is_none()
        {
            step.after.recall ^= true;
            changed = Some(number);
        }
        entry.put(&mut recordings[0].entries);
    }
    let file = Scratch::new("broken", &record::write(&recordings));
    let output = file.replay(&[]);
    assert_eq!(output.status.code(), Some(1));
    let named = format!("FAILED at entry {}: ", changed.expect("a step"));
    assert!(text(&output.stdout).contains(&named), "{}", text(&output.stdout));
}

#[test]
fn what_is_no_recording_is_refused_in_one_line() {
    let good = recorded();
    let mut corrupt = good.clone();
    *corrupt.last_mut().expect("a byte") ^= 64;
    let bad: [(&str, &[u8], &str); 4] = [
        ("other", b"{}", "not a recording"),
        ("version", b"cmwq-recording 9\n", "version 9"),
        ("short", &good[..good.len() / 2], "cut off"),
        ("corrupt", &corrupt, "corrupt"),
    ];
    for (name, bytes, says) in bad {
        let output = Scratch::new(name, bytes).replay(&[]);
        let line = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {line}");
        assert!(line.lines().count() == 1 && line.contains(says) && line.contains(name), "{line}");
    }
}
