//! Exhaustive exploration of the protocols of the work queue, on the very code that ships.
//!
//! Each module models one protocol: threads whose steps apply the words and the cores of [`cmwq_core`], every
//! interleaving of which is explored.
#![forbid(unsafe_code)]

pub mod flush;
pub mod kick;
mod marks;
pub mod ring;
mod row;
pub mod seam;
