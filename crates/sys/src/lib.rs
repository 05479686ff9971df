//! What the cmwq work queue needs from Linux.
#![warn(missing_docs)]

pub mod affinity;
pub mod topology;
