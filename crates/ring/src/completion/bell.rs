//! What wakes a receiver.

use cmwq_core::completion::Rester;
use core::time::Duration;

/// A bell leaves a token when it is rung, and wakes who waits.
///
/// Ringing is complete in itself (`R6 wake-ups add up`): when it has returned, the receiver that waited is runnable or
/// has been given a token, whoever else has begun to ring and has stopped half-way. An eventfd is such a bell; a
/// futex is not. What was done before ringing is seen by a wait that took the token.
pub trait Bell {
    /// Wakes the receiver: the thread that waits or will wait here, or the task that has left its waker. Does not
    /// block, where a thread waits.
    fn ring(&self, rester: Rester);
    /// Waits until there is a token, at most so long, and takes it. May return early for no reason. Blocks.
    fn wait(&self, left: Option<Duration>);
    /// Takes the token, if there is one. Never blocks.
    fn clear(&self);
}
