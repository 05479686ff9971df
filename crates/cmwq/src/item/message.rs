//! What travels through inboxes like an item and is none: word for a pwq that there is mail.

use super::header::{Header, VTable};
use crate::worker::Runner;
use std::ptr::{self, NonNull};

/// Tells a message from an item.
pub(crate) static MESSAGE: VTable = VTable { run, free, owned_by_caller: false };

impl Header {
    /// Whether this is a pwq's message.
    #[inline]
    pub(crate) fn is_message(&self) -> bool {
        ptr::eq(self.vtable, &MESSAGE)
    }
}

/// # Safety
/// Never called: a message is read where the inbox is drained.
unsafe fn run(_message: NonNull<Header>, _runner: &Runner<'_>) {
    unreachable!("a message is not run")
}

/// # Safety
/// Never called: a message is a part of its pwq.
unsafe fn free(_message: NonNull<Header>) {
    unreachable!("a message is not counted")
}
