//! What a pool promises, one promise a test: creation, claims, cover, watching, managed concurrency.

use super::super::action::Verdict;
use super::super::event::Event;
use super::super::inbox_word::InboxWord;
use super::super::policy::{CoverPolicy, PoolConfig};
use super::super::test_driver::Driver;
use crate::id::{PwqId, Sleeper, WorkerId};
use crate::limits;
use crate::time::{Span, Tick};
use crate::worker::State;

const W0: WorkerId = WorkerId(0);
const W1: WorkerId = WorkerId(1);
const W2: WorkerId = WorkerId(2);
const W3: WorkerId = WorkerId(3);

fn eager() -> PoolConfig {
    PoolConfig { cover: CoverPolicy::Eager, ..PoolConfig::default() }
}

fn managed() -> PoolConfig {
    PoolConfig { managed: true, ..PoolConfig::default() }
}

fn single(config: PoolConfig) -> PoolConfig {
    PoolConfig { batch_max: 1, ..config }
}

// ---- creation ----

#[test]
fn the_manager_makes_the_first_worker() {
    let mut driver = Driver::new(eager(), 100);
    driver.submit_new(1);
    assert_eq!(
        driver.woken,
        [Sleeper::Manager],
        "the first submission wakes the manager, and creates nothing"
    );
    assert_eq!(driver.manager_look(), Verdict::Create(W0));
    driver.created(W0);
    driver.start_thread(W0);
    assert_eq!(driver.state(W0), State::Awake);
}

#[test]
fn a_worker_leaves_a_spare_behind_before_it_works() {
    let mut driver = Driver::with_idle(eager(), 100, 1);
    let items = driver.submit_new(1);
    assert_eq!(driver.wake(W0), Verdict::Create(W1));
    driver.created(W1);
    assert_eq!(driver.look(W0), Verdict::Run);
    assert_eq!(driver.batch(W0), items);
}

#[test]
fn one_creation_is_under_way_at_a_time() {
    let mut driver = Driver::with_idle(single(eager()), 100, 2);
    driver.submit_new(3);
    assert_eq!(driver.wake(W1), Verdict::Run, "an idle worker is left: no spare is missing");
    assert_eq!(driver.wake(W0), Verdict::Create(W2));
    assert_eq!(driver.manager_look(), Verdict::None, "the manager's role is taken");
    driver.run_batch(W1);
    assert_eq!(driver.look(W1), Verdict::Run, "others go on meanwhile");
}

#[test]
fn a_worker_that_runs_before_its_creation_is_reported_leaves_somebody_to_stand_by() {
    let mut driver = Driver::new(eager(), 100);
    driver.submit_new(1);
    assert_eq!(driver.manager_look(), Verdict::Create(W0));
    driver.make_thread(W0);
    driver.start_thread(W0);
    assert_eq!(driver.look(W0), Verdict::Run, "no spare: a creation is under way");
    driver.start(W0);
    driver.report_created(W0);
    driver.submit_new(1);
    assert_eq!(driver.woken, [Sleeper::Manager], "the item does not wait for the one that runs");
    assert_eq!(driver.manager_look(), Verdict::Create(W1));
}

#[test]
fn a_pool_at_its_limit_works_without_a_spare() {
    let mut driver = Driver::with_idle(PoolConfig { workers_max: 1, ..eager() }, 100, 1);
    driver.submit_new(1);
    assert_eq!(driver.wake(W0), Verdict::Run);
    assert_eq!(driver.inbox, InboxWord::Empty, "nobody else can come");
}

#[test]
fn a_failed_first_creation_is_tried_again_after_the_cool_down() {
    let mut driver = Driver::new(eager(), 100);
    driver.submit_new(1);
    assert_eq!(driver.manager_look(), Verdict::Create(W0));
    driver.create_failed(W0);
    assert_eq!(driver.woken, [Sleeper::Manager], "the manager keeps the baton");
    assert_eq!(driver.manager_look(), Verdict::None);
    let retry_at = Tick(0) + limits::CREATE_COOLDOWN;
    assert_eq!(driver.retry_at, Some(retry_at));
    driver.now = Tick(retry_at.0 - 1);
    assert_eq!(driver.manager_look(), Verdict::None, "too early");
    driver.now = retry_at;
    assert_eq!(driver.manager_look(), Verdict::Create(W0), "the slot has been given back");
}

