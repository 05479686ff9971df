//! Culling, and what becomes of a picked worker between the pick and its first step.

use super::action::{Actions, Verdict};
use super::event::Event;
use super::inbox_word::InboxWord;
use super::policy::{ClaimPolicy, CoverPolicy, PoolConfig};
use super::test_driver::Driver;
use crate::id::{Sleeper, WorkerId};
use crate::limits;
use crate::time::{Span, Tick};
use crate::worker::State;

fn eager() -> PoolConfig {
    PoolConfig { cover: CoverPolicy::Eager, batch_max: 1, ..PoolConfig::default() }
}

/// So many idle and busy workers, everything at time zero; the idle ones are the lower numbers.
fn idle_and_busy(config: PoolConfig, idle: u32, busy: u32) -> Driver {
    let mut driver = Driver::with_idle(config, 100, idle + busy);
    for worker in (idle..idle + busy).rev() {
        driver.submit_new(1);
        assert_eq!(driver.wake(WorkerId(worker)), Verdict::Run);
        driver.start(WorkerId(worker));
    }
    driver
}

fn dying(driver: &Driver) -> Vec<u32> {
    let slots = 0..driver.core.workers().len() as u32;
    slots.filter(|&at| driver.state(WorkerId(at)) == State::Dying).collect()
}

#[test]
fn idle_workers_above_the_floor_are_culled_when_four_times_their_number_reaches_the_busy() {
    for busy in 0..=12 {
        for idle in 0..=6 {
            let config = PoolConfig { workers_max: (idle + busy).max(1), ..eager() };
            let mut driver = idle_and_busy(config, idle, busy);
            assert_eq!(driver.core.nr_workers(), idle + busy);
            driver.now = Tick(0) + limits::IDLE_TIMEOUT;
            driver.cull();
            let left = (0..=idle).rev().find(|&left| left <= 2 || (left - 2) * 4 < busy).unwrap();
            let expected: Vec<u32> = (0..idle - left).collect();
            assert_eq!(dying(&driver), expected, "{idle} idle and {busy} busy: the oldest first");
        }
    }
}

#[test]
fn nobody_is_culled_before_the_time_out_and_the_culler_comes_again() {
    let mut driver = Driver::with_idle(eager(), 100, 4);
    assert_eq!(driver.cull_at, Some(Tick(0) + limits::IDLE_TIMEOUT), "armed when one too many goes idle");
    driver.now = Tick(limits::IDLE_TIMEOUT.0 - 1);
    driver.cull();
    assert_eq!(dying(&driver), []);
    assert_eq!(driver.cull_at, Some(Tick(0) + limits::IDLE_TIMEOUT));
    driver.pass(Span(1));
    driver.cull();
    assert_eq!(dying(&driver), [0, 1]);
    assert_eq!(driver.cull_at, None, "at the floor the culler rests");
}

#[test]
fn only_those_idle_long_enough_are_culled() {
    let mut driver = Driver::with_idle(eager(), 100, 4);
    driver.pass(Span(1_000));
    for worker in 1..4 {
        driver.wake(WorkerId(worker));
        driver.sleep(WorkerId(worker));
    }
    driver.now = Tick(0) + limits::IDLE_TIMEOUT;
    driver.cull();
    assert_eq!(dying(&driver), [0], "the others have been up meanwhile");
    assert_eq!(driver.cull_at, Some(Tick(1_000) + limits::IDLE_TIMEOUT));
}

#[test]
fn a_worker_being_created_counts_as_idle() {
    let mut driver = idle_and_busy(PoolConfig { workers_max: 4, ..eager() }, 1, 2);
    driver.submit_new(3);
    assert_eq!(driver.wake(WorkerId(0)), Verdict::Create(WorkerId(3)));
    driver.cull();
    for worker in [1, 2] {
        driver.end(WorkerId(worker));
        driver.look(WorkerId(worker));
        driver.run_batch(WorkerId(worker));
    }
    driver.look(WorkerId(2));
    driver.run_batch(WorkerId(2));
    driver.sleep(WorkerId(1));
    assert_eq!(driver.cull_at, None);
    driver.sleep(WorkerId(2));
    assert!(driver.cull_at.is_some(), "two idle ones and one to come");
}

#[test]
fn the_ratio_can_be_left_out() {
    let config = PoolConfig { idle_ratio: false, idle_timeout: Span(0), ..eager() };
    let mut driver = idle_and_busy(config, 3, 12);
    driver.cull();
    assert_eq!(dying(&driver), [0]);
}

