//! What the model runs on, under `--cfg cmwq_loom` only: atomics of loom that can be broken at one site, sleeps that
//! promise what the kernel's do and no more, and a runner for deliberately broken variants.

mod atomics;
mod mutant;
mod runner;
mod sleep;

pub use atomics::{AtomicPtr, AtomicU32, AtomicU64};
pub use mutant::mutant;
pub use runner::{Broken, Mutant, all_are_caught};
pub use sleep::{ModelFutex, Tokens, sleep_upper, wake_upper};

/// Preemptions that are explored unless `LOOM_MAX_PREEMPTIONS` says otherwise.
const PREEMPTIONS: usize = 2;

/// Explores the interleavings of `body`.
pub fn check(body: impl Fn() + Sync + Send + 'static) {
    check_less(0, body);
}

/// The same with so many preemptions less, for a body with many steps.
pub fn check_less(less: usize, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(builder.preemption_bound.unwrap_or(PREEMPTIONS) - less);
    builder.max_branches = 10_000;
    builder.check(move || {
        sleep::forget_sleepers();
        body();
    });
}
