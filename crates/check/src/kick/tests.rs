use super::*;

#[test]
#[ignore]
fn survey() {
    let small = [Setup::LONELY, Setup::PAIR, Setup::ORDERED, Setup::MANAGED];
    for (ours, setups) in [(false, &small[..]), (true, &small[..]), (false, &[Setup::THREE, Setup::MANAGED_THREE][..])] {
        for setup in setups {
        for variant in Variant::ALL {
            if variant.is_ours() != ours { continue; }
            for floor in [2, 1, 0] {
                let report = explore(*setup, Rules::new(variant, floor), Bounds { threads: 1, memory: 2 << 30 });
                let broken: Vec<String> =
                    report.violations.iter().map(|t| format!("{}({})", t.property.id(), t.steps.len())).collect();
                println!("{:<12} {:<26} {floor} {:>9} {:>6.2}s {} {:?} {}", setup.name, variant.id(), report.states,
                    report.time.as_secs_f64(), report.complete, report.reached.len(), broken.join(" "));
            }
        }
        }
    }
}
