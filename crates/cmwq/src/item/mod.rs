//! Items: what is queued.

mod cancel;
mod cancelled;
mod guard;
mod header;
mod message;
mod once;
mod work;

#[cfg(feature = "bench")]
pub(crate) mod raw;

pub(crate) use cancel::Arming;
pub use cancelled::Cancelled;
pub(crate) use guard::{discard, quietly, wake};
pub(crate) use header::{Claimed, Handle, Header};
pub(crate) use message::MESSAGE;
pub(crate) use once::Task;
pub use once::{JoinError, JoinHandle};
pub use work::{FlushError, Work};

/// The function of a caller-owned item, as a number to compare.
pub(crate) fn function_of(item: Handle) -> usize {
    #[cfg(feature = "bench")]
    return raw::function_of(item);
    #[cfg(not(feature = "bench"))]
    {
        let _ = item;
        unreachable!("no kind of item is owned by its caller")
    }
}