#[test]
fn a_worker_that_cannot_create_works_without_a_spare_until_the_cool_down_is_over() {
    let mut driver = Driver::with_idle(eager(), 100, 1);
    driver.submit_new(1);
    assert_eq!(driver.wake(W0), Verdict::Create(W1));
    driver.create_failed(W1);
    assert_eq!(driver.look(W0), Verdict::Run);
    assert_eq!(driver.inbox, InboxWord::StandBy(Sleeper::Manager), "the manager stands by for it");
    driver.start(W0);
    driver.submit_new(1);
    assert_eq!(driver.woken, [Sleeper::Manager]);
    assert_eq!(driver.manager_look(), Verdict::None);
    driver.now = driver.retry_at.expect("it comes again by the clock");
    assert_eq!(driver.manager_look(), Verdict::Create(W1));
}

// ---- claims ----

#[test]
fn claims_are_fair_shares_and_at_most_a_batch() {
    let mut driver = Driver::with_idle(PoolConfig { workers_max: 2, ..eager() }, 100, 2);
    let items = driver.submit_new(40);
    driver.wake(W1);
    assert_eq!(driver.batch(W1), items[..16], "alone: everything, but at most a batch");
    driver.wake(W0);
    assert_eq!(driver.batch(W0), items[16..28], "half of the 24 left");
    driver.run_batch(W1);
    driver.look(W1);
    assert_eq!(driver.batch(W1), items[28..34], "half of the 12 left");
}

#[test]
fn a_blocked_worker_has_no_share() {
    let mut driver = Driver::with_idle(PoolConfig { workers_max: 2, ..eager() }, 100, 2);
    driver.submit_new(1);
    driver.wake(W1);
    driver.start(W1);
    driver.block(W1);
    let items = driver.submit_new(8);
    driver.wake(W0);
    assert_eq!(driver.batch(W0), items);
}

#[test]
fn a_last_single_item_is_claimed_however_many_share() {
    let mut driver = Driver::with_idle(single(eager()), 100, 4);
    let items = driver.submit_new(3);
    for (worker, item) in [W3, W2, W1].into_iter().zip(items) {
        driver.wake(worker);
        assert_eq!(driver.batch(worker), [item]);
    }
}

#[test]
fn a_worker_with_unreported_items_of_its_own_looks_again_and_rests() {
    let mut driver = Driver::with_idle(eager(), 100, 2);
    driver.submit_new(2);
    driver.wake(W1);
    driver.run_batch(W1);
    assert_eq!(driver.core.gate(PwqId(0)).nr_active(), 2, "they count until they are reported");
    assert_eq!(driver.look(W1), Verdict::Rest { spin: true });
    assert_eq!(driver.core.gate(PwqId(0)).nr_active(), 0);
}

// ---- cover ----

#[test]
fn eager_workers_wake_one_another_while_items_are_left() {
    let mut driver = Driver::with_idle(PoolConfig { workers_max: 4, ..eager() }, 100, 4);
    driver.submit_new(40);
    for worker in [W3, W2, W1, W0] {
        assert_eq!(driver.woken, [Sleeper::Worker(worker)], "one at a time, the most recently idle first");
        assert_eq!(driver.wake(worker), Verdict::Run);
    }
    assert_eq!(driver.woken, [], "nobody is left to be woken");
}

#[test]
fn an_eager_worker_has_an_idle_one_stand_by_while_it_runs() {
    let mut driver = Driver::with_idle(eager(), 100, 2);
    driver.submit_new(1);
    driver.wake(W1);
    assert_eq!(driver.inbox, InboxWord::StandBy(Sleeper::Worker(W0)));
    driver.submit_new(1);
    assert_eq!(driver.woken, [Sleeper::Worker(W0)]);
}

#[test]
fn an_item_that_arrives_while_a_worker_goes_idle_is_not_left_behind() {
    let mut driver = Driver::with_idle(eager(), 100, 1);
    driver.wake(W0);
    let item = driver.add_item(0, None);
    driver.step(Event::GoIdle(W0));
    driver.push(item);
    let _ = driver.settle();
    assert_eq!(driver.woken, [Sleeper::Worker(W0)], "the mark could not be set: it is picked instead");
}

#[test]
fn only_the_one_awake_worker_may_spin() {
    let mut driver = Driver::with_idle(eager(), 100, 2);
    assert_eq!(driver.wake(W0), Verdict::Rest { spin: true });
    assert_eq!(driver.wake(W1), Verdict::Rest { spin: false });
}

