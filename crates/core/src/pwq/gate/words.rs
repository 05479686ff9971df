//! A gate as words.

use super::Gate;
use crate::list::Fifo;
use crate::pool::record::{Words, fields};

fields!([I: Words + Copy] Gate<I> { limit, nr_active, spare, is_waiting, is_wanted, is_touched, inactive });

impl<I> Gate<I> {
    /// The items that wait, whatever a handle is.
    pub(crate) fn list(&self) -> &Fifo<I> {
        &self.inactive
    }
}
