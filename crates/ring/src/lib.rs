//! Placeholder, replaced within the first commits.