#[test]
fn a_cull_ends_a_bounded_number_and_comes_again_for_the_rest() {
    let mut driver = Driver::with_idle(eager(), 100, 14);
    driver.now = Tick(0) + limits::IDLE_TIMEOUT;
    driver.cull();
    assert_eq!(dying(&driver).len(), super::action::WAKES_MAX);
    assert!(driver.cull_at.is_some_and(|at| at <= driver.now));
    driver.cull();
    assert_eq!(dying(&driver).len(), 12);
}

#[test]
fn the_stand_by_is_never_culled() {
    let config = PoolConfig { idle_floor: 0, idle_timeout: Span(0), ..eager() };
    let mut driver = Driver::with_idle(config, 100, 3);
    assert_eq!(driver.inbox, InboxWord::StandBy(Sleeper::Worker(WorkerId(2))));
    driver.cull();
    assert_eq!(dying(&driver), [0, 1]);
    driver.submit_new(1);
    driver.cull();
    assert_eq!(dying(&driver), [0, 1], "a submission without the lock may be about to wake it");
}

#[test]
fn a_worker_whose_mark_has_been_withdrawn_may_be_culled() {
    let config = PoolConfig { idle_floor: 0, idle_timeout: Span(0), ..eager() };
    let mut driver = Driver::with_idle(config, 100, 2);
    driver.take();
    driver.step(Event::Cull);
    driver.step(Event::Cover);
    let _ = driver.settle();
    assert_eq!(dying(&driver), [0, 1]);
    assert_eq!(driver.inbox, InboxWord::StandBy(Sleeper::Manager));
}

#[test]
fn a_culled_worker_ends_and_its_slot_is_used_again() {
    let mut driver = Driver::with_idle(PoolConfig { idle_timeout: Span(0), ..eager() }, 100, 3);
    driver.cull();
    assert_eq!(driver.woken, [Sleeper::Worker(WorkerId(0))], "it is woken to end");
    assert_eq!(driver.core.nr_workers(), 2, "it no longer counts");
    assert_eq!(driver.wake(WorkerId(0)), Verdict::Exit);
    assert_eq!(driver.state(WorkerId(0)), State::Gone);
    driver.submit_new(2);
    driver.wake(WorkerId(2));
    assert_eq!(driver.wake(WorkerId(1)), Verdict::Create(WorkerId(0)));
}

/// `w3` runs an item and has picked `w2` for another one, which has not run yet; `w0` and `w1` are idle.
fn picked(claim: ClaimPolicy, idle_timeout: Span) -> Driver {
    let config = PoolConfig { claim, idle_timeout, idle_floor: 0, idle_ratio: false, ..eager() };
    let mut driver = Driver::with_idle(config, 100, 4);
    driver.pass(Span::from_ms(10));
    driver.submit_new(2);
    assert_eq!(driver.wake(WorkerId(3)), Verdict::Run);
    assert_eq!(driver.woken, [Sleeper::Worker(WorkerId(2))]);
    driver
}

#[test]
fn the_cull_of_a_picked_worker_depends_on_the_policy() {
    for (name, claim) in ClaimPolicy::ALL {
        let mut driver = picked(claim, Span::from_ms(1));
        driver.cull();
        let expected: &[u32] = if claim == ClaimPolicy::Stay { &[0, 1, 2] } else { &[0, 1] };
        assert_eq!(dying(&driver), expected, "{name}");
        let mut driver = picked(claim, Span(0));
        driver.cull();
        let reaped = matches!(claim, ClaimPolicy::Stay | ClaimPolicy::Stamp);
        assert_eq!(dying(&driver).contains(&2), reaped, "{name}: however short the time-out");
    }
}

#[test]
fn who_is_picked_next_depends_on_the_policy() {
    for (name, claim) in ClaimPolicy::ALL {
        let mut driver = picked(claim, limits::IDLE_TIMEOUT);
        driver.woken.clear();
        driver.step(Event::Submitted);
        let _ = driver.settle();
        let expected: &[Sleeper] = match claim {
            ClaimPolicy::Kicked | ClaimPolicy::Leave => &[],
            ClaimPolicy::Stay | ClaimPolicy::Stamp => &[Sleeper::Worker(WorkerId(2))],
            ClaimPolicy::Flag => &[Sleeper::Worker(WorkerId(1))],
        };
        assert_eq!(driver.woken, expected, "{name}");
        assert_eq!(driver.wake(WorkerId(2)), Verdict::Run, "{name}: it comes in the end");
    }
}

