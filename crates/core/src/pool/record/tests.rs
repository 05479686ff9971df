//! Recordings are bounded, read back what was written, and a replay notices what is not as it was.

use super::*;
use crate::id::{Sleeper, WorkerId};
use crate::pool::test_driver::Driver;
use crate::pool::{ClaimPolicy, PoolConfig, PoolCore};
use crate::time::Span;

const W0: WorkerId = WorkerId(0);
const W1: WorkerId = WorkerId(1);

fn recorded(config: PoolConfig, bytes: usize, rounds: u32) -> Recording {
    let mut driver = Driver::with_idle(config, 1, 2);
    driver.record(bytes);
    for _ in 0..rounds {
        driver.submit_new(2);
        driver.wake(W1);
        driver.run_batch(W1);
        driver.look(W1);
        driver.run_batch(W1);
        driver.sleep(W1);
        driver.pass(Span::from_us(10));
    }
    driver.recorder().recording("pod0")
}

fn play(recording: &Recording) -> Result<usize, Failed> {
    let mut replay = Replay::new(recording).expect("a snapshot");
    let mut played = 0;
    for step in &mut replay {
        step.map_err(|(_, failed)| failed)?;
        played += 1;
    }
    Ok(played)
}

#[test]
fn a_full_recorder_keeps_the_newest_behind_a_snapshot() {
    let bytes = 16 << 10;
    let all = recorded(PoolConfig::default(), usize::MAX, 500);
    let newest = recorded(PoolConfig::default(), bytes, 500);
    assert_eq!(all.forgotten, 0);
    assert!(newest.forgotten > 0);
    assert!(all.entries.ends_with(&newest.entries[newest.entries.len() - 40..]), "the newest are kept");
    // A hold is never cut: a segment is exceeded by one hold at most.
    assert!(newest.entries.len() * 8 < bytes + 4096, "{}", newest.entries.len() * 8);
    assert!(newest.entries.len() * 8 > bytes / 2, "{}", newest.entries.len() * 8);
    assert!(play(&newest).expect("it plays") > 20);
    assert!(play(&all).expect("it plays") > 2000);
}

#[test]
fn every_changed_word_is_noticed() {
    let recording = recorded(PoolConfig::default(), usize::MAX, 3);
    let file = write(&vec![recording.clone()]);
    assert_eq!(read(&file), Ok(vec![recording]));
    for at in 0..file.len() {
        let mut bad = file.clone();
        bad[at] ^= 1;
        assert!(read(&bad).is_err(), "byte {at} was changed");
        assert!(read(&file[..at]).is_err(), "cut off at {at}");
    }
    let longer = [&file[..], &[0]].concat();
    assert_eq!(read(&longer), Err(FileError::Corrupt));
}

#[test]
fn other_files_are_told_apart() {
    assert_eq!(read(b""), Err(FileError::Format));
    assert_eq!(read(b"\x7fELF and so on"), Err(FileError::Format));
    for other in [SCHEMA - 1, SCHEMA + 1] {
        let line = format!("cmwq-recording {other}\n");
        assert_eq!(read(line.as_bytes()), Err(FileError::Version(other.to_string())));
    }
    let short = format!("cmwq-recording {SCHEMA}\n12345678");
    assert_eq!(read(short.as_bytes()), Err(FileError::Truncated));
}

#[test]
fn another_decision_is_noticed() {
    let recording = recorded(PoolConfig::default(), usize::MAX, 3);
    let mut input = Reader::new(&recording.entries);
    let mut changed = 0;
    let mut before: Vec<u64> = Vec::new();
    while !input.is_empty() {
        let entry = Entry::get(&mut input).expect("an entry");
        if let Entry::Step(mut step) = entry.clone() {
            step.after.wake.push(Sleeper::Worker(W0));
            let mut bad = Recording { entries: before.clone(), ..recording.clone() };
            Entry::Step(step).put(&mut bad.entries);
            assert!(matches!(play(&bad), Err(Failed::Differs { .. })));
            changed += 1;
        }
        entry.put(&mut before);
    }
    assert!(changed > 10);
    assert_eq!(before, recording.entries, "what is read is what was written");
}

#[test]
fn an_answer_too_few_or_too_many_is_noticed() {
    let recording = recorded(PoolConfig::default(), usize::MAX, 1);
    let mut input = Reader::new(&recording.entries);
    let (mut before, mut tried) = (Vec::new(), 0);
    while !input.is_empty() {
        let entry = Entry::get(&mut input).expect("an entry");
        if let Entry::Step(step) = &entry {
            let mut longer = step.clone();
            longer.answers.push(0);
            let mut bad = Recording { entries: before.clone(), ..recording.clone() };
            Entry::Step(longer).put(&mut bad.entries);
            assert_eq!(play(&bad), Err(Failed::Questions));
            if step.answers.len() > 1 {
                let mut shorter = step.clone();
                shorter.answers.pop();
                let mut bad = Recording { entries: before.clone(), ..recording.clone() };
                Entry::Step(shorter).put(&mut bad.entries);
                assert_eq!(play(&bad), Err(Failed::Questions));
                tried += 1;
            }
        }
        entry.put(&mut before);
    }
    assert!(tried > 0);
}

/// Picked, and culled before it has run: the kernel's question, as a recording.
fn picked_then_culled(claim: ClaimPolicy) -> Recording {
    let config = PoolConfig { claim, idle_floor: 0, idle_timeout: Span(0), ..PoolConfig::default() };
    let mut core = PoolCore::<u64>::new(config);
    let mut items = Replayed::default();
    let mut actions = Actions::default();
    let mut recorder = Recorder::new(&core, &items, usize::MAX);
    core.add_pwq(1);
    recorder.add_pwq(Limit::Own(1));
    items.load(vec![0; 8]);
    let mut step = |event, items: &mut Replayed, actions: &mut Actions<u64>| {
        recorder.step(&mut core, Tick(5), event, items, actions);
    };
    step(Event::Taken, &mut items, &mut actions);
    step(Event::Arrive(1), &mut items, &mut actions);
    step(Event::ManagerLook { inbox: true }, &mut items, &mut actions);
    step(Event::Created(W0), &mut items, &mut actions);
    step(Event::Started(W0), &mut items, &mut actions);
    step(Event::GoIdle(W0), &mut items, &mut actions);
    assert!(actions.wake.iter().any(|sleeper| sleeper == Sleeper::Worker(W0)), "{actions:?}");
    step(Event::Cull, &mut items, &mut actions);
    recorder.end_hold(&mut core, &mut items);
    recorder.recording("one")
}

#[test]
fn a_recording_shows_whether_a_picked_worker_was_culled() {
    for (name, claim) in ClaimPolicy::ALL {
        let played = play(&picked_then_culled(claim));
        // The stamp of a pick is as old as a time-out of zero allows.
        let culls = matches!(claim, ClaimPolicy::Stay | ClaimPolicy::Stamp);
        let broken = matches!(played, Err(Failed::Invariant(broken)) if broken.label.starts_with('B'));
        assert_eq!(broken, culls, "{name}: {played:?}");
    }
}
