//! What the runtime stands on under `--cfg cmwq_shuttle` only: threads, time and sleep of shuttle's model, in which a
//! scheduler chooses at each operation on a shared word which thread goes on.
//!
//! The runtime above is the one that ships. Left out is what shuttle leaves out, weak memory (loom explores that), and
//! spinning: who would spin looks once. All threads are on one CPU.

pub mod clock;
pub mod futex;
mod sleepers;
pub mod thread;

pub use sleepers::with_time;
