//! Path globs: `**/` any directories, `**` anything, `*` anything within one name.

use regex::Regex;

#[cfg(test)]
mod tests;

/// Answers whether any of the globs matches the whole path.
pub(crate) fn matches_any(globs: &[String], path: &str) -> bool {
    globs.iter().any(|glob| matches(glob, path))
}

/// Answers whether the glob matches the whole path.
pub(crate) fn matches(glob: &str, path: &str) -> bool {
    let pattern =
        regex::escape(glob).replace(r"\*\*/", "(?:.+/)?").replace(r"\*\*", ".+").replace(r"\*", "[^/]*");
    Regex::new(&format!("^(?:{pattern})$")).is_ok_and(|regex| regex.is_match(path))
}
