//! A queue: its phases and whether it accepts submissions.
#![doc = include_str!("../../flow/2-queue.md")]

mod listing;
mod phase;
mod room;

pub use listing::ListWord;
pub use phase::{Admit, QueueWord, slot};
pub use room::RoomWord;
