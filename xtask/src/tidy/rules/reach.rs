//! Every source parses and is compiled: a file that no `mod` leads to is dead.

use crate::tidy::config::Config;
use crate::tidy::finding::Finding;
use crate::tidy::glob;
use crate::tidy::tree::Tree;

#[cfg(test)]
mod tests;

pub(crate) fn check(tree: &Tree, config: &Config, findings: &mut Vec<Finding>) {
    for file in &tree.rust_files {
        if glob::matches_any(&config.source_exempt, &file.path) {
            continue;
        }
        if let Err(error) = &file.parsed {
            let what = format!("does not parse: {error}");
            findings.push(Finding::new(
                &file.path,
                1,
                "parse",
                what,
                "make it Rust, or list it in source_exempt",
            ));
        }
        let is_source = file.path.split('/').any(|name| name == "src");
        if is_source && !file.is_reached {
            let remedy = "declare it with `mod` in its parent, or delete it";
            findings.push(Finding::new(&file.path, 1, "dead-file", "no `mod` leads here", remedy));
        }
    }
}