#[test]
fn a_worker_told_to_end_leaves_the_inbox_to_others() {
    let config = PoolConfig { idle_floor: 1, idle_timeout: Span(0), ..eager() };
    let mut driver = Driver::with_idle(config, 100, 3);
    driver.cull();
    assert_eq!((driver.state(W0), driver.state(W2)), (State::Dying, State::Idle));
    assert_eq!(driver.inbox, InboxWord::StandBy(Sleeper::Worker(W2)));
    let items = driver.submit_new(1);
    assert_eq!(driver.wake(W0), Verdict::Exit);
    assert_eq!(driver.inbox, InboxWord::List(items[0]), "it leaves without taking the inbox");
}

#[test]
fn a_worker_told_to_end_that_has_taken_the_inbox_sets_the_mark_again() {
    let config = PoolConfig { idle_floor: 1, idle_timeout: Span(0), ..eager() };
    let mut driver = Driver::with_idle(config, 100, 3);
    driver.cull();
    assert_eq!(driver.look(W0), Verdict::Exit);
    assert_eq!(driver.inbox, InboxWord::StandBy(Sleeper::Worker(W2)));
}

// ---- watching ----

/// `w1` runs an item, `w0` has been woken by a second one and watches.
fn watched() -> Driver {
    let mut driver = Driver::with_idle(PoolConfig::default(), 1_000, 2);
    driver.pass(Span::from_ms(1));
    driver.submit_new(1);
    assert_eq!(driver.wake(W1), Verdict::Run);
    driver.start(W1);
    driver.submit_new(1);
    assert_eq!(driver.woken, [Sleeper::Worker(W0)], "the first submission behind a running item wakes");
    assert_eq!(driver.wake(W0), Verdict::Watch(limits::WATCH_INTERVAL.0));
    driver
}

#[test]
fn further_submissions_wake_nobody_while_one_watches() {
    let mut driver = watched();
    driver.submit_new(20);
    assert_eq!(driver.woken, []);
}

#[test]
fn a_watcher_joins_when_an_item_does_not_end() {
    let mut driver = watched();
    driver.pass(limits::WATCH_INTERVAL.0);
    assert_eq!(driver.watch_look(W0), Verdict::Create(W2), "it leaves a spare behind, as everybody");
    driver.created(W2);
    assert_eq!(driver.look(W0), Verdict::Run);
    assert_eq!(driver.batch(W0).len(), 1);
}

#[test]
fn a_watcher_takes_back_what_a_stuck_worker_has_claimed() {
    let mut driver = Driver::with_idle(PoolConfig { workers_max: 2, ..PoolConfig::default() }, 100, 2);
    driver.pass(Span::from_ms(1));
    let items = driver.submit_new(3);
    driver.wake(W1);
    driver.start(W1);
    driver.submit_new(1);
    assert!(matches!(driver.wake(W0), Verdict::Watch(_)));
    // The inbox is emptied by a passer-by: what is left is in the batch of the stuck worker.
    driver.cancel(3);
    assert_eq!(driver.worklist(), items[1..], "and a canceller has recalled that");
    assert_eq!(driver.watch_look(W0), Verdict::Run);
}

#[test]
fn a_watcher_stands_aside_while_items_are_fast_and_looks_less_and_less_often() {
    let mut driver = watched();
    let mut interval = limits::WATCH_INTERVAL.0;
    for _ in 0..6 {
        driver.threads[1].current.is_some().then(|| driver.end(W1));
        driver.submit_new(200);
        let long_enough = interval.0 / limits::WATCH_ITEM_TIME.0;
        for _ in 0..long_enough {
            if driver.start(W1).is_none() {
                driver.look(W1);
                driver.start(W1);
            }
            driver.end(W1);
        }
        driver.pass(interval);
        interval = Span((interval.0 * 2).min(limits::WATCH_INTERVAL.1.0));
        assert_eq!(driver.watch_look(W0), Verdict::Watch(interval));
    }
    assert_eq!(interval, limits::WATCH_INTERVAL.1);
}

