use super::*;
use crate::bench::queue::cell::{Figures, Measured, RoundTrip, Submit};

fn run(items_per_s: f64, p95: f64) -> Option<Measured> {
    let figures = Figures {
        items_per_s,
        submit_ns: Submit { p50: p95, p90: p95, p95, p99: p95 },
        round_trip_ns: Some(RoundTrip { p50: 1.0, p99: 1.0 }),
        cpu_s_per_million: 1.0,
        wakes_per_item: 0.0,
        switches_per_item: 0.0,
    };
    Some(Measured {
        figures,
        items: 1,
        seconds: 1.0,
        workers: 2,
        bound: true,
        sampled_every: 1,
        empty_pair_ns: 0.0,
        line_round_trip_ns: None,
    })
}

fn row(shape: Shape, policy: Policy, found: Option<Measured>, baseline: Option<Measured>) -> Row {
    let figures = found.as_ref().expect("a run").figures.clone();
    let (runs, baseline) = (vec![found], vec![baseline]);
    Row {
        shape,
        policy,
        to_under_lock: Ratios::of(&runs, &baseline),
        ..Row::of_runs("system", 8, figures, runs)
    }
}

fn judged(rows: &[Row]) -> Vec<(f64, bool)> {
    judge(rows).iter().map(|verdict| (verdict.found.median, verdict.holds)).collect()
}

#[test]
fn a_shared_scope_is_judged_by_throughput_and_p95() {
    let base = run(100.0, 100.0);
    let spin = |found| judged(&[row(Shape::Inbox, Policy::Spin, found, base.clone())]);
    assert_eq!(spin(run(140.0, 58.0)), [(1.4, true), (0.58, true)], "at the bound");
    assert_eq!(spin(run(139.0, 59.0)), [(1.39, false), (0.59, false)]);
    let park = |found| judged(&[row(Shape::Inbox, Policy::Park, found, base.clone())]);
    assert_eq!(park(run(95.0, 80.0)), [(0.95, true), (0.8, true)], "at the bound");
    assert_eq!(park(run(94.0, 81.0)), [(0.94, false), (0.81, false)]);
}

#[test]
fn an_unshared_scope_is_judged_by_throughput_alone() {
    let mut row = row(Shape::Inbox, Policy::Spin, run(98.0, 500.0), run(100.0, 100.0));
    row.is_unshared = true;
    assert_eq!(judged(&[row]), [(0.98, true)]);
}

#[test]
fn the_baseline_is_judged_against_the_plain_queue() {
    let base = run(90.0, 100.0);
    let under_lock = row(Shape::UnderLock, Policy::Park, base.clone(), base.clone());
    let plain = |found| row(Shape::Condvar, Policy::Park, found, base.clone());
    assert_eq!(judged(&[under_lock.clone(), plain(run(100.0, 1.0))]), [(0.9, true)], "at the bound");
    assert_eq!(judged(&[under_lock.clone(), plain(run(120.0, 1.0))]), [(0.75, false)]);
    let several_pods = Row { pods: 2, ..under_lock };
    assert_eq!(judged(&[several_pods, plain(run(120.0, 1.0))]), []);
}

#[test]
fn few_workers_are_judged_by_items_a_second() {
    let with = |workers_max, items_per_s| {
        let row = row(Shape::Inbox, Policy::Spin, run(items_per_s, 1.0), None);
        judged(&[Row { workers_max, producers: 1, ..row }])
    };
    assert_eq!(with(Some(2), 3e6), [(3e6, true)], "at the bound");
    assert_eq!(with(Some(2), 2.9e6), [(2.9e6, false)]);
    assert_eq!(with(None, 1.0), []);
}

#[test]
fn what_a_bare_word_does_not_reach_is_beyond_the_machine() {
    let with = |bare: f64| {
        let few = |shape, items_per_s| Row {
            workers_max: Some(FEW_WORKERS),
            producers: 1,
            ..row(shape, Policy::Spin, run(items_per_s, 1.0), None)
        };
        let verdicts = judge(&[few(Shape::Inbox, 1.5e6), few(Shape::HandOver, bare)]);
        assert!(matches!(verdicts.as_slice(), [one] if !one.holds));
        verdicts[0].is_missed()
    };
    assert!(!with(2.9e6), "nothing could reach the bound");
    assert!(with(3e6));
}

#[test]
fn runs_at_other_distances_of_the_cpus_are_not_compared() {
    let at = |measured: Option<Measured>, line| {
        measured.map(|measured| Measured { line_round_trip_ns: Some(line), ..measured })
    };
    let near = [100.0, 120.0];
    let runs = [at(run(150.0, 1.0), near), at(run(800.0, 1.0), near), at(run(40.0, 1.0), [400.0, 500.0])];
    let moved = at(run(100.0, 1.0), [120.0, 400.0]);
    let baseline = [at(run(100.0, 1.0), [90.0, 140.0]), moved, at(run(20.0, 1.0), [450.0, 480.0])];
    let ratios = Ratios::of(&runs, &baseline).expect("two pairs").items_per_s;
    assert_eq!((ratios.min, ratios.max), (1.5, 2.0));
    assert!(Ratios::of(&runs[..1], &baseline[1..2]).is_none());
}

#[test]
fn copies_and_batches_and_other_numbers_of_producers_are_not_judged() {
    let row = row(Shape::Inbox, Policy::Spin, run(1.0, 1.0), run(100.0, 1.0));
    let copy = Row { same_pods_as: Some("numa".to_owned()), ..row.clone() };
    let batch = Row { mode: Mode::Batch, ..row.clone() };
    let two = Row { producers: 2, ..row };
    assert_eq!(judged(&[copy, batch, two]), []);
}
