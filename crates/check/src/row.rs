//! A short list as a value of a model's state.

/// At most this many.
const LEN_MAX: usize = 8;

/// At most eight small numbers, in order; equal rows are equal values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Row {
    len: u8,
    values: [u8; LEN_MAX],
}

impl Row {
    pub(crate) fn push(&mut self, value: u8) {
        self.values[usize::from(self.len)] = value;
        self.len += 1;
    }

    pub(crate) fn clear(&mut self) {
        *self = Row::default();
    }

    /// Takes a value out, wherever it is. Answers whether it was there.
    pub(crate) fn remove(&mut self, value: u8) -> bool {
        let Some(at) = self.position(value) else { return false };
        self.values.copy_within(at + 1.., at);
        self.len -= 1;
        self.values[usize::from(self.len)] = 0;
        true
    }

    pub(crate) fn position(&self, value: u8) -> Option<usize> {
        self.as_slice().iter().position(|&v| v == value)
    }

    pub(crate) fn first(&self) -> Option<u8> {
        self.as_slice().first().copied()
    }

    pub(crate) fn last(&self) -> Option<u8> {
        self.as_slice().last().copied()
    }

    pub(crate) fn pop_first(&mut self) -> Option<u8> {
        let first = self.first()?;
        let _ = self.remove(first);
        Some(first)
    }

    pub(crate) fn len(&self) -> u8 {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The values.
    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.values[..usize::from(self.len)]
    }
}
