//! The Linux kernel's concurrency-managed workqueue for user-space programs.
//!
//! Named [queues](Queue) with limits of their own share pools of threads; a pool serves the CPUs of one *pod* (a
//! core, a
//! cache, a node, as the queue's [`Scope`] says). A submission is one step on the item and one push: it takes no
//! lock,
//! allocates nothing for a [`Work`], and never creates a thread.
//!
//! ```
//! let engine = cmwq::Engine::new()?;
//! let queue = engine.queue("example").max_active(16).build()?;
//!
//! // A closure that runs once, and its result.
//! let answer = queue.spawn(|| 6 * 7);
//! assert_eq!(answer.join().unwrap(), 42);
//!
//! // A work that can be queued again and again; while it is pending, queueing it does nothing.
//! let work = cmwq::Work::new(|_| println!("tidying up"));
//! let _ = queue.queue(&work);
//! work.flush().unwrap();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The decisions are pure code in [`cmwq_core`]; this crate drives them with threads.

// The model has its own atomics, which no system call can sleep on.
#![cfg(not(cmwq_loom))]
#![deny(clippy::undocumented_unsafe_blocks)]

#[cfg(doctest)]
mod compile_fail;
pub mod completion;
mod engine;
mod item;
mod memory;
mod pool;
mod queue;
mod stats;
mod steps;
mod worker;

#[cfg(feature = "bench")]
pub mod bench;

pub use cmwq_core::pool::{ClaimPolicy, CoverPolicy};
pub use cmwq_core::work::Enable;
pub use cmwq_sys::policy::SchedPolicy;
pub use cmwq_sys::standing::Leftover;
pub use cmwq_sys::topology::{Scope, Topology};
pub use engine::{BuildError, BuildErrorKind, Engine, EngineBuilder, EngineEvent};
pub use item::{Cancelled, FlushError, JoinError, JoinHandle, Work};
pub use pool::{RealTime, WakeVia};
pub use queue::{
    Flushed, LimitError, Queue, QueueBuilder, Refusal, Refused, Scope as ItemScope, ScopedJoinHandle,
    StillRunning, Submit, WaitError,
};
pub use stats::{PoolStats, Stats};
pub use worker::{Cycle, CycleStep, WaitPolicy, blocking};
