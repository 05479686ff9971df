//! What a source says in comments, line by line; strings that look like comments are code.

use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};

#[cfg(test)]
mod tests;

/// Comment text and presence of code per line, counted from one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Comments {
    comment: Vec<String>,
    has_code: Vec<bool>,
}

impl Comments {
    /// Sorts the text of a source into comments and code: a comment is what no token covers.
    pub(crate) fn new(text: &str, tokens: TokenStream) -> Self {
        let mut is_code = vec![false; text.len()];
        cover(text, tokens, &mut is_code);
        let mut comments = Self { comment: vec![String::new()], has_code: vec![false] };
        let mut line = String::new();
        let mut has_code = false;
        for (at, character) in text.char_indices() {
            match character {
                '\n' => {
                    comments.comment.push(std::mem::take(&mut line));
                    comments.has_code.push(std::mem::take(&mut has_code) || is_code[at]);
                }
                _ if is_code[at] => has_code = true,
                _ => line.push(character),
            }
        }
        comments.comment.push(line);
        comments.has_code.push(has_code);
        comments
    }

    /// The comment on a line, empty if there is none.
    pub(crate) fn at(&self, line: usize) -> &str {
        self.comment.get(line).map_or("", |text| text.trim())
    }

    pub(crate) fn has_code(&self, line: usize) -> bool {
        self.has_code.get(line).copied().unwrap_or(false)
    }

    pub(crate) fn line_count(&self) -> usize {
        self.comment.len() - 1
    }

    /// Answers whether a mark such as `SAFETY:` stands in a comment on the line or up to `reach` lines above it.
    pub(crate) fn holds_above(&self, line: usize, reach: usize, mark: &str) -> bool {
        (line.saturating_sub(reach)..=line).any(|near| self.at(near).contains(mark))
    }
}

/// Marks the bytes of every token except documentation comments, which arrive as tokens too.
fn cover(text: &str, tokens: TokenStream, is_code: &mut [bool]) {
    for token in tokens {
        let whole = token.span().byte_range();
        let is_comment =
            text.get(whole.clone()).is_some_and(|text| text.starts_with("//") || text.starts_with("/*"));
        match token {
            _ if is_comment => {}
            TokenTree::Group(group) => {
                cover(text, group.stream(), is_code);
                for delimiter in [group.span_open(), group.span_close()] {
                    mark(delimiter.byte_range(), is_code);
                }
            }
            _ => mark(whole, is_code),
        }
    }
}

fn mark(range: Range<usize>, is_code: &mut [bool]) {
    if let Some(bytes) = is_code.get_mut(range) {
        bytes.fill(true);
    }
}
