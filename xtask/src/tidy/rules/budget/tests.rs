use super::check;
use crate::tidy::rules::sample;

fn places(text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    check(&sample::tree(&[("crates/core/src/lib.rs", text)]), &mut findings);
    findings.into_iter().map(|finding| format!("{}:{}", finding.rule, finding.line)).collect()
}

fn body(line_count: usize) -> String {
    format!("{{\n{}}}", "  a();\n".repeat(line_count))
}

#[test]
fn a_file_of_the_budget_passes_and_one_more_line_does_not() {
    assert!(places(&"// a\n".repeat(600)).is_empty());
    assert_eq!(places(&"// a\n".repeat(601)), ["file-length:601"]);
}

#[test]
fn a_line_is_measured_in_characters() {
    assert!(places(&format!("// {}\n", "\u{e9}".repeat(117))).is_empty());
    assert_eq!(places(&format!("\n// {}\n", "a".repeat(118))), ["line-width:2"]);
}

#[test]
fn a_function_that_fits_a_screen_passes() {
    assert!(places(&format!("fn a() {}\n", body(70))).is_empty());
    assert!(places("fn a() {}\ntrait B { fn c(); }").is_empty());
}

#[test]
fn every_kind_of_function_is_measured() {
    let long = body(71);
    assert_eq!(places(&format!("\nfn a() {long}\n")), ["function-length:2"]);
    assert_eq!(places(&format!("impl A {{ fn b() {long} }}\n")), ["function-length:1"]);
    assert_eq!(places(&format!("trait A {{ fn b() {long} }}\n")), ["function-length:1"]);
    assert_eq!(places(&format!("mod a {{ fn b() {{ fn c() {long} }} }}\n")).len(), 2);
}
