//! An `unsafe impl` says above it why it holds, as clippy demands of unsafe blocks.

use proc_macro2::{TokenStream, TokenTree};

use crate::tidy::comments::Comments;
use crate::tidy::finding::Finding;
use crate::tidy::tree::Tree;

#[cfg(test)]
mod tests;

const MARK: &str = "SAFETY:";

pub(crate) fn check(tree: &Tree, findings: &mut Vec<Finding>) {
    for (file, parsed) in tree.parsed() {
        for line in unsafe_impl_lines(parsed.tokens.clone()) {
            if !is_justified(&parsed.comments, &file.text, line) {
                let remedy = "add `// SAFETY: ..` right above it";
                findings.push(Finding::new(
                    &file.path,
                    line,
                    "safety",
                    "unsafe impl without a reason",
                    remedy,
                ));
            }
        }
    }
}

fn unsafe_impl_lines(tokens: TokenStream) -> Vec<usize> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut lines = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => lines.extend(unsafe_impl_lines(group.stream())),
            TokenTree::Ident(name) if name == "unsafe" => {
                if matches!(tokens.get(at + 1), Some(TokenTree::Ident(next)) if next == "impl") {
                    lines.push(name.span().start().line);
                }
            }
            _ => {}
        }
    }
    lines
}

/// Answers whether the mark stands on the line or in the comments and attributes right above it.
fn is_justified(comments: &Comments, text: &str, line: usize) -> bool {
    let lines: Vec<&str> = text.lines().collect();
    let mut near = line;
    loop {
        if comments.at(near).contains(MARK) {
            return true;
        }
        near -= 1;
        let is_attribute =
            near > 0 && lines.get(near - 1).is_some_and(|line| line.trim_start().starts_with("#["));
        if near == 0 || !(is_attribute || (!comments.has_code(near) && !comments.at(near).is_empty())) {
            return false;
        }
    }
}
