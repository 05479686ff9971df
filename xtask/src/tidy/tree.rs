//! The files of the workspace, read and parsed once for all rules.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use proc_macro2::TokenStream;

use super::comments::Comments;
use super::metadata::Metadata;
use super::modules;
use super::paths::{NamedPath, named_paths};
use super::regions::test_regions;

#[cfg(test)]
mod tests;

/// What the rules look at.
pub(crate) struct Tree {
    pub(crate) text_files: Vec<TextFile>,
    pub(crate) rust_files: Vec<RustFile>,
}

/// A text file by its path below the root.
pub(crate) struct TextFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

/// A Rust source; what depends on parsing is `None` where it does not parse.
pub(crate) struct RustFile {
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) parsed: Result<Parsed, String>,
    /// Some `mod` or target of cargo leads here.
    pub(crate) is_reached: bool,
    /// It is compiled for tests, benches or examples only.
    pub(crate) is_test: bool,
}

/// The views of a source that the rules share.
pub(crate) struct Parsed {
    pub(crate) tokens: TokenStream,
    pub(crate) syntax: syn::File,
    pub(crate) comments: Comments,
    pub(crate) paths: Vec<NamedPath>,
    test_lines: Vec<RangeInclusive<usize>>,
}

impl Parsed {
    fn new(text: &str) -> Result<Self, String> {
        let tokens: TokenStream = text.parse().map_err(|error: proc_macro2::LexError| error.to_string())?;
        let syntax = syn::parse2(tokens.clone()).map_err(|error| error.to_string())?;
        Ok(Self {
            syntax,
            comments: Comments::new(text, tokens.clone()),
            paths: named_paths(tokens.clone()),
            test_lines: test_regions(tokens.clone()),
            tokens,
        })
    }

    /// Answers whether the line is compiled for tests only, as far as this file says.
    pub(crate) fn is_test_line(&self, line: usize) -> bool {
        self.test_lines.iter().any(|lines| lines.contains(&line))
    }
}

impl Tree {
    /// Parses the Rust sources and follows their modules from the targets that cargo knows.
    pub(crate) fn new(files: Vec<(String, String)>, metadata: &Metadata) -> Self {
        let roots: Vec<(String, bool)> = metadata
            .packages
            .iter()
            .flat_map(|package| &package.targets)
            .map(|target| (metadata.relative(&target.src_path), target.is_test()))
            .collect();
        let mut rust_files: Vec<RustFile> = files
            .iter()
            .filter(|(path, _)| path.ends_with(".rs"))
            .map(|(path, text)| RustFile {
                path: path.clone(),
                text: text.clone(),
                parsed: Parsed::new(text),
                is_reached: false,
                is_test: false,
            })
            .collect();
        let syntax: BTreeMap<String, &syn::File> = rust_files
            .iter()
            .filter_map(|file| Some((file.path.clone(), &file.parsed.as_ref().ok()?.syntax)))
            .collect();
        let reached = modules::reach(&roots, &syntax);
        for file in &mut rust_files {
            file.is_reached = reached.contains_key(&file.path);
            file.is_test = reached.get(&file.path).copied().unwrap_or(false) || is_test_path(&file.path);
        }
        let text_files = files.into_iter().map(|(path, text)| TextFile { path, text }).collect();
        Self { text_files, rust_files }
    }

    /// The sources that parse, with what was parsed.
    pub(crate) fn parsed(&self) -> impl Iterator<Item = (&RustFile, &Parsed)> {
        self.rust_files.iter().filter_map(|file| Some((file, file.parsed.as_ref().ok()?)))
    }

    pub(crate) fn text_file(&self, path: &str) -> Option<&TextFile> {
        self.text_files.iter().find(|file| file.path == path)
    }
}

fn is_test_path(path: &str) -> bool {
    path.ends_with("/tests.rs")
        || path.split('/').any(|name| matches!(name, "tests" | "benches" | "examples"))
}
