use super::*;

const STATES_MAX: usize = 3_000_000;

#[test]
fn sound_designs_keep_every_promise_in_every_scenario() {
    for &variant in Variant::ALL.iter().filter(|variant| variant.is_sound()) {
        // The largest is explored by the tool.
        for scenario in Scenario::ALL.iter().filter(|scenario| scenario.name != "no-slot") {
            let report = explore(scenario, variant, STATES_MAX);
            assert!(report.complete, "{} {}", variant.id(), scenario.name);
            let first = report.violations.first();
            assert!(first.is_none(), "{} {}: {first:#?}", variant.id(), scenario.name);
            assert!(report.never.is_empty(), "{}: never {:?}", scenario.name, report.never);
            assert!(report.states > 20, "{} {}: nothing happens", variant.id(), scenario.name);
        }
    }
}

#[test]
fn every_broken_design_is_caught() {
    let is_caught = |variant| {
        let mut reports = Scenario::ALL.iter().map(|scenario| explore(scenario, variant, STATES_MAX));
        reports.any(|report| !report.violations.is_empty())
    };
    let broken = Variant::ALL.iter().copied().filter(|variant| !variant.is_sound());
    let missed: Vec<_> = broken.filter(|&variant| !is_caught(variant)).map(Variant::id).collect();
    assert!(missed.is_empty(), "not caught: {missed:?}");
}

/// Here the design that ships promises less than those that queue under a lock. It may get better, not worse.
#[test]
fn what_is_beyond_the_promise_is_a_hang_of_that_design_alone() {
    for scenario in Scenario::BEYOND {
        for &variant in Variant::ALL.iter().filter(|variant| variant.is_sound()) {
            let report = explore(scenario, variant, STATES_MAX);
            assert!(report.complete && report.never.is_empty(), "{} {}", variant.id(), scenario.name);
            let broken: Vec<_> = report.violations.iter().map(|violation| violation.property).collect();
            let hangs = if variant == Variant::Cmwq { &[Property::NoDeadlock][..] } else { &[] };
            assert_eq!(broken, hangs, "{} {}", variant.id(), scenario.name);
        }
    }
}

#[test]
fn names_are_unique_and_parse() {
    for &variant in Variant::ALL {
        assert_eq!(Variant::parse(variant.id()), Some(variant));
    }
    for scenario in Scenario::ALL {
        assert_eq!(Scenario::named(scenario.name).unwrap().what, scenario.what);
    }
    assert_eq!(Variant::parse("nothing"), None);
}
