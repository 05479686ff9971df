//! Worker threads, and what code that runs on one may ask.

mod awaited;
mod blocking;
pub(crate) mod clock;
mod current;
mod leftovers;
mod main_loop;
mod runner;
mod wait;
mod waits;

pub(crate) use awaited::run_awaited;
pub use blocking::blocking;
#[cfg(feature = "bench")]
pub(crate) use current::who;
pub(crate) use current::{
    current_item, current_queue, current_worker, on_engine_thread, set_engine_thread, with_runner,
};
pub(crate) use main_loop::run;
pub(crate) use runner::Runner;
pub(crate) use wait::Patience;
pub use wait::WaitPolicy;
pub use waits::{Cycle, CycleStep};
pub(crate) use waits::{Wait, begin as begin_wait, own_cycle};
