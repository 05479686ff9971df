//! The house rules as a program: each rule reads the same [`tree::Tree`] and reports [`finding::Finding`]s.

use std::path::Path;
use std::process::Command;

mod comments;
mod config;
mod finding;
mod glob;
mod metadata;
mod modules;
mod paths;
mod regions;
mod rules;
mod tree;

use config::Config;
use metadata::Metadata;
use tree::Tree;

/// The file at the workspace root that holds the lists the rules work from.
const CONFIG_FILE: &str = "tidy.toml";

/// Checks the workspace in the current directory; the answer is the count of findings.
pub(crate) fn run() -> Result<usize, String> {
    let metadata = Metadata::read()?;
    let root = metadata.workspace_root.clone();
    let config = Config::read(&root.join(CONFIG_FILE))?;
    let tree = Tree::new(listed_files(&root)?, &metadata);
    let findings = rules::check(&tree, &metadata, &config);
    for finding in &findings {
        println!("{finding}");
    }
    eprintln!("tidy: {} files read, {} findings", tree.text_files.len(), findings.len());
    Ok(findings.len())
}

/// Every text file that git tracks or would track, as (path below the root, text).
fn listed_files(root: &Path) -> Result<Vec<(String, String)>, String> {
    let output = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot run git: {error}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files failed: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let names = String::from_utf8(output.stdout).map_err(|error| format!("a path is not UTF-8: {error}"))?;
    let mut files = Vec::new();
    for name in names.split('\0').filter(|name| !name.is_empty()) {
        let path = root.join(name);
        if path.is_symlink() || !path.is_file() {
            continue;
        }
        let bytes = std::fs::read(&path).map_err(|error| format!("{name}: {error}"))?;
        if let Ok(text) = String::from_utf8(bytes) {
            files.push((name.to_string(), text));
        }
    }
    Ok(files)
}
