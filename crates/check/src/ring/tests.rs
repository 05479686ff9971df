use super::*;

/// Small scenarios of every shape: no deadline, needs of one and two.
fn some() -> Vec<Scenario> {
    let is_small = |s: &Scenario| s.timeouts == 0 && s.need < 3;
    Group::ALL
        .into_iter()
        .filter(|&g| g != Group::TwoByTwo)
        .flat_map(|g| g.scenarios())
        .filter(is_small)
        .collect()
}

#[test]
fn every_rule_comes_out_as_expected() {
    for variant in Variant::RULES {
        let report = explore(variant, &some(), 1);
        let surprises = expected(variant).surprises(&report, false);
        assert!(surprises.is_empty(), "{}: {surprises:?}", variant.id());
        assert!(report.states > 1000, "{} explores next to nothing", variant.id());
    }
}

#[test]
fn every_broken_form_is_found_by_the_property_that_names_it() {
    for variant in Variant::BROKEN {
        let report = explore(variant, &Group::TwoByTwo.scenarios(), 1);
        for &rule in expected(variant).broken {
            let (count, violation) = report.of(rule);
            let violation = violation.as_ref().unwrap_or_else(|| panic!("{} is not found", variant.id()));
            let trace = violation.trace();
            assert_eq!(trace.lines().count(), violation.steps() + 3, "one line a step:\n{trace}");
            assert_eq!(*count, 1, "it is looked for until it is found");
        }
    }
}

#[test]
fn a_poster_that_stops_after_its_claim_holds_a_forced_message_back() {
    let forced = |s: &Scenario| s.name() == "F-F-F/1";
    let scenario = Group::ThreeByOne.scenarios().into_iter().find(forced).expect("it is there");
    let report = explore(Variant::Credit, std::slice::from_ref(&scenario), 1);
    let (_, violation) = report.of(Rule::NotHeldBack);
    let trace = violation.as_ref().expect("it is found").trace();
    assert!(trace.contains("stopped before waking") && trace.contains("| w asleep credit 0"), "{trace}");
    let report = explore(Variant::Cmwq, std::slice::from_ref(&scenario), 1);
    assert!(Rule::ALL.iter().all(|&rule| report.of(rule).0 == 0));
    assert!(report.reached.contains(&Reached::ReturnedBesideOwed), "a post returns beside one that stands");
}

#[test]
fn ids_and_names_are_unique() {
    let mut ids: Vec<&str> = Variant::all().map(|v| v.id()).collect();
    let mut names: Vec<String> =
        Group::ALL.into_iter().flat_map(|g| g.scenarios()).map(|s| s.name()).collect();
    let counts = (ids.len(), names.len());
    ids.sort_unstable();
    ids.dedup();
    names.sort_unstable();
    names.dedup();
    assert_eq!((ids.len(), names.len()), counts);
    assert!(Variant::all().all(|v| Variant::parse(v.id()) == Some(v)));
    assert!(Group::ALL.into_iter().all(|g| Group::named(g.name()) == Some(g)));
    assert_eq!(Variant::parse("no-such-thing"), None);
}
