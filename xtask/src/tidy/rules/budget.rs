//! A file, a function, a line and an essay have a length that can be read.

use syn::visit::Visit;
use syn::{Block, ImplItemFn, ItemFn, Signature, TraitItemFn};

use crate::tidy::finding::Finding;
use crate::tidy::tree::Tree;

#[cfg(test)]
mod tests;

/// Lines of a Rust source.
const FILE_LINES_MAX: usize = 600;
/// Lines between the braces of a function.
const FUNCTION_LINES_MAX: usize = 70;
/// Characters of a line of Rust.
const LINE_CHARACTERS_MAX: usize = 120;

pub(crate) fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    for file in &tree.rust_files {
        let count = file.text.lines().count();
        if count > FILE_LINES_MAX {
            let what = format!("{count} lines, {FILE_LINES_MAX} allowed");
            findings.push(Finding::new(
                &file.path,
                FILE_LINES_MAX + 1,
                "file-length",
                what,
                "split it by idea",
            ));
        }
        for (index, line) in file.text.lines().enumerate() {
            let width = line.chars().count();
            if width > LINE_CHARACTERS_MAX {
                let what = format!("{width} characters, {LINE_CHARACTERS_MAX} allowed");
                findings.push(Finding::new(&file.path, index + 1, "line-width", what, "break it"));
            }
        }
    }
    for (file, parsed) in tree.parsed() {
        let mut functions = Functions { path: &file.path, findings };
        functions.visit_file(&parsed.syntax);
    }
}

struct Functions<'a> {
    path: &'a str,
    findings: &'a mut Vec<Finding>,
}

impl Functions<'_> {
    fn measure(&mut self, signature: &Signature, body: &Block) {
        let line = signature.ident.span().start().line;
        let open = body.brace_token.span.open().start().line;
        let close = body.brace_token.span.close().start().line;
        let count = close.saturating_sub(open + 1);
        if count > FUNCTION_LINES_MAX {
            let what = format!("fn {} has {count} lines, {FUNCTION_LINES_MAX} allowed", signature.ident);
            let remedy = "name its parts as functions";
            self.findings.push(Finding::new(self.path, line, "function-length", what, remedy));
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.measure(&function.sig, &function.block);
        syn::visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast ImplItemFn) {
        self.measure(&function.sig, &function.block);
        syn::visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast TraitItemFn) {
        if let Some(body) = &function.default {
            self.measure(&function.sig, body);
        }
        syn::visit::visit_trait_item_fn(self, function);
    }
}
