use super::*;

fn verdict(median: f64, bound: Bound) -> Verdict {
    Verdict::new("speed".to_owned(), Spread { median, min: 0.1, max: 9.0 }, bound)
}

#[test]
fn a_figure_at_its_bound_holds_and_one_beyond_does_not() {
    assert!(verdict(1.4, Bound::AtLeast(1.4)).holds);
    assert!(verdict(1.5, Bound::AtLeast(1.4)).holds);
    assert!(!verdict(1.399, Bound::AtLeast(1.4)).holds);
    assert!(verdict(0.58, Bound::AtMost(0.58)).holds);
    assert!(!verdict(0.581, Bound::AtMost(0.58)).holds);
}

#[test]
fn what_is_no_number_is_missed() {
    assert!(!verdict(f64::NAN, Bound::AtLeast(0.0)).holds);
    assert!(!verdict(f64::NAN, Bound::AtMost(9.0)).holds);
}

#[test]
fn a_verdict_shows_median_minimum_maximum_and_bound() {
    let line = verdict(1.399, Bound::AtLeast(1.4)).to_string();
    assert_eq!(line, "MISSED  speed: 1.399 (0.100 to 9.000), at least 1.4");
}
