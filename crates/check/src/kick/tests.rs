use super::*;

#[test]
#[ignore]
fn survey() {
    for setup in Setup::ALL.into_iter().take(8) {
        for variant in Variant::ALL {
            for floor in 0..3 {
                let report = explore(setup, Rules::new(variant, floor), Bounds::default());
                let broken: Vec<String> = report
                    .violations
                    .iter()
                    .map(|t| format!("{}({})", t.property.id(), t.steps.len()))
                    .collect();
                println!(
                    "{:<16} {:<26} {floor} {:>9} states depth {:>3} {:>6.2}s complete {} missed {:?} {}",
                    setup.name,
                    variant.id(),
                    report.states,
                    report.depth,
                    report.time.as_secs_f64(),
                    report.complete,
                    Twin::ALL
                        .iter()
                        .filter(|t| !report.reached.contains(t))
                        .map(|t| t.name())
                        .collect::<Vec<_>>(),
                    broken.join(" ")
                );
            }
        }
    }
}
