//! What others have for a pwq: counts granted, and word that counts are wanted.

use crate::sync::{AtomicU32, Ordering};

const WANTED: u32 = 1;
const GRANT: u32 = 2;

/// Mail for one pwq. Whoever makes it non-empty sends the pwq's message through the inbox of its pool; whoever takes
/// the message from there takes the mail, and the message may be sent again.
#[derive(Debug)]
pub struct MailCell {
    word: AtomicU32,
}

impl Default for MailCell {
    fn default() -> Self {
        MailCell { word: AtomicU32::new(0) }
    }
}

/// What the mail said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mail {
    /// Counts granted.
    pub granted: u32,
    /// Others want counts.
    pub wanted: bool,
}

impl MailCell {
    /// A count is granted. `true`: the caller sends the message. Never blocks.
    #[must_use = "the message may have to be sent"]
    pub fn grant(&self) -> bool {
        // Ordering: acquire pairs with `take`: who sends the message again comes after the one who read its link.
        // Release pairs with it as well: who takes the mail sees what came before the grant.
        self.word.fetch_add(GRANT, Ordering::AcqRel) == 0
    }

    /// Counts are wanted. `true`: the caller sends the message. Never blocks.
    #[must_use = "the message may have to be sent"]
    pub fn want(&self) -> bool {
        // Ordering: as in `grant`; release, so that who takes the mail sees that somebody waits.
        self.word.fetch_or(WANTED, Ordering::AcqRel) == 0
    }

    /// Takes the mail, after the message has been unlinked. Never blocks.
    pub fn take(&self) -> Mail {
        // Ordering: see `grant` and `want`.
        let word = self.word.swap(0, Ordering::AcqRel);
        Mail { granted: word / GRANT, wanted: word & WANTED != 0 }
    }

    /// Whether there is none. Never blocks.
    pub fn is_empty(&self) -> bool {
        // Ordering: acquire, as in `take`.
        self.word.load(Ordering::Acquire) == 0
    }
}
