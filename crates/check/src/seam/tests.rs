use super::*;
use cmwq_core::pool::ClaimPolicy;

fn describe(report: &Report) -> String {
    let traces: String = report.violations.iter().take(1).map(|v| v.trace(&report.config)).collect();
    format!("{}: never reached {:?}\n{traces}", report.config.name, report.missed)
}

#[test]
fn small_configurations_hold_every_rule() {
    for config in Config::all().into_iter().filter(|c| c.tier == Tier::Small) {
        let report = explore(&config, None, 1, None);
        assert!(report.is_sound(), "{}", describe(&report));
        assert!(report.states > 100, "{} explores next to nothing", config.name);
    }
}

#[test]
fn every_broken_driver_is_found() {
    for variant in Variant::ALL {
        let config = Config::named(variant.config()).expect("each variant names its configuration");
        assert_eq!(config.tier, Tier::Small, "{} is looked for in every run", variant.id());
        let report = explore(&config, Some(variant), 1, None);
        let violation = report.violations.first().unwrap_or_else(|| panic!("{} is not found", variant.id()));
        let trace = violation.trace(&config);
        assert_eq!(trace.lines().count(), violation.path.len() + 1, "one line a step:\n{trace}");
    }
}

#[test]
fn a_culled_worker_that_takes_the_inbox_loses_it() {
    let config = Config::named("cull").expect("it is there");
    let report = explore(&config, Some(Variant::DyingTakesInbox), 1, None);
    let rules: Vec<Rule> = report.violations.iter().map(|v| v.rule).collect();
    assert!(rules.contains(&Rule::Baton) && rules.contains(&Rule::NoStranded), "{rules:?}");
}

#[test]
fn a_watcher_that_joins_in_takes_back_what_a_stuck_worker_claimed() {
    let report = explore(&Config::named("watched-batch").expect("it is there"), None, 1, None);
    assert!(report.reached.contains(&Reached::Recalled), "{:?}", report.reached);
}

#[test]
fn the_claim_policy_that_ships_is_the_default() {
    let config = Config::named("cull").expect("it is there");
    assert_eq!(config.pool.claim, ClaimPolicy::default());
    assert!(explore(&config.with_claim(ClaimPolicy::default()), None, 1, None).is_sound());
}

#[test]
fn ids_and_names_are_unique() {
    let mut ids: Vec<&str> = Variant::ALL.iter().map(|v| v.id()).collect();
    let mut names: Vec<&str> = Config::all().iter().map(|c| c.name).collect();
    for list in [&mut ids, &mut names] {
        let all = list.len();
        list.sort_unstable();
        list.dedup();
        assert_eq!(list.len(), all);
    }
    assert!(Variant::ALL.into_iter().all(|v| Variant::parse(v.id()) == Some(v)));
    assert_eq!(Variant::parse("no-such-thing"), None);
}

#[test]
fn every_situation_occurs_in_some_small_or_medium_configuration() {
    let wanted = Config::all();
    let unwanted: Vec<&str> = Reached::ALL
        .iter()
        .filter(|what| !wanted.iter().any(|c| c.tier < Tier::Deep && c.reaches.contains(what)))
        .map(|what| what.name())
        .collect();
    assert!(unwanted.is_empty(), "no configuration has to reach {unwanted:?}");
}
