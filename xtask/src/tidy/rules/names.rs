//! A module is named after its idea, never after a drawer.

use syn::ItemMod;
use syn::visit::Visit;

use crate::tidy::finding::Finding;
use crate::tidy::tree::Tree;

#[cfg(test)]
mod tests;

const RULE: &str = "module-name";
const FORBIDDEN: [&str; 5] = ["utils", "common", "misc", "types", "helpers"];

pub(crate) fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in &tree.rust_files {
        let names = file.path.trim_end_matches(".rs").split('/');
        for name in names.filter(|name| FORBIDDEN.contains(name)) {
            findings.push(finding(&file.path, 1, name));
        }
    }
    for (file, parsed) in tree.parsed() {
        let mut modules = InlineModules { path: &file.path, findings };
        modules.visit_file(&parsed.syntax);
    }
}

fn finding(path: &str, line: usize, name: &str) -> Finding {
    let what = format!("`{name}` says nothing about what is inside");
    Finding::new(path, line, RULE, what, "name the idea, or move the code to where it is used")
}

struct InlineModules<'a> {
    path: &'a str,
    findings: &'a mut Vec<Finding>,
}

impl<'ast> Visit<'ast> for InlineModules<'_> {
    fn visit_item_mod(&mut self, module: &'ast ItemMod) {
        let name = module.ident.to_string();
        if module.content.is_some() && FORBIDDEN.contains(&name.as_str()) {
            self.findings.push(finding(self.path, module.ident.span().start().line, &name));
        }
        syn::visit::visit_item_mod(self, module);
    }
}
