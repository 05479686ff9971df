//! Lock-free drivers of the work queue's words.
//!
//! Each file applies the pure transitions of one word of [`cmwq_core`] with atomics, and names the orderings:
//!
//! | driver | word | guarantees |
//! |---|---|---|
//! | [`Inbox`] | inbox word | one CAS a push, taken whole; a push learns whom it must wake |
//! | [`WakeCell`] | wake word | a claimed wake-up is visible and can be issued by anyone; none is lost |
//! | [`WorkCell`] | item word | one owner of PENDING; a refused submission's stores are seen by the pending run |
//! | [`BatchCell`] | batch word | each claimed item is started or recalled, once |
//! | [`QueueCell`], [`Arrivals`], [`Departures`] | queue word | a flush sees every arrival confirmed before it
//! closed |
//! | [`Listing`] | list word | a confirmed arrival's pwq is on the list that the closer sees |
//! | [`NodeCell`] | node word | no more counts than the limit; none stays behind while a member waits |
//! | [`MailCell`] | - | mail is read once for each message, none is lost |
//! | [`JoinCell`] | join word | a result is handed over once; a waker is never called twice or lost |
//! | [`PostRing`] | head and rest word | a post has woken the receiver when it returns, whoever else has stopped |
//! | [`FreeList`] | free word | nodes change hands once, without a lock |
//! | [`Ring`], [`Receiver`] | - | values over the two above: each is received once, in its poster's order |
//! | [`Lock`] | futex word | a short-spin lock whose slow path sleeps |
//!
//! How a thread sleeps is a trait ([`Futex`], [`Sleep`]), so that this crate knows no operating system.

#![deny(clippy::undocumented_unsafe_blocks)]

mod batch_cell;
mod cache_line;
mod completion;
mod inbox;
mod join_cell;
mod listing;
mod lock;
mod mail_cell;
#[cfg(cmwq_loom)]
pub mod model;
mod node_cell;
mod queue_cell;
mod room_cell;
pub mod sync;
mod wake_cell;
mod work_cell;

pub use batch_cell::BatchCell;
pub use cache_line::CacheLine;
pub use cmwq_core::completion::{Rester, Urgency};
pub use completion::{
    Bell, Capacity, Chain, FreeList, Place, PostError, PostRefusal, PostRing, Poster, Receiver, Ring, Taken,
    Waited, ring,
};
pub use inbox::{Inbox, Link, Received};
pub use join_cell::{JoinCell, Polled};
pub use listing::Listing;
pub use lock::{Lock, LockGuard};
pub use mail_cell::{Mail, MailCell};
pub use node_cell::{Counted, NodeCell};
pub use queue_cell::{Arrivals, COUNTED, Departures, QueueCell};
pub use room_cell::RoomCell;
pub use wake_cell::{FutexSleep, Sleep, WakeCell, Waked, Wakened};
pub use work_cell::WorkCell;

use core::time::Duration;
use sync::AtomicU32;

/// Sleeping on the value of a 32-bit word, as Linux futexes do.
pub trait Futex {
    /// Sleeps while `*word == expected`, at most `timeout`. May return early for no reason. Blocks.
    fn wait(word: &AtomicU32, expected: u32, timeout: Option<Duration>);
    /// Wakes one sleeper. Never blocks.
    fn wake_one(word: &AtomicU32);
    /// Wakes all sleepers. Never blocks.
    fn wake_all(word: &AtomicU32);
    /// What a lock that inherits priority holds while the calling thread has it: not 0, and no other thread's.
    fn thread_number() -> u32;
    /// Waits until `word` holds [`Futex::thread_number`]; meanwhile its holder runs with the caller's priority, if that
    /// is higher. What earlier holders wrote is seen. Blocks. `false`: the system cannot; the caller tries again.
    fn lock_inheriting(word: &AtomicU32) -> bool;
    /// Gives `word`, which the calling thread holds, to whoever waits with the highest priority, or sets it to 0. Never
    /// blocks. `false`: the system cannot, and nobody waits by it.
    fn unlock_inheriting(word: &AtomicU32) -> bool;
}
