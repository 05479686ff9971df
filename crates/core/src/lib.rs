//! The decisions of a concurrency-managed workqueue, as pure code.
//!
//! Nothing here knows a thread, a clock, an atomic or a pointer. *Words* ([`work::WorkWord`], [`pool::InboxWord`],
//! [`pool::WakeWord`], [`worker::BatchWord`], [`queue::QueueWord`], [`completion::HeadWord`]) are `Copy` values.
//! Their transitions answer a [`step::Step`]; the *core* ([`pool::PoolCore`]) takes one event at a time and answers
//! with actions to be performed after its lock has been released. The runtime drives them with threads, the checker
//! with every interleaving.
//!
//! The modules stand in the order in which an item travels.
#![doc = include_str!("../flow/0-map.md")]
#![forbid(unsafe_code)]

pub mod completion;
pub mod id;
pub mod limits;
pub mod list;
pub mod pool;
pub mod pwq;
pub mod queue;
pub mod step;
#[cfg(test)]
mod testing;
pub mod time;
pub mod timer;
pub mod work;
pub mod worker;
