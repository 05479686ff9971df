//! Dependencies point one way, and few come from outside.

use crate::tidy::config::{Config, Knows};
use crate::tidy::finding::Finding;
use crate::tidy::metadata::{Dependency, Metadata, Package};
use crate::tidy::tree::Tree;

#[cfg(test)]
mod tests;

const RULE: &str = "dependencies";

pub(crate) fn check(tree: &Tree, metadata: &Metadata, config: &Config, findings: &mut Vec<Finding>) {
    for package in &metadata.packages {
        let manifest = metadata.relative(&package.manifest_path);
        let Some(knows) = config.knows.get(&package.name) else {
            let what = format!("package {} has no entry in tidy.toml", package.name);
            findings.push(Finding::new(&manifest, 1, RULE, what, "say under [knows] what it may depend on"));
            continue;
        };
        for dependency in &package.dependencies {
            if let Some((what, remedy)) = objection(package, dependency, knows, metadata, config) {
                let line = manifest_line(tree, &manifest, &dependency.name);
                findings.push(Finding::new(&manifest, line, RULE, what, remedy));
            }
        }
    }
}

/// What is wrong with one dependency, and what to do about it.
fn objection(
    package: &Package,
    dependency: &Dependency,
    knows: &Knows,
    metadata: &Metadata,
    config: &Config,
) -> Option<(String, String)> {
    let (from, to) = (&package.name, &dependency.name);
    let is_member = metadata.is_member(to);
    if is_member && config.knows.get(to).is_some_and(|target| target.leaf) {
        return Some((format!("{from} depends on {to}"), format!("nothing depends on {to}; move the code")));
    }
    if dependency.kind.as_deref() == Some("dev") {
        return None;
    }
    if let Some(cfg) = config.conditional.get(to) {
        let is_conditional = dependency.target.as_deref().is_some_and(|target| target.contains(cfg.as_str()));
        let remedy = format!("put it under [target.'cfg({cfg})'.dependencies]");
        return (!is_conditional).then(|| (format!("{from} always depends on {to}"), remedy));
    }
    let allowed = if is_member { &knows.workspace } else { &knows.external };
    let is_allowed = allowed.iter().any(|name| name == to || name == "*");
    let remedy = match allowed.as_slice() {
        [] if is_member => format!("{from} knows no package of the workspace"),
        [] => format!("{from} uses no package from outside"),
        names => format!("{from} may only know {}", names.join(", ")),
    };
    (!is_allowed).then(|| (format!("{from} depends on {to}"), remedy))
}

/// The line of the manifest that names the dependency first, else the first line.
fn manifest_line(tree: &Tree, manifest: &str, name: &str) -> usize {
    let Some(file) = tree.text_file(manifest) else {
        return 1;
    };
    let names_it = |line: &str| {
        let rest = line.trim_start().strip_prefix(name)?;
        rest.starts_with([' ', '=', '.']).then_some(())
    };
    file.text.lines().position(|line| names_it(line).is_some()).map_or(1, |index| index + 1)
}
