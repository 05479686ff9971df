//! Telling the pool that an item is about to block.

use super::{Runner, with_runner};
use cmwq_core::pool::Event;

/// Runs `body`, which may block, so that the pool can let another worker run meanwhile.
///
/// In a per-CPU (managed) queue only one item runs at a time, unless it blocks inside this scope; other queues take
/// back
/// items that this worker has claimed and not started. Waiting for a work, a queue or a join handle does this by
/// itself.
/// Scopes nest. Outside a worker this only calls `body`.
///
/// # Context
/// From any thread; from inside an item it takes the pool's lock briefly before and after.
///
/// # Panics
/// When `body` does; the scope ends all the same.
pub fn blocking<T>(body: impl FnOnce() -> T) -> T {
    let _scope = with_runner(|runner| runner.map(Scope::enter));
    body()
}

/// Ends the scope, also by unwinding.
struct Scope;

impl Scope {
    fn enter(runner: &Runner<'_>) -> Scope {
        let depth = runner.blocking.get();
        runner.blocking.set(depth + 1);
        if depth == 0 {
            begin(runner);
        }
        Scope
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        with_runner(|runner| {
            let Some(runner) = runner else { return };
            let depth = runner.blocking.get() - 1;
            runner.blocking.set(depth);
            if depth == 0 {
                let mut hold = runner.hold_now();
                hold.step(Event::Unblock(runner.id));
                hold.release();
            }
        });
    }
}

/// The baton changes hands: what has ended is reported, what is not started goes back, what has arrived is listed,
/// and
/// the core chooses who looks next.
fn begin(runner: &Runner<'_>) {
    runner.publish_departures();
    let mut hold = runner.hold_now();
    hold.recall(runner.id);
    hold.drain();
    hold.step(Event::Block(runner.id));
    hold.release();
}
