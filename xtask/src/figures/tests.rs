use super::check;

#[test]
fn a_versioned_document_with_a_figure_passes() {
    assert!(check(r#"{"schema": 1, "runs": [{"ns_per_item": 41.5}]}"#).is_empty());
    assert!(
        check("{\"schema\": \"bench-1\", \"items\": 3}\n{\"schema_version\": 2, \"items\": 4}").is_empty()
    );
}

#[test]
fn nothing_is_a_finding() {
    assert_eq!(check("  \n").len(), 1);
}

#[test]
fn broken_json_is_a_finding() {
    assert_eq!(check(r#"{"schema": 1, "items": }"#).len(), 1);
}

#[test]
fn a_missing_version_is_a_finding() {
    assert_eq!(check(r#"{"items": 3}"#).len(), 1);
}

#[test]
fn a_document_without_figures_is_a_finding() {
    assert_eq!(check(r#"{"schema": 1, "runs": [0, null]}"#).len(), 1);
    assert_eq!(check("[1]").len(), 1);
}
