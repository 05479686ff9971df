//! Memory that is asked for with an answer.
//!
//! What a queue needs for each CPU and each pod grows with the machine, and the system may refuse it. Then the creation
//! of the queue fails with an error. (Its name and the like, and a pool that nobody has used yet, are asked for as
//! everywhere in Rust, where a refusal ends the process.)

use std::fmt;

/// The system has refused memory.
#[derive(Debug)]
pub(crate) struct NoMemory {
    bytes: usize,
}

impl fmt::Display for NoMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes of memory were refused", self.bytes)
    }
}

/// An empty vector with room for exactly so many values.
pub(crate) fn room<T>(count: usize) -> Result<Vec<T>, NoMemory> {
    let refused = NoMemory { bytes: count.saturating_mul(size_of::<T>()) };
    #[cfg(feature = "bench")]
    if crate::bench::memory_is_refused() {
        return Err(refused);
    }
    let mut room = Vec::new();
    match room.try_reserve_exact(count) {
        Ok(()) => Ok(room),
        Err(_) => Err(refused),
    }
}
