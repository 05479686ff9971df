//! The handle that receives values.

use super::Bell;
use super::shared::Shared;
use crate::sync::spin_hint;
use cmwq_core::completion::Rester;
use core::fmt;
use core::time::Duration;
use std::sync::Arc;

/// How long a receiver lets messages come together.
const GATHER_SPINS: u32 = if cfg!(any(cmwq_loom, miri)) { 0 } else { 16 };

/// The one receiver of a ring. When it is dropped the ring is closed; what it has not given out stays there for
/// [`Ring::take_over`](super::Ring::take_over), or is dropped with the ring.
pub struct Receiver<T, B: Bell> {
    shared: Arc<Shared<T, B>>,
}

/// How a wait ended.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waited {
    /// As many values are there as were wanted, or one of them was forced.
    Ready,
    /// The deadline has passed. Fewer values may be there.
    TimedOut,
    /// The ring is closed: nothing will follow. Values may be there.
    Closed,
}

impl<T, B: Bell> Receiver<T, B> {
    pub(super) fn new(shared: Arc<Shared<T, B>>) -> Self {
        Receiver { shared }
    }

    /// What wakes this receiver.
    pub fn bell(&self) -> &B {
        self.shared.ring.bell()
    }

    fn fetch(&mut self) -> bool {
        // SAFETY: the receiver's own, and borrowed exclusively.
        unsafe { self.shared.fetch() }
    }

    /// The oldest value, if there is one. Values of one poster come in the order in which it posted them.
    ///
    /// # Context
    /// Never blocks.
    pub fn try_take(&mut self) -> Option<T> {
        if self.in_hand() == 0 {
            self.fetch();
        }
        // SAFETY: the receiver's own, and borrowed exclusively.
        unsafe { self.shared.next() }
    }

    /// How many values have been taken from the ring and not given out.
    pub fn in_hand(&self) -> usize {
        // SAFETY: the receiver's own; the reference ends here.
        unsafe { self.shared.side() }.count()
    }

    /// Where small takes follow each other, lets more come together: each take moves the head's cache line away from
    /// the posters. A fraction of a microsecond, and only of a receiver that would look at once again.
    fn gather(&mut self) {
        // SAFETY: the receiver's own, and borrowed exclusively.
        let side = unsafe { self.shared.side() };
        if side.is_dense && side.count() == 0 {
            side.is_dense = false;
            (0..GATHER_SPINS).for_each(|_| spin_hint());
        }
    }

    /// Fetches, and answers how a wait for `need` values ends, if now.
    fn look(&mut self, need: u32) -> Option<Waited> {
        let is_closed = self.fetch();
        // SAFETY: the receiver's own, and borrowed exclusively.
        let side = unsafe { self.shared.side() };
        if side.count() >= need.max(1) as usize || side.is_forced {
            return Some(Waited::Ready);
        }
        is_closed.then_some(Waited::Closed)
    }

    /// What of `need` is missing.
    fn missing(&self, need: u32) -> u32 {
        need.max(1).saturating_sub(u32::try_from(self.in_hand()).unwrap_or(u32::MAX)).max(1)
    }

    /// Waits until `need` values are there, counting those in hand, or a forced one, or the ring is closed, or no
    /// time is left: `left` says how much is, none for "for ever".
    ///
    /// # Context
    /// Blocks.
    pub fn wait(&mut self, need: u32, left: impl Fn() -> Option<Duration>) -> Waited {
        self.gather();
        loop {
            if let Some(waited) = self.look(need) {
                return waited;
            }
            let left = left();
            if left == Some(Duration::ZERO) {
                return Waited::TimedOut;
            }
            self.shared.ring.rest(self.missing(need), left);
        }
    }

    /// For event loops: is about to wait for `need` values elsewhere, for the bell's descriptor. `None`: armed;
    /// wait, and then [`Receiver::disarm`]. Otherwise there is nothing to wait for.
    ///
    /// # Context
    /// Never blocks.
    #[must_use = "wait only when armed"]
    pub fn arm(&mut self, need: u32) -> Option<Waited> {
        self.arm_as(need, Rester::Thread)
    }

    /// The same for a task that has left its waker with the bell.
    ///
    /// # Context
    /// Never blocks.
    #[must_use = "wait only when armed"]
    pub fn arm_task(&mut self, need: u32) -> Option<Waited> {
        self.arm_as(need, Rester::Task)
    }

    fn arm_as(&mut self, need: u32, rester: Rester) -> Option<Waited> {
        loop {
            if let Some(waited) = self.look(need) {
                return Some(waited);
            }
            if self.shared.ring.arm(self.missing(need), rester) {
                return None;
            }
        }
    }

    /// After [`Receiver::arm`], before anything is taken: the wait is over, for whatever reason. Without `arm` it does
    /// nothing.
    ///
    /// # Context
    /// Never blocks.
    pub fn disarm(&mut self) {
        self.shared.ring.resume();
        self.bell().clear();
    }

    /// Closes the ring: posts are refused from now on; what has been posted can still be taken.
    ///
    /// # Context
    /// Never blocks.
    pub fn close(&mut self) {
        self.shared.ring.close();
    }
}

/// Takes what is there, without waiting.
impl<T, B: Bell> Iterator for Receiver<T, B> {
    type Item = T;
    fn next(&mut self) -> Option<T> {
        self.try_take()
    }
}

impl<T, B: Bell> Drop for Receiver<T, B> {
    fn drop(&mut self) {
        self.shared.ring.resume();
        self.shared.ring.close();
        self.shared.leave_receiver();
    }
}

impl<T, B: Bell> fmt::Debug for Receiver<T, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("in_hand", &self.in_hand()).finish_non_exhaustive()
    }
}
