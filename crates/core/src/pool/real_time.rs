//! Pools in which no item waits for a thread that has stopped, while a worker sleeps that could take it.
#![doc = include_str!("../../flow/10-real-time.md")]

use super::policy::{CoverPolicy, PoolConfig};
use crate::id::Sleeper;

impl PoolConfig {
    /// The same pool in real time: one item a claim and eager cover, so that nobody has anything in hand.
    pub const fn in_real_time(self) -> PoolConfig {
        PoolConfig { real_time: true, batch_max: 1, cover: CoverPolicy::Eager, ..self }
    }
}

/// Whom a submission wakes before it returns, if it sleeps: the sleeper its push owes a wake-up, else the one whose
/// mark an earlier push may have replaced, whose pusher may have stopped since (`B8 each for itself`). `standing`:
/// whose mark was left last, read after the push.
pub const fn relied_on(owed: Option<Sleeper>, standing: Sleeper) -> Sleeper {
    match owed {
        Some(owed) => owed,
        None => standing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::WorkerId;

    #[test]
    fn the_one_who_is_owed_comes_before_the_one_who_stands() {
        let (owed, standing) = (Sleeper::Worker(WorkerId(1)), Sleeper::Worker(WorkerId(2)));
        assert_eq!(relied_on(Some(owed), standing), owed);
        assert_eq!(relied_on(None, standing), standing);
    }

    #[test]
    fn in_real_time_a_pool_claims_one_item_and_covers_eagerly() {
        let config = PoolConfig::default().in_real_time();
        assert!(config.real_time);
        assert_eq!((config.batch_max, config.cover), (1, CoverPolicy::Eager));
    }

    #[test]
    #[should_panic(expected = "B9 nothing in hand")]
    fn a_real_time_pool_with_batches_is_refused() {
        let _ = crate::pool::PoolCore::<u8>::new(PoolConfig {
            batch_max: 2,
            ..PoolConfig::default().in_real_time()
        });
    }
}
