//! Which files the `mod` declarations reach, and whether only test builds do.

use std::collections::BTreeMap;

use proc_macro2::TokenTree;
use syn::{Attribute, Item, Meta};

use super::regions::needs_test;

#[cfg(test)]
mod tests;

/// Path of a reached file -> it is compiled for tests only.
pub(crate) type Reached = BTreeMap<String, bool>;

/// Follows every `mod` from the roots, given as (path, is test code).
pub(crate) fn reach(roots: &[(String, bool)], syntax: &BTreeMap<String, &syn::File>) -> Reached {
    let mut reached = Reached::new();
    let mut open: Vec<(String, bool, bool)> =
        roots.iter().map(|(path, is_test)| (path.clone(), *is_test, true)).collect();
    while let Some((path, is_test, is_root)) = open.pop() {
        let Some(file) = syntax.get(&path) else { continue };
        match reached.get(&path) {
            Some(&known) if !known || is_test => continue,
            _ => reached.insert(path.clone(), is_test),
        };
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let stem = name.trim_end_matches(".rs");
        let owns_directory = is_root || stem == "mod";
        let children = if owns_directory { parent.to_string() } else { under(parent, stem) };
        let here = Place { beside: parent.to_string(), children, is_test };
        let mut declared = Vec::new();
        declarations(&file.items, &here, &mut declared);
        open.extend(declared.into_iter().map(|(path, is_test)| (path, is_test, false)));
    }
    reached
}

/// Where the declarations of one (file or inline) module look for files.
struct Place {
    /// The directory `#[path]` starts from.
    beside: String,
    /// The directory of the children.
    children: String,
    is_test: bool,
}

fn declarations(items: &[Item], place: &Place, declared: &mut Vec<(String, bool)>) {
    for item in items {
        let Item::Mod(module) = item else { continue };
        let name = module.ident.to_string();
        let name = name.trim_start_matches("r#");
        let is_test = place.is_test || module.attrs.iter().any(is_test_only);
        if let Some((_, inner)) = &module.content {
            let children = under(&place.children, name);
            let inside = Place { beside: children.clone(), children, is_test };
            declarations(inner, &inside, declared);
            continue;
        }
        let named = module.attrs.iter().flat_map(named_paths);
        declared.extend(named.map(|path| (normal(&under(&place.beside, &path)), is_test)));
        for candidate in [format!("{name}.rs"), format!("{name}/mod.rs")] {
            declared.push((under(&place.children, &candidate), is_test));
        }
    }
}

fn is_test_only(attribute: &Attribute) -> bool {
    match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => needs_test(list.tokens.clone()),
        _ => false,
    }
}

/// The files of `#[path = ".."]` and `#[cfg_attr(.., path = "..")]`.
fn named_paths(attribute: &Attribute) -> Vec<String> {
    match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }) => vec![path.value()],
            _ => Vec::new(),
        },
        Meta::List(list) if list.path.is_ident("cfg_attr") => {
            let tokens: Vec<TokenTree> = list.tokens.clone().into_iter().collect();
            let values = tokens.windows(3).filter_map(|window| match window {
                [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Literal(value)]
                    if name == "path" =>
                {
                    Some(value.to_string().trim_matches('"').to_string())
                }
                _ => None,
            });
            values.collect()
        }
        _ => Vec::new(),
    }
}

fn under(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_string() } else { format!("{directory}/{name}") }
}

/// The path without `.` and `..`.
fn normal(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "." => {}
            ".." => {
                names.pop();
            }
            _ => names.push(name),
        }
    }
    names.join("/")
}
