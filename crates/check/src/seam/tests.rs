use super::*;
use std::time::Duration;

fn show(report: &Report) {
    println!("{:<20} {:>9} states depth {:>3} {:?} missed {:?} reached {}", report.config.name, report.states, report.depth, report.time, report.missed, report.reached.len());
    for v in report.violations.iter().chain(&report.noted).take(std::env::var("SHOW").map_or(1, |s| s.parse().unwrap())) {
        println!("{}", v.trace(&report.config));
    }
}

#[test]
fn small() {
    let only = std::env::var("ONLY").ok();
    for config in Config::all().into_iter().filter(|c| only.as_ref().is_none_or(|o| o == c.name)) {
        show(&explore(&config, None, 1, Some(Duration::from_secs(std::env::var("LIMIT").map_or(60, |s| s.parse().unwrap())))));
    }
}

#[test]
fn variants() {
    let only = std::env::var("ONLY").ok();
    for variant in Variant::ALL.into_iter().filter(|c| only.as_ref().is_none_or(|o| o == c.id())) {
        let config = Config::named(variant.config()).unwrap();
        let report = explore(&config, Some(variant), 1, Some(Duration::from_secs(20)));
        let found: Vec<_> = report.violations.iter().map(|v| (v.rule.name(), v.path.len() - 1)).collect();
        println!("{:<22} {:<16} {:>8} {:?} {found:?}", variant.id(), config.name, report.states, report.time);
        if only.is_some() {
            show(&report);
        }
    }
}
