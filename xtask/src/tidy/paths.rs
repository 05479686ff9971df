//! The paths a source names, `use` groups spelled out, macro bodies included.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

#[cfg(test)]
mod tests;

/// One path such as `Ordering::Acquire`, as far as it is written at its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedPath {
    pub(crate) segments: Vec<String>,
    /// The line of its last segment.
    pub(crate) line: usize,
    /// It stands in a `use` declaration; a glob import ends in `*`.
    pub(crate) is_import: bool,
}

impl NamedPath {
    /// Answers whether the names occur in it one after the other.
    pub(crate) fn holds(&self, names: &[&str]) -> bool {
        self.segments.windows(names.len()).any(|window| window == names)
    }
}

/// Lists every path of a token stream in source order.
pub(crate) fn named_paths(tokens: TokenStream) -> Vec<NamedPath> {
    let mut found = Vec::new();
    walk(tokens, &[], false, &mut found);
    found
}

fn walk(tokens: TokenStream, prefix: &[String], inside_use: bool, found: &mut Vec<NamedPath>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut is_import = inside_use;
    let mut at = 0;
    while at < tokens.len() {
        match &tokens[at] {
            TokenTree::Ident(name) if name == "use" && !is_punct(tokens.get(at + 1), '<') => {
                is_import = true;
                at += 1;
            }
            // `as Name` binds a name, it refers to nothing.
            TokenTree::Ident(name) if name == "as" && is_import => at += 2,
            TokenTree::Ident(_) => at = take_path(&tokens, at, prefix, is_import, found),
            TokenTree::Punct(mark) => {
                if mark.as_char() == '*' && inside_use {
                    let line = mark.span().start().line;
                    found.push(NamedPath { segments: joined(prefix, "*"), line, is_import });
                }
                is_import = inside_use || (is_import && mark.as_char() != ';');
                at += 1;
            }
            TokenTree::Group(group) => {
                walk(group.stream(), prefix, is_import, found);
                at += 1;
            }
            TokenTree::Literal(_) => at += 1,
        }
    }
}

/// Reads the path that starts at the identifier `at`; the answer is the index after it.
fn take_path(
    tokens: &[TokenTree],
    at: usize,
    prefix: &[String],
    is_import: bool,
    found: &mut Vec<NamedPath>,
) -> usize {
    let mut segments = joined(prefix, &tokens[at].to_string());
    let mut line = tokens[at].span().start().line;
    let mut next = at + 1;
    while is_punct(tokens.get(next), ':') && is_punct(tokens.get(next + 1), ':') {
        match tokens.get(next + 2) {
            Some(TokenTree::Ident(name)) => {
                segments.push(name.to_string());
                line = name.span().start().line;
            }
            Some(TokenTree::Punct(mark)) if is_import && mark.as_char() == '*' => {
                segments.push("*".to_string());
                line = mark.span().start().line;
            }
            Some(TokenTree::Group(group)) if is_import && group.delimiter() == Delimiter::Brace => {
                walk(group.stream(), &segments, true, found);
                return next + 3;
            }
            _ => break,
        }
        next += 3;
    }
    found.push(NamedPath { segments, line, is_import });
    next
}

fn joined(prefix: &[String], name: &str) -> Vec<String> {
    prefix.iter().cloned().chain([name.to_string()]).collect()
}

fn is_punct(token: Option<&TokenTree>, mark: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == mark)
}
