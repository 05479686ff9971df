//! Checks the JSON that a benchmark run prints: well formed, versioned, and with figures in it.

use serde_json::{Deserializer, Value};

#[cfg(test)]
mod tests;

/// Keys that may carry the schema version of a document.
const VERSION_KEYS: [&str; 2] = ["schema", "schema_version"];

/// Reads one file and prints what is wrong with it; the answer is the count of findings.
pub(crate) fn run(file: &str) -> Result<usize, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    let findings = check(&text);
    for finding in &findings {
        println!("{file}: figures: {finding}");
    }
    Ok(findings.len())
}

/// One or more JSON documents, each an object with a schema version and at least one positive figure.
fn check(text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    let mut document_count = 0;
    for document in Deserializer::from_str(text).into_iter::<Value>() {
        document_count += 1;
        match document {
            Ok(value) => check_document(document_count, &value, &mut findings),
            Err(error) => findings.push(format!("document {document_count} is not JSON: {error}")),
        }
    }
    if document_count == 0 {
        findings.push("no document; the run printed nothing".to_string());
    }
    findings
}

fn check_document(index: usize, value: &Value, findings: &mut Vec<String>) {
    let Value::Object(fields) = value else {
        findings.push(format!("document {index} is no object"));
        return;
    };
    if !VERSION_KEYS.iter().any(|key| fields.get(*key).is_some_and(is_version)) {
        findings.push(format!("document {index} has no schema version; add `schema`"));
    }
    let has_figure =
        fields.iter().filter(|(key, _)| !VERSION_KEYS.contains(&key.as_str())).any(|(_, v)| holds_figure(v));
    if !has_figure {
        findings.push(format!("document {index} has no positive figure"));
    }
}

fn is_version(value: &Value) -> bool {
    match value {
        Value::String(text) => !text.is_empty(),
        Value::Number(number) => number.as_u64().is_some_and(|version| version > 0),
        _ => false,
    }
}

fn holds_figure(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_some_and(|figure| figure > 0.0),
        Value::Array(values) => values.iter().any(holds_figure),
        Value::Object(fields) => fields.values().any(holds_figure),
        _ => false,
    }
}
