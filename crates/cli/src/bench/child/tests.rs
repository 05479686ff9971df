use super::*;
use std::time::Instant;

#[test]
fn a_process_that_does_not_end_is_killed() {
    let started = Instant::now();
    let why = run(Command::new("sleep").arg("100"), Duration::from_millis(50)).err().expect("no result");
    assert!(why.contains("killed"), "{why}");
    assert!(started.elapsed() < Duration::from_secs(50));
}

#[test]
fn both_streams_and_the_status_come_back() {
    let mut shell = Command::new("sh");
    shell.args(["-c", "echo out; echo err >&2; exit 3"]);
    let (output, status) = run(&mut shell, Duration::from_secs(50)).expect("an end");
    assert_eq!((output.out.as_str(), output.error.as_str()), ("out\n", "err\n"));
    assert_eq!(status.code(), Some(3));
}

#[test]
fn a_program_that_is_missing_is_an_error() {
    assert!(run(&mut Command::new("/nowhere/at/all"), Duration::from_secs(1)).is_err());
}
