use super::*;

fn set(cpus: &[u32]) -> CpuSet {
    cpus.iter().copied().map(CpuId).collect()
}

#[test]
fn lists_are_read_as_the_kernel_prints_them() {
    for (text, cpus) in [
        ("", &[][..]),
        ("\n", &[]),
        ("0\n", &[0]),
        ("0-3,8\n", &[0, 1, 2, 3, 8]),
        ("8,0-1", &[0, 1, 8]),
        ("5-5", &[5]),
        (" 1,3\0\0", &[1, 3]),
        ("1023-1025", &[1023, 1024, 1025]),
    ] {
        assert_eq!(CpuSet::parse_list(text), Ok(set(cpus)), "{text:?}");
    }
}

#[test]
fn masks_are_read_as_the_kernel_prints_them() {
    for (text, cpus) in [
        ("", &[][..]),
        ("0\n", &[]),
        ("0d\n", &[0, 2, 3]),
        ("ff,00000000", &[32, 33, 34, 35, 36, 37, 38, 39]),
        ("00000000,00000101\n", &[0, 8]),
        ("80000000,00000000,00000001", &[0, 95]),
        ("DEAD", &[0, 2, 3, 5, 7, 9, 10, 11, 12, 14, 15]),
    ] {
        assert_eq!(CpuSet::parse_mask(text), Ok(set(cpus)), "{text:?}");
    }
}

#[test]
fn a_bad_list_or_mask_is_refused_at_the_byte_where_it_goes_wrong() {
    for (text, at) in [
        ("0-3;8", 3),
        ("0,,1", 2),
        ("0,", 2),
        ("-1", 0),
        ("3-1", 0),
        ("1-", 2),
        ("0-3-5", 3),
        ("65536", 0),
        ("99999999999999999999", 0),
        ("  x", 2),
        ("0,(null)", 2),
        ("0-1\u{fffd}", 3),
    ] {
        assert_eq!(CpuSet::parse_list(text).map_err(|error| error.at()), Err(at), "{text:?}");
    }
    for (text, at) in [("0x1", 1), ("f,,f", 2), ("123456789", 0), ("f g", 1), (",f", 0)] {
        assert_eq!(CpuSet::parse_mask(text).map_err(|error| error.at()), Err(at), "{text:?}");
    }
    let beyond = format!("1{}", ",00000000".repeat(CpuSet::LIMIT as usize / 32));
    assert_eq!(CpuSet::parse_mask(&beyond).map_err(|error| error.at()), Err(0));
    let zero = format!("0{}", ",00000000".repeat(CpuSet::LIMIT as usize / 32));
    assert_eq!(CpuSet::parse_mask(&zero), Ok(CpuSet::new()));
}

#[test]
fn the_algebra_of_sets() {
    let (low, odd) = (set(&[0, 1, 2, 3, 64]), set(&[1, 3, 5, 200]));
    assert_eq!(low.union(&odd), set(&[0, 1, 2, 3, 5, 64, 200]));
    assert_eq!(odd.union(&low), low.union(&odd));
    assert_eq!(low.intersection(&odd), set(&[1, 3]));
    assert_eq!(low.difference(&odd), set(&[0, 2, 64]));
    assert!(low.intersection(&odd).is_subset(&low) && !low.is_subset(&odd));
    assert!(low.difference(&odd).is_disjoint(&odd) && !low.is_disjoint(&odd));
    assert_eq!((low.first(), low.last(), low.len()), (Some(CpuId(0)), Some(CpuId(64)), 5));
    assert_eq!((CpuSet::new().first(), CpuSet::new().last()), (None, None));
}

#[test]
fn equality_does_not_see_how_a_set_came_about() {
    let mut cpus = set(&[1, 500]);
    assert!(cpus.remove(CpuId(500)) && !cpus.remove(CpuId(500)));
    assert_eq!(cpus, set(&[1]));
    assert!(!cpus.insert(CpuId(1)) && cpus.insert(CpuId(2)));
    assert_eq!(cpus.last(), Some(CpuId(2)));
    assert!(cpus.difference(&cpus).is_empty());
    assert_eq!(cpus.difference(&cpus), CpuSet::new());
    assert_eq!(set(&[900, 70, 3]), set(&[3, 70, 900]));
    assert!(cpus.remove(CpuId(1)) && cpus.remove(CpuId(2)));
    assert_eq!(cpus, CpuSet::new());
    assert!(cpus.insert(CpuId(700)) && cpus.contains(CpuId(700)) && !cpus.contains(CpuId(1)));
    assert_eq!(set(&[640]).intersection(&set(&[5, 641])), CpuSet::new());
}

#[test]
fn numbers_beyond_the_limit_are_refused() {
    let mut cpus = CpuSet::new();
    assert!(!cpus.insert(CpuId(CpuSet::LIMIT)) && !cpus.insert(CpuId(u32::MAX)));
    assert!(!cpus.contains(CpuId(u32::MAX)) && !cpus.remove(CpuId(u32::MAX)));
    assert!(cpus.is_empty() && cpus.insert(CpuId(CpuSet::LIMIT - 1)));
    assert_eq!(CpuSet::first_n(3).to_string(), "0-2");
}

#[test]
fn a_set_prints_as_the_list_it_is_read_from() {
    for text in ["", "0", "0-1", "0-3,8,10-12,64", "63-64"] {
        assert_eq!(CpuSet::parse_list(text).map(|cpus| cpus.to_string()), Ok(text.to_owned()));
    }
}
