use super::*;
use std::time::Duration;

fn show(report: &Report) {
    println!("{:<20} {:>9} states depth {:>3} {:?} missed {:?} reached {}", report.config.name, report.states, report.depth, report.time, report.missed, report.reached.len());
    for v in report.violations.iter().take(1) {
        println!("{}", v.trace(&report.config));
    }
}

#[test]
fn small() {
    let only = std::env::var("ONLY").ok();
    for config in Config::all().into_iter().filter(|c| only.as_ref().is_none_or(|o| o == c.name)) {
        show(&explore(&config, None, 1, Some(Duration::from_secs(60))));
    }
}
