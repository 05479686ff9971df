use super::*;

fn of(group: Group) -> Vec<Scenario> {
    group.scenarios()
}

fn all() -> Vec<Scenario> {
    Group::ALL.into_iter().flat_map(of).collect()
}

#[test]
fn every_rule_comes_out_as_expected() {
    for variant in Variant::all() {
        let report = explore(variant, &all(), 1);
        eprintln!("{variant:?} {} {} {:?} {:?} {:?}", report.scenarios, report.states, report.time, report.broken.iter().map(|b| (b.0, b.1.as_ref().map(|v| v.steps()))).collect::<Vec<_>>(), report.reached);
        eprintln!("   {:?}", expected(variant).surprises(&report, true));
    }
}
