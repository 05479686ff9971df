use super::*;

#[test]
fn an_interval_is_about_as_long_as_the_clock_says() {
    let calibration = Calibration::measure(Duration::from_millis(5));
    let (clock_first, first) = (clock::now(), now());
    std::thread::sleep(Duration::from_millis(5));
    let (interval, elapsed) = (now() - first, clock::now() - clock_first);
    let ratio = calibration.ns(interval) / elapsed.as_nanos() as f64;
    assert!((0.8..1.25).contains(&ratio), "{calibration:?}: {ratio}");
}

#[test]
fn the_empty_pair_is_subtracted_and_never_below_zero() {
    let calibration = Calibration { per_ns: 2.0, empty_pair: 40 };
    assert_eq!(calibration.ns(140), 50.0);
    assert_eq!(calibration.ns(3), 0.0);
    assert_eq!(calibration.units(Duration::from_micros(1)), 2000);
}
