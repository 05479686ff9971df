//! The lines of a source that are compiled for tests only.

use std::ops::RangeInclusive;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

#[cfg(test)]
mod tests;

/// Line ranges of the items under `#[test]` or a `#[cfg(..)]` that only a test build satisfies.
pub(crate) fn test_regions(tokens: TokenStream) -> Vec<RangeInclusive<usize>> {
    let mut regions = Vec::new();
    collect(tokens, &mut regions);
    regions
}

/// Answers whether the content of `#[..]` limits its item to test builds.
fn is_test_attribute(content: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = content.into_iter().collect();
    match tokens.as_slice() {
        [TokenTree::Ident(name)] => name == "test",
        [TokenTree::Ident(name), TokenTree::Group(group)] if name == "cfg" => needs_test(group.stream()),
        _ => false,
    }
}

/// Answers whether a cfg predicate can hold in test builds only.
pub(crate) fn needs_test(predicate: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = predicate.into_iter().collect();
    match tokens.as_slice() {
        [TokenTree::Ident(name)] => name == "test",
        [TokenTree::Ident(name), TokenTree::Group(group)] => {
            let parts = group.stream().into_iter().collect::<Vec<_>>();
            let mut parts =
                parts.split(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ','));
            let part_needs_test = |part: &[TokenTree]| needs_test(part.iter().cloned().collect());
            match name.to_string().as_str() {
                "all" => parts.any(part_needs_test),
                "any" => parts.all(|part| part.is_empty() || part_needs_test(part)),
                _ => false,
            }
        }
        _ => false,
    }
}

fn collect(tokens: TokenStream, regions: &mut Vec<RangeInclusive<usize>>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        if let Some(content) = attribute_at(&tokens, at) {
            if is_test_attribute(content) {
                let end = item_end(&tokens, at + 2);
                regions.push(tokens[at].span().start().line..=tokens[end].span().end().line);
                at = end + 1;
                continue;
            }
        } else if let TokenTree::Group(group) = &tokens[at] {
            collect(group.stream(), regions);
        }
        at += 1;
    }
}

/// The content of the outer attribute that starts at `at`.
fn attribute_at(tokens: &[TokenTree], at: usize) -> Option<TokenStream> {
    match (tokens.get(at), tokens.get(at + 1)) {
        (Some(TokenTree::Punct(mark)), Some(TokenTree::Group(group)))
            if mark.as_char() == '#' && group.delimiter() == Delimiter::Bracket =>
        {
            Some(group.stream())
        }
        _ => None,
    }
}

/// The index of the token that ends an item: its braces or its semicolon.
fn item_end(tokens: &[TokenTree], start: usize) -> usize {
    let is_end = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(mark) => mark.as_char() == ';',
        _ => false,
    };
    let last = tokens.len() - 1;
    (start..tokens.len()).find(|&at| is_end(&tokens[at])).unwrap_or(last)
}
