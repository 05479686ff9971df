//! The life of a worker thread.
//!
//! Steps: L1 take the inbox; L2 ask the core; L3 unlock and wake; L4 run; L5 take the lock and report what has ended;
//! again. With nothing to do: spin if nobody else is up, then announce the sleep, tell the core, leave the stand-by
//! mark
//! (all in one hold, in this order), unlock, sleep.

use super::Runner;
use super::current;
use super::wait::Patience;
use crate::pool::{Hold, Linger, Pool};
use crate::steps::Step;
use cmwq_core::id::WorkerId;
use cmwq_core::pool::record::Change;
use cmwq_core::pool::{Event, Verdict};
use cmwq_core::time::Span;
use cmwq_ring::Wakened;

/// The body of a worker thread. Returns when the worker has been told to end.
pub(crate) fn run(pool: &Pool, id: WorkerId) {
    let runner = Runner::new(pool, id);
    let _current = current::enter(&runner);
    let patience = Patience::new();
    pool.at(Step::Born, None);
    let mut hold = runner.hold_now();
    hold.step(Event::Started(id));
    let mut spun = false;
    loop {
        hold.drain();
        hold.step(Event::Look(id));
        match hold.verdict() {
            Verdict::Run => {
                let filled = hold.fill(runner.cell());
                let linger = hold.release_to_run(id, &filled);
                pool.at(Step::Starting, None);
                runner.run_claimed(&filled);
                pool.at(Step::Ran, None);
                spun = runner.linger(linger, &patience);
                hold = runner.hold();
                if linger != Linger::No {
                    hold.end_lease();
                }
                runner.report(&mut hold, &filled);
            }
            Verdict::Again => {
                hold.release();
                hold = runner.hold();
            }
            Verdict::Create(worker) => {
                hold.release();
                let created = pool.create_worker(worker);
                hold = runner.hold_now();
                hold.step(if created { Event::Created(worker) } else { Event::CreateFailed(worker) });
            }
            Verdict::Rest { spin } if spin && !spun => {
                hold.release();
                spun = !patience.spin(pool.setup.wait, runner.is_near(), || pool.poll_items());
                hold = runner.hold();
            }
            Verdict::Rest { .. } => {
                let Some(awake) = go_idle(&runner, hold) else { return };
                hold = awake;
                spun = false;
            }
            Verdict::Watch(interval) => {
                let Some(awake) = watch(&runner, hold, interval) else { return };
                hold = awake;
            }
            Verdict::Exit => return exit(&runner, hold),
            Verdict::None => unreachable!("a look is always answered"),
        }
    }
}

/// Sleeps until woken; answers with the lock held and the core told, or not at all when the worker has been told to
/// end.
fn go_idle<'a>(runner: &Runner<'a>, mut hold: Hold<'a>) -> Option<Hold<'a>> {
    let wake = &runner.cell().wake;
    hold.set_now(super::clock::now());
    // K1 announce before idle: from the next step on somebody may be told to wake this worker.
    wake.announce();
    runner.pool.note(|| Change::Announced(runner.id));
    hold.step(Event::GoIdle(runner.id));
    hold.release();
    runner.cell().stats.parks.bump();
    runner.pool.at(Step::Parking, None);
    wake.park(None, cmwq_sys::clock::now);
    woken(runner)
}

/// The core's answer to a wake-up comes before the inbox is taken: a worker that has been told to end must leave
/// marks and
/// items to others, and one that is to watch leaves them to the worker it watches.
fn woken<'a>(runner: &Runner<'a>) -> Option<Hold<'a>> {
    runner.pool.note(|| Change::Resumed(runner.id));
    runner.pool.at(Step::Woken, None);
    let mut hold = runner.hold_now();
    hold.step(Event::Woken { worker: runner.id, progress: runner.pool.progress() });
    obey(runner, hold)
}

fn obey<'a>(runner: &Runner<'a>, mut hold: Hold<'a>) -> Option<Hold<'a>> {
    match hold.verdict() {
        Verdict::Watch(interval) => watch(runner, hold, interval),
        Verdict::Exit => {
            exit(runner, hold);
            None
        }
        _ => Some(hold),
    }
}

/// Sleeps with a time-out until this worker joins in, goes back to sleep for good, or ends.
fn watch<'a>(runner: &Runner<'a>, mut hold: Hold<'a>, mut interval: Span) -> Option<Hold<'a>> {
    let wake = &runner.cell().wake;
    loop {
        wake.announce();
        runner.pool.note(|| Change::Announced(runner.id));
        hold.release();
        runner.cell().stats.parks.bump();
        runner.pool.at(Step::Parking, None);
        if wake.park(Some(interval.to_duration()), cmwq_sys::clock::now) == Wakened::Called {
            return woken(runner);
        }
        runner.pool.note(|| Change::Resumed(runner.id));
        runner.pool.at(Step::Woken, None);
        hold = runner.hold_now();
        let inbox = hold.inbox_has_items();
        hold.step(Event::WatchLook { worker: runner.id, progress: runner.pool.progress(), inbox });
        match hold.verdict() {
            Verdict::Watch(next) => interval = next,
            Verdict::Exit => {
                exit(runner, hold);
                return None;
            }
            _ => return Some(hold),
        }
    }
}

fn exit(runner: &Runner<'_>, mut hold: Hold<'_>) {
    hold.step(Event::Exited(runner.id));
    hold.release();
    runner.pool.exited.add(1);
    runner.pool.at(Step::Left, None);
}