#[test]
fn a_picked_worker_counts_as_a_spare_unless_it_has_left_the_idle_ones() {
    for (name, claim) in ClaimPolicy::ALL {
        let config = PoolConfig { claim, ..eager() };
        let mut driver = Driver::with_idle(config, 100, 2);
        driver.submit_new(3);
        driver.wake(WorkerId(1));
        assert_eq!(driver.woken, [Sleeper::Worker(WorkerId(0))]);
        driver.run_batch(WorkerId(1));
        let verdict = driver.look(WorkerId(1));
        let surplus = verdict == Verdict::Create(WorkerId(2));
        assert_eq!(surplus, claim == ClaimPolicy::Leave, "{name}: {verdict:?}");
    }
}

#[test]
fn in_a_real_time_pool_an_idle_worker_stands_by_although_another_is_in_the_making() {
    for real_time in [false, true] {
        let config = PoolConfig { workers_max: 3, real_time, ..eager() };
        let mut driver = Driver::with_idle(config, 100, 2);
        driver.submit_new(1);
        assert_eq!(driver.wake(WorkerId(1)), Verdict::Run);
        driver.start(WorkerId(1));
        driver.submit_new(1);
        assert_eq!(driver.wake(WorkerId(0)), Verdict::Create(WorkerId(2)), "it would leave nobody asleep");
        driver.end(WorkerId(1));
        assert_eq!(driver.look(WorkerId(1)), Verdict::Run);
        driver.start(WorkerId(1));
        driver.end(WorkerId(1));
        driver.sleep(WorkerId(1));
        assert_eq!(driver.state(WorkerId(1)), State::Idle);
        let expected = real_time.then_some(Sleeper::Worker(WorkerId(1)));
        assert_eq!(driver.core.standby(), expected, "its maker may have stopped");
    }
}

/// It would call itself until the new thread has had a CPU: for ever, if that is the CPU on which it does so.
#[test]
fn a_manager_thread_that_has_made_a_worker_does_not_call_itself() {
    for real_time in [false, true] {
        let mut driver = Driver::new(PoolConfig { real_time, ..eager() }, 100);
        driver.submit_new(1);
        assert_eq!(driver.manager_look(), Verdict::Create(WorkerId(0)));
        driver.make_thread(WorkerId(0));
        driver.report_created(WorkerId(0));
        driver.submit_new(1);
        driver.woken.clear();
        let _ = driver.manager_look();
        assert_eq!(driver.woken, [], "real time: {real_time}");
        driver.start_thread(WorkerId(0));
        assert_eq!(driver.look(WorkerId(0)), Verdict::Create(WorkerId(1)));
    }
}

#[test]
fn in_a_real_time_pool_nobody_spins_or_lingers() {
    for real_time in [false, true] {
        let mut driver = Driver::with_idle(PoolConfig { real_time, ..eager() }, 100, 2);
        driver.submit_new(1);
        assert_eq!(driver.wake(WorkerId(1)), Verdict::Run);
        assert_eq!(driver.core.may_linger(&Actions::default()), !real_time, "alone, with one item");
        driver.start(WorkerId(1));
        driver.end(WorkerId(1));
        assert_eq!(driver.look(WorkerId(1)), Verdict::Rest { spin: !real_time });
    }
}

#[test]
fn an_idle_worker_stands_by_while_the_manager_waits_to_try_again() {
    let mut driver = Driver::with_idle(PoolConfig { workers_max: 2, ..eager() }, 100, 1);
    driver.submit_new(1);
    assert_eq!(driver.wake(WorkerId(0)), Verdict::Create(WorkerId(1)));
    driver.create_failed(WorkerId(1));
    assert_eq!(driver.look(WorkerId(0)), Verdict::Run);
    driver.start(WorkerId(0));
    driver.submit_new(1);
    driver.manager_look();
    assert!(driver.retry_at.is_some(), "it comes again when the failure has cooled down");
    driver.end(WorkerId(0));
    assert_eq!(driver.look(WorkerId(0)), Verdict::Run);
    driver.start(WorkerId(0));
    driver.end(WorkerId(0));
    driver.sleep(WorkerId(0));
    assert_eq!(driver.state(WorkerId(0)), State::Idle);
    assert_eq!(
        driver.core.standby(),
        Some(Sleeper::Worker(WorkerId(0))),
        "an item need not wait for the clock"
    );
}