#[test]
fn a_watcher_of_long_items_with_nothing_queued_goes_back_to_untimed_sleep() {
    let mut driver = watched();
    driver.end(W1);
    driver.look(W1);
    driver.start(W1);
    assert_eq!(
        driver.watch_look(W0),
        Verdict::Watch(Span(limits::WATCH_INTERVAL.0.0 * 2)),
        "one was started"
    );
    driver.watch_look(W0);
    assert_eq!(driver.state(W0), State::Idle);
    assert_eq!(driver.inbox, InboxWord::StandBy(Sleeper::Worker(W0)));
}

#[test]
fn a_watcher_of_nobody_goes_back_to_sleep_after_some_looks() {
    let mut driver = watched();
    driver.end(W1);
    driver.look(W1);
    driver.run_batch(W1);
    driver.sleep(W1);
    driver.watch_look(W0);
    for _ in 1..limits::WATCH_IDLE_LOOKS {
        assert!(matches!(driver.watch_look(W0), Verdict::Watch(_)));
    }
    driver.watch_look(W0);
    assert_eq!(driver.state(W0), State::Idle);
}

#[test]
fn a_watcher_that_stands_by_for_blocked_workers_joins_at_once() {
    let mut driver = watched();
    driver.end(W1);
    driver.look(W1);
    driver.start(W1);
    driver.block(W1);
    assert_eq!(driver.inbox, InboxWord::StandBy(Sleeper::Worker(W0)));
    driver.submit_new(1);
    assert_eq!(driver.wake(W0), Verdict::Create(W2), "nobody is left to be watched: it is about to run it");
}

#[test]
fn nobody_watches_workers_that_have_been_inside_an_item_for_long() {
    let mut driver = Driver::with_idle(PoolConfig { workers_max: 2, ..PoolConfig::default() }, 100, 2);
    driver.pass(Span::from_ms(1));
    driver.submit_new(1);
    driver.wake(W1);
    driver.start(W1);
    driver.pass(limits::WATCH_INTERVAL.0);
    driver.submit_new(1);
    assert_eq!(driver.wake(W0), Verdict::Run);
}

#[test]
fn nobody_watches_beside_a_worker_that_is_awake() {
    let mut driver = Driver::with_idle(PoolConfig::default(), 100, 3);
    driver.submit_new(1);
    driver.wake(W2);
    driver.start(W2);
    driver.pass(limits::WATCH_INTERVAL.0);
    driver.wake(W1);
    driver.end(W2);
    driver.submit_new(1);
    driver.look(W2);
    assert_eq!(driver.wake(W0), Verdict::Rest { spin: false }, "another one will see what arrives");
}

#[test]
fn a_watcher_that_looks_puts_the_mark_back() {
    let mut driver = watched();
    driver.end(W1);
    driver.look(W1);
    driver.start(W1);
    driver.block(W1);
    assert!(matches!(driver.wake(W0), Verdict::Watch(_)), "woken for nothing, it withdraws its own mark");
    assert_eq!(driver.inbox, InboxWord::StandBy(Sleeper::Worker(W0)));
}

#[test]
fn a_full_backlog_is_joined_at_once() {
    let config = PoolConfig { cover: CoverPolicy::Backlog(3), workers_max: 2, ..PoolConfig::default() };
    let mut driver = Driver::with_idle(single(config), 100, 2);
    driver.pass(Span::from_ms(1));
    driver.submit_new(4);
    driver.wake(W1);
    assert_eq!(driver.wake(W0), Verdict::Run, "three were left");
}

#[test]
fn a_short_backlog_is_watched_and_a_watcher_is_picked_when_it_grows() {
    let config = PoolConfig { cover: CoverPolicy::Backlog(3), workers_max: 2, ..PoolConfig::default() };
    let mut driver = Driver::with_idle(single(config), 100, 2);
    driver.pass(Span::from_ms(1));
    driver.submit_new(3);
    driver.wake(W1);
    assert!(matches!(driver.wake(W0), Verdict::Watch(_)), "two were left");
    driver.submit_new(2);
    driver.run_batch(W1);
    driver.look(W1);
    assert_eq!(driver.woken, [Sleeper::Worker(W0)], "three are left");
    assert_eq!(driver.state(W0), State::Awake);
}

// ---- managed concurrency ----

#[test]
fn a_managed_pool_wakes_a_second_worker_only_when_the_first_blocks() {
    let mut driver = Driver::with_idle(managed(), 100, 3);
    let items = driver.submit_new(3);
    driver.wake(W2);
    driver.start(W2);
    driver.submit_new(1);
    assert_eq!(driver.woken, []);
    driver.block(W2);
    assert_eq!(driver.woken, [Sleeper::Worker(W1)]);
    assert_eq!(driver.worklist(), items[1..], "what it had claimed comes back, in order");
    assert_eq!(driver.wake(W1), Verdict::Run);
}

