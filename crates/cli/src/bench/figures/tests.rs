use super::*;

#[test]
fn percentiles_are_the_elements_the_kernel_takes() {
    let mut samples: Vec<u32> = (0..200).rev().collect();
    assert_eq!(percentiles(&mut samples, [50, 90, 95, 99]), [100, 180, 190, 198]);
    let mut few = [7, 3, 5];
    assert_eq!(percentiles(&mut few, [0, 50, 99, 100]), [3, 5, 7, 7]);
    assert_eq!(percentiles(&mut [9], [50, 90, 95, 99]), [9; 4]);
    assert_eq!(percentiles(&mut [], [50]), [0]);
}

#[test]
fn percentiles_of_shuffled_samples_are_those_of_sorted_ones() {
    let mut state = 1u32;
    let mut samples: Vec<u32> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 20
    })
    .take(4999)
    .collect();
    let mut sorted = samples.clone();
    sorted.sort_unstable();
    let expected = [50, 90, 95, 99].map(|p| sorted[sorted.len() * p / 100]);
    assert_eq!(percentiles(&mut samples, [50, 90, 95, 99]), expected);
}

#[test]
fn a_spread_has_the_median_and_both_ends() {
    let spread = Spread { median: 3.0, min: 1.0, max: 9.0 };
    assert_eq!(Spread::of(&[9.0, 1.0, 3.0]), Some(spread));
    assert_eq!(median(&[4.0, 1.0, 2.0, 9.0]), 3.0);
    assert_eq!(Spread::of(&[]), None);
}

#[test]
fn the_lower_bound_is_an_order_statistic() {
    let bound = |count: u32| lower_bound(&(1..=count).rev().map(f64::from).collect::<Vec<_>>());
    // From tables of the sign test, one-sided at 5 %: 5 values allow the least, 8 the second, 11 the third.
    let expected = [(1, 1.0), (5, 1.0), (7, 1.0), (8, 2.0), (10, 2.0), (11, 3.0), (13, 4.0), (20, 6.0)];
    assert_eq!(expected.map(|(count, _)| bound(count)), expected.map(|(_, bound)| bound));
    assert!(lower_bound(&[]).is_nan());
}
