//! A thread that is stopped between claiming an item and putting it somewhere.

mod support;

use cmwq::{Engine, Submit, Work};
use std::time::Duration;
use support::{until, watchdog};

const LONG: Duration = Duration::from_secs(3600);

fn thread_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the place is valid for the call.
    let answer = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(answer, 0);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Cancellers and modifiers that come meanwhile sleep, and get the item when it has arrived.
#[test]
fn cancellers_sleep_while_an_item_is_in_transit() {
    let _watchdog = watchdog("cancellers_sleep_while_an_item_is_in_transit");
    let engine = Engine::new().unwrap();
    let queue = engine.queue("transit").build().unwrap();
    for modify in [false, true] {
        let work = Work::new(|_| ());
        cmwq::bench::stop_in_transit(300_000);
        std::thread::scope(|scope| {
            let submitter = scope.spawn(|| assert_eq!(queue.queue_delayed(&work, LONG), Submit::Queued));
            until("it is claimed", || work.is_pending());
            let before = thread_time();
            if modify {
                assert_eq!(queue.mod_delayed(&work, Duration::ZERO), Ok(true));
            } else {
                assert_eq!(work.cancel_sync(), Ok(true));
            }
            let used = thread_time() - before;
            assert!(used < Duration::from_millis(100), "it slept: {used:?}");
            submitter.join().unwrap();
        });
        cmwq::bench::stop_in_transit(0);
        work.flush().unwrap();
        assert!(!work.is_pending(), "the timer is gone");
    }
}
