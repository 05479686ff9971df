//! Completion rings: results delivered in batches to one receiver.
//!
//! ```
//! use cmwq::completion::{Capacity, ring};
//!
//! let (ring, mut receiver) = ring(Capacity::Bounded(64))?;
//! let queue = cmwq::Engine::new()?.queue("squares").build()?;
//! for n in 0..10u64 {
//!     queue.spawn_into(&ring, move || n * n)?;
//! }
//! drop(ring);
//! let mut sum = 0;
//! while receiver.wait(10, None) != cmwq::completion::Waited::Closed || receiver.in_hand() > 0 {
//!     sum += receiver.by_ref().map(|square| square.unwrap()).sum::<u64>();
//! }
//! assert_eq!(sum, 285);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bell;
mod receiver;
mod spawn_into;

pub use bell::RingBell;
pub use cmwq_ring::{Capacity, PostError, PostRefusal, Waited};
pub use receiver::Receiver;
pub use spawn_into::{RunEnd, SpawnIntoError, SpawnIntoReason};

/// A ring of values, for those who post. See [`cmwq_ring::Ring`].
pub type Ring<T> = cmwq_ring::Ring<T, RingBell>;
/// A ring's handle for one thread that posts much. See [`cmwq_ring::Poster`].
pub type Poster<T> = cmwq_ring::Poster<T, RingBell>;
/// Room for one value, reserved. See [`cmwq_ring::Place`].
pub type Place<T> = cmwq_ring::Place<T, RingBell>;

/// Makes a ring of values, whose receiver is woken by an eventfd.
///
/// # Context
/// Allocates all nodes and opens a descriptor. Does not block.
///
/// # Errors
/// The system's, when no descriptor is to be had: raise the limit of open files, or close some.
///
/// # Panics
/// If the capacity is 0 or larger than [`Capacity::MAX`].
pub fn ring<T: Send>(capacity: Capacity) -> std::io::Result<(Ring<T>, Receiver<T>)> {
    let bell = RingBell::new().map_err(|error| {
        std::io::Error::new(error.kind(), format!("no eventfd for a completion ring: {error}"))
    })?;
    let (ring, receiver) = cmwq_ring::ring(capacity, bell);
    Ok((ring, Receiver::new(receiver)))
}
