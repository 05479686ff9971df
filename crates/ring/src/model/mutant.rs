//! Which broken variant this process is, if any.
//!
//! `CMWQ_MUTANT` names a variant that test code asks about by [`mutant`]. `CMWQ_MUTANT_SITE` breaks one operation of a
//! real source: `file:first line:last line:operation:effect`.

use std::panic::Location;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// What a broken site does instead of its operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Another ordering.
    Order(Ordering),
    /// A read-modify-write that writes what it reads does not write.
    Look,
    /// An exchange or a swap becomes a plain store that does not look: it "succeeds", and reads zero. Another
    /// read-modify-write becomes a load and a store.
    Store,
    /// Only these bits of the written value are kept.
    Mask(u64),
}

struct Site {
    file: String,
    lines: (u32, u32),
    operation: String,
    effect: Effect,
}

impl Site {
    fn parse(text: &str) -> Option<Site> {
        let mut parts = text.split(':');
        let mut next = || parts.next();
        let (file, from, to) = (next()?.to_owned(), next()?.parse().ok()?, next()?.parse().ok()?);
        let (operation, effect) = (next()?.to_owned(), Effect::parse(next()?)?);
        Some(Site { file, lines: (from, to), operation, effect })
    }
}

impl Effect {
    fn parse(text: &str) -> Option<Effect> {
        Some(match text {
            // Ordering: names of variants, not uses.
            "relaxed" => Effect::Order(Ordering::Relaxed),
            // Ordering: as above.
            "acquire" => Effect::Order(Ordering::Acquire),
            // Ordering: as above.
            "release" => Effect::Order(Ordering::Release),
            "look" => Effect::Look,
            "store" => Effect::Store,
            mask => Effect::Mask(mask.strip_prefix("mask=")?.parse().ok()?),
        })
    }
}

/// Whether this process is the broken variant `id`.
pub fn mutant(id: &str) -> bool {
    static ID: OnceLock<Option<String>> = OnceLock::new();
    ID.get_or_init(|| std::env::var("CMWQ_MUTANT").ok()).as_deref() == Some(id)
}

/// What is broken about this operation when called from there.
pub(super) fn effect_at(operation: &str, caller: &Location<'_>) -> Option<Effect> {
    static SITE: OnceLock<Option<Site>> = OnceLock::new();
    let site = SITE.get_or_init(|| {
        let text = std::env::var("CMWQ_MUTANT_SITE").ok()?;
        Some(Site::parse(&text).unwrap_or_else(|| {
            eprintln!("no site: {text}");
            std::process::exit(super::runner::NO_SITE)
        }))
    });
    let site = site.as_ref()?;
    let inside = (site.lines.0..=site.lines.1).contains(&caller.line());
    (inside && operation == site.operation && caller.file().ends_with(&site.file)).then_some(site.effect)
}
