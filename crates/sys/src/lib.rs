//! What the cmwq work queue needs from Linux: futexes and eventfds, clocks, threads, affinity, topology.

// The model has its own atomics, which no system call can sleep on.
#![cfg(not(cmwq_loom))]
#![deny(clippy::undocumented_unsafe_blocks)]

#[cfg(not(target_os = "linux"))]
compile_error!("cmwq runs on Linux only: it is built on futexes, eventfds and sysfs");

pub mod affinity;
#[cfg(not(cmwq_shuttle))]
pub mod clock;
pub mod cycles;
pub mod eventfd;
#[cfg(not(cmwq_shuttle))]
pub mod futex;
#[cfg(cmwq_shuttle)]
pub mod model;
pub mod policy;
mod rseq;
pub mod standing;
#[cfg(not(cmwq_shuttle))]
pub mod thread;
pub mod topology;
pub mod usage;

#[cfg(cmwq_shuttle)]
pub use model::{clock, futex, thread};
