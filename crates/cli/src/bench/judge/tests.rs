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

#[test]
fn what_bounds_a_missed_figure_is_said_and_it_stays_missed() {
    let because = |median| verdict(median, Bound::AtLeast(1.4)).because(|| Some("lines move".to_owned()));
    assert!(because(1.3).is_missed() && because(1.3).to_string().ends_with("at least 1.4; lines move"));
    assert_eq!(because(1.5), verdict(1.5, Bound::AtLeast(1.4)));
}

#[test]
fn a_lower_bound_is_judged_in_place_of_the_median() {
    let judged = |lower| {
        let found = Spread { median: 2.0, min: 0.1, max: 9.0 };
        Verdict::by_lower("ratio".to_owned(), found, lower, 1.5).holds
    };
    assert!(judged(1.5) && !judged(1.499));
}
