//! A thread that is stopped between claiming an item and putting it somewhere.

mod support;

use cmwq::bench::{Step, Stops};
use cmwq::{Engine, Submit, Work};
use std::time::Duration;
use support::{HANG, this_thread, until_asleep, watchdog};

const LONG: Duration = Duration::from_secs(3600);

/// Cancellers and modifiers that come meanwhile sleep, and get the item when it has arrived.
#[test]
fn cancellers_sleep_while_an_item_is_in_transit() {
    let _watchdog = watchdog("cancellers_sleep_while_an_item_is_in_transit");
    let stops = Stops::default();
    let engine = Engine::builder().on_step(stops.hook()).build().unwrap();
    let queue = engine.queue("transit").build().unwrap();
    for modify in [false, true] {
        let work = Work::new(|_| ());
        let stop = stops.stop_next(|at| at.step == Step::Arming);
        std::thread::scope(|scope| {
            let submitter = scope.spawn(|| assert_eq!(queue.queue_delayed(&work, LONG), Submit::Queued));
            assert!(stop.wait(HANG), "it is claimed");
            let (tell, told) = std::sync::mpsc::channel();
            let (queue, work) = (&queue, &work);
            let canceller = scope.spawn(move || {
                tell.send(this_thread()).unwrap();
                if modify {
                    assert_eq!(queue.mod_delayed(work, Duration::ZERO), Ok(true));
                } else {
                    assert_eq!(work.cancel_sync(), Ok(true));
                }
            });
            until_asleep(&told.recv().unwrap());
            assert!(!canceller.is_finished(), "it sleeps until the item is somewhere");
            stop.let_go();
            submitter.join().unwrap();
            canceller.join().unwrap();
        });
        work.flush().unwrap();
        assert!(!work.is_pending(), "the timer is gone");
    }
}
