use super::check;
use crate::tidy::rules::sample;

fn places(text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    check(&sample::tree(&[("crates/ring/src/inbox.rs", text)]), &mut findings);
    sample::places(&findings)
}

#[test]
fn an_impl_with_its_reason_passes() {
    assert!(
        places("// SAFETY: B1 baton: only its holder\n// touches the list.\nunsafe impl Send for A {}")
            .is_empty()
    );
    assert!(places("// SAFETY: it holds no pointer.\n#[cfg(unix)]\nunsafe impl Send for A {}").is_empty());
    assert!(places("impl A { unsafe fn b() {} }").is_empty());
}

#[test]
fn an_impl_without_a_reason_is_a_finding() {
    assert_eq!(places("\nunsafe impl Send for A {}"), ["crates/ring/src/inbox.rs:2"]);
    assert_eq!(places("// fine\nunsafe impl Send for A {}").len(), 1);
}

#[test]
fn a_reason_elsewhere_does_not_count() {
    assert_eq!(places("// SAFETY: of b.\nfn b() {}\nunsafe impl Send for A {}").len(), 1);
    assert_eq!(places("// SAFETY: of what?\n\nunsafe impl Send for A {}").len(), 1);
}

#[test]
fn an_impl_in_a_macro_is_seen() {
    assert_eq!(
        places("macro_rules! a { () => {\nunsafe impl Send for A {} } }"),
        ["crates/ring/src/inbox.rs:2"]
    );
}