#[test]
fn a_submission_finds_a_stand_by_when_all_managed_workers_block() {
    let mut driver = Driver::with_idle(managed(), 100, 2);
    driver.submit_new(1);
    driver.wake(W1);
    driver.start(W1);
    driver.block(W1);
    assert_eq!(driver.inbox, InboxWord::StandBy(Sleeper::Worker(W0)));
}

#[test]
fn after_an_unblock_one_of_two_rests() {
    let mut driver = Driver::with_idle(single(managed()), 100, 3);
    driver.submit_new(4);
    driver.wake(W2);
    driver.start(W2);
    driver.block(W2);
    driver.wake(W1);
    driver.start(W1);
    driver.unblock(W2);
    assert_eq!(driver.core.nr_running(), 2);
    driver.end(W2);
    assert!(matches!(driver.sleep(W2), Verdict::Rest { .. }), "another runs: the target is one");
    driver.end(W1);
    assert_eq!(driver.look(W1), Verdict::Run);
}

#[test]
fn two_managed_workers_that_both_rest_leave_somebody_coming() {
    let mut driver = Driver::with_idle(single(managed()), 100, 3);
    driver.submit_new(4);
    driver.wake(W2);
    driver.start(W2);
    driver.block(W2);
    driver.wake(W1);
    driver.start(W1);
    driver.unblock(W2);
    driver.end(W1);
    driver.end(W2);
    assert!(matches!(driver.look(W1), Verdict::Rest { .. }));
    assert!(matches!(driver.look(W2), Verdict::Rest { .. }));
    driver.step(Event::GoIdle(W1));
    driver.step(Event::GoIdle(W2));
    let _ = driver.settle();
    assert_eq!(driver.woken, [Sleeper::Worker(W2)]);
}

#[test]
fn a_cpu_intensive_item_does_not_count_and_the_next_one_of_its_worker_does() {
    let mut driver = Driver::with_idle(single(managed()), 100, 3);
    driver.submit_new(3);
    driver.wake(W2);
    driver.start(W2);
    driver.cpu_intensive(W2);
    assert_eq!((driver.core.nr_running(), driver.woken.as_slice()), (0, &[Sleeper::Worker(W1)][..]));
    driver.cpu_intensive(W2);
    driver.block(W2);
    assert_eq!(driver.core.nr_running(), 0, "marked once, and blocked is not counted twice");
    driver.unblock(W2);
    assert_eq!(driver.core.nr_running(), 0);
    driver.end(W2);
    driver.look(W2);
    assert_eq!(driver.core.nr_running(), 1);
    driver.cpu_intensive(W1);
    assert_eq!(
        driver.core.nr_running(),
        1,
        "a tick that comes late, for a worker that sleeps, changes nothing"
    );
}

// ---- the end ----

#[test]
fn a_closing_pool_runs_what_is_queued_and_everybody_leaves() {
    let mut driver = Driver::with_idle(eager(), 100, 3);
    let items = driver.submit_new(2);
    driver.close();
    for worker in [W2, W1, W0] {
        let mut verdict = driver.wake(worker);
        while verdict == Verdict::Run {
            driver.run_batch(worker);
            verdict = driver.look(worker);
        }
        assert_eq!(verdict, Verdict::Exit);
    }
    assert_eq!(driver.started.len(), items.len());
    assert_eq!(driver.core.nr_workers(), 0);
}

#[test]
fn a_worker_that_was_told_to_rest_before_the_close_leaves_when_it_goes_idle() {
    let mut driver = Driver::with_idle(eager(), 100, 2);
    driver.wake(W1);
    driver.close();
    driver.step(Event::GoIdle(W1));
    let _ = driver.settle();
    assert!(driver.woken.contains(&Sleeper::Worker(W1)), "it is told so at once");
    assert_eq!(driver.wake(W1), Verdict::Exit);
    assert_eq!(driver.wake(W0), Verdict::Exit);
}

#[test]
#[should_panic(expected = "at least one worker")]
fn a_pool_that_may_have_no_worker_is_refused() {
    let _ = Driver::new(PoolConfig { workers_max: 0, ..eager() }, 1);
}
