//! Items between the worklist and the workers: gates and batches, collisions, things given back or withdrawn.

use super::action::Verdict;
use super::event::Event;
use super::policy::{CoverPolicy, PoolConfig};
use super::test_driver::Driver;
use crate::id::{PwqId, WorkerId};

const W0: WorkerId = WorkerId(0);
const W1: WorkerId = WorkerId(1);
const W2: WorkerId = WorkerId(2);
const FUNCTION: Option<usize> = Some(7);

fn eager() -> PoolConfig {
    PoolConfig { cover: CoverPolicy::Eager, ..PoolConfig::default() }
}

fn waiting(driver: &Driver) -> Vec<u32> {
    driver.core.gate(PwqId(0)).inactive().iter(&driver.items).collect()
}

// ---- max_active ----

#[test]
fn items_beyond_max_active_wait_and_follow_in_order() {
    let mut driver = Driver::with_idle(eager(), 1, 2);
    let items = driver.submit_new(4);
    driver.wake(W1);
    assert_eq!(driver.batch(W1), items[..1]);
    assert_eq!(waiting(&driver), items[1..]);
    for _ in 0..3 {
        driver.run_batch(W1);
        assert_eq!(driver.look(W1), Verdict::Run);
    }
    let order: Vec<u32> = driver.started.iter().map(|s| s.1).collect();
    assert_eq!(order, items[..3]);
}

#[test]
fn batches_are_recalled_when_an_item_has_to_wait() {
    let mut driver = Driver::with_idle(PoolConfig { workers_max: 2, ..eager() }, 3, 2);
    let items = driver.submit_new(3);
    driver.wake(W1);
    driver.start(W1);
    assert_eq!(driver.batch(W1), items[1..]);
    driver.submit_new(1);
    assert_eq!(driver.wake(W0), Verdict::Run);
    assert_eq!(driver.batch(W1), [], "its end must be reported right after the item it is inside");
    assert_eq!(driver.batch(W0), items[1..2], "and nothing is claimed in batches while somebody waits");
    assert_eq!(driver.worklist(), items[2..]);
    driver.end(W1);
    driver.look(W1);
    assert_eq!(waiting(&driver), [], "the reported end has let it through");
}

#[test]
fn an_item_that_has_to_wait_brings_to_light_the_ends_nobody_has_reported() {
    let mut driver = Driver::with_idle(PoolConfig { workers_max: 2, ..eager() }, 2, 2);
    driver.submit_new(2);
    driver.wake(W1);
    driver.start(W1);
    driver.end(W1);
    driver.start(W1);
    let late = driver.submit_new(1);
    assert_eq!(driver.wake(W0), Verdict::Run, "the first has ended: one runs, two may");
    assert_eq!(driver.batch(W0), late);
}

#[test]
fn an_arrival_that_passes_its_gate_recalls_nothing() {
    let mut driver = Driver::with_idle(eager(), 100, 3);
    let items = driver.submit_new(3);
    driver.wake(W2);
    driver.start(W2);
    driver.submit_new(1);
    driver.wake(W1);
    assert_eq!(driver.batch(W2), items[1..]);
}

#[test]
fn one_full_pwq_does_not_hold_up_another() {
    let mut driver = Driver::with_idle(eager(), 1, 2);
    driver.core.add_pwq(1);
    let items: Vec<u32> = [0, 0, 1, 1].into_iter().map(|pwq| driver.add_item(pwq, None)).collect();
    items.iter().for_each(|&item| driver.submit(item));
    driver.wake(W1);
    assert_eq!((driver.batch(W1), driver.worklist()), (vec![0], vec![2]));
    driver.wake(W0);
}

// ---- batches behind an item that does not end ----

#[test]
fn a_batch_has_an_idle_worker_woken_that_takes_it_back() {
    let mut driver = Driver::with_idle(PoolConfig { workers_max: 2, ..eager() }, 100, 2);
    let items = driver.submit_new(3);
    driver.wake(W1);
    driver.start(W1);
    assert_eq!(driver.wake(W0), Verdict::Run, "woken without any submission");
    assert_eq!((driver.batch(W1), driver.batch(W0)), (vec![], items[1..2].to_vec()));
    assert_eq!(driver.worklist(), items[2..]);
}

#[test]
fn a_watcher_takes_back_a_batch_that_does_not_get_on() {
    let mut driver = Driver::with_idle(PoolConfig { workers_max: 2, ..PoolConfig::default() }, 100, 2);
    let items = driver.submit_new(2);
    driver.wake(W1);
    driver.start(W1);
    assert!(matches!(driver.wake(W0), Verdict::Watch(_)));
    assert_eq!(driver.watch_look(W0), Verdict::Run);
    assert_eq!(driver.batch(W0), items[1..]);
}

#[test]
fn the_last_item_of_a_batch_keeps_nobody_awake() {
    let mut driver = Driver::with_idle(eager(), 100, 3);
    driver.submit_new(2);
    driver.wake(W2);
    driver.start(W2);
    driver.end(W2);
    driver.start(W2);
    assert!(matches!(driver.wake(W1), Verdict::Rest { .. }), "nothing could be taken back");
    assert!(matches!(driver.sleep(W1), Verdict::Rest { .. }));
    assert!(driver.woken.is_empty(), "and nobody else is woken for it");
}

#[test]
fn a_managed_pool_leaves_a_batch_to_the_worker_that_runs() {
    let mut driver = Driver::with_idle(PoolConfig { managed: true, ..eager() }, 100, 2);
    let items = driver.submit_new(2);
    driver.wake(W1);
    driver.start(W1);
    assert!(driver.woken.is_empty());
    assert_eq!(driver.batch(W1), items[1..]);
}

// ---- collisions of caller-owned items ----

#[test]
fn an_item_that_runs_is_punted_to_the_worker_inside_it() {
    let mut driver = Driver::with_idle(eager(), 100, 3);
    let item = driver.add_item(0, FUNCTION);
    driver.submit(item);
    driver.wake(W2);
    driver.start(W2);
    driver.submit(item);
    assert!(matches!(driver.wake(W1), Verdict::Rest { .. }), "there is nothing else to do");
    assert_eq!(driver.worklist(), []);
    driver.end(W2);
    assert_eq!(driver.look(W2), Verdict::Run);
    assert_eq!(driver.batch(W2), [item]);
    driver.run_batch(W2);
    assert!(matches!(driver.look(W2), Verdict::Rest { .. }));
    assert!(driver.core.busy_set_is_empty());
}

#[test]
fn what_is_behind_a_punted_item_is_claimed_in_its_place() {
    let mut driver = Driver::with_idle(eager(), 100, 3);
    let item = driver.add_item(0, FUNCTION);
    driver.submit(item);
    driver.wake(W2);
    driver.start(W2);
    driver.submit(item);
    let other = driver.submit_new(1);
    assert_eq!(driver.wake(W1), Verdict::Run);
    assert_eq!(driver.batch(W1), other);
}

#[test]
fn another_function_at_the_same_address_is_a_stranger() {
    let mut driver = Driver::with_idle(eager(), 100, 3);
    let item = driver.add_item(0, FUNCTION);
    driver.submit(item);
    driver.wake(W2);
    driver.start(W2);
    driver.items.set_function(item, 8);
    driver.submit(item);
    assert_eq!(driver.wake(W1), Verdict::Run, "the first has freed itself, the memory is used again");
    driver.start(W1);
    driver.end(W2);
    driver.end(W1);
    driver.look(W2);
    driver.look(W1);
    assert!(driver.core.busy_set_is_empty());
}

#[test]
fn an_item_with_a_word_of_its_own_is_not_looked_up() {
    let mut driver = Driver::with_idle(eager(), 100, 2);
    driver.submit_new(1);
    driver.wake(W1);
    assert!(driver.core.busy_set_is_empty());
}

/// `w2` has claimed a caller-owned item and another one, has run the first and is inside the second.
fn past_the_first() -> (Driver, u32) {
    let mut driver = Driver::with_idle(PoolConfig { workers_max: 3, ..eager() }, 100, 3);
    let items = [driver.add_item(0, FUNCTION), driver.add_item(0, FUNCTION)];
    items.iter().for_each(|&item| driver.submit(item));
    driver.wake(W2);
    driver.start(W2);
    driver.end(W2);
    driver.start(W2);
    (driver, items[0])
}

#[test]
fn an_item_that_has_ended_unreported_runs_elsewhere() {
    let (mut driver, item) = past_the_first();
    driver.submit(item);
    assert_eq!(driver.wake(W1), Verdict::Run);
    assert_eq!(driver.batch(W1), [item]);
}

#[test]
fn it_is_then_punted_to_the_worker_that_runs_it_now() {
    let (mut driver, item) = past_the_first();
    driver.submit(item);
    driver.wake(W1);
    driver.start(W1);
    driver.submit(item);
    assert!(
        matches!(driver.wake(W0), Verdict::Rest { .. }),
        "the unreported entry must not hide the running one"
    );
    driver.end(W1);
    assert_eq!(driver.look(W1), Verdict::Run);
}

#[test]
fn each_worker_reports_its_own_run_of_an_item() {
    let (mut driver, item) = past_the_first();
    driver.submit(item);
    driver.wake(W1);
    driver.run_batch(W1);
    driver.look(W1);
    driver.submit(item);
    assert_eq!(driver.wake(W0), Verdict::Run, "it has reported its run; the other one has come past its own");
}

#[test]
fn an_end_reported_before_the_batch_is_over_does_not_shift_what_runs() {
    let (mut driver, _) = past_the_first();
    driver.block(W2);
    let second = 1;
    driver.submit(second);
    assert!(matches!(driver.wake(W1), Verdict::Rest { .. }), "the worker is inside it, blocked");
    driver.unblock(W2);
    driver.end(W2);
    assert_eq!(driver.look(W2), Verdict::Run);
}

#[test]
fn a_punt_recalls_batches_so_that_the_runner_comes_soon() {
    let mut driver = Driver::with_idle(PoolConfig { workers_max: 2, ..eager() }, 100, 2);
    let item = driver.add_item(0, FUNCTION);
    driver.submit(item);
    let others = driver.submit_new(2);
    driver.wake(W1);
    driver.start(W1);
    driver.submit(item);
    driver.wake(W0);
    assert_eq!(driver.batch(W1), [], "else it would come after two more items");
    assert_eq!(driver.worklist(), others);
}

// ---- giving back ----

#[test]
fn items_given_back_stand_before_all_others_in_their_order() {
    let mut driver = Driver::with_idle(eager(), 100, 2);
    let items = driver.submit_new(20);
    driver.wake(W1);
    driver.start(W1);
    driver.recall_all();
    driver.step(Event::Cover);
    let _ = driver.settle();
    assert_eq!(driver.worklist(), items[1..]);
    assert!(driver.core.has_batch(W1), "the item it is inside is not given back");
    driver.end(W1);
    driver.look(W1);
    assert_eq!(driver.batch(W1)[0], items[1]);
}

#[test]
fn items_given_back_by_several_workers_stand_in_the_order_in_which_they_were_claimed() {
    let mut driver = Driver::with_idle(PoolConfig { workers_max: 3, ..eager() }, 100, 3);
    let items = driver.submit_new(40);
    for worker in [W2, W1, W0] {
        driver.wake(worker);
        driver.start(worker);
    }
    let holders: Vec<WorkerId> = driver.core.batch_holders().collect();
    assert_eq!(holders, [W2, W1, W0]);
    driver.recall_all();
    let _ = driver.settle();
    let started: Vec<u32> = driver.started.iter().map(|s| s.1).collect();
    let left: Vec<u32> = items.into_iter().filter(|item| !started.contains(item)).collect();
    assert_eq!(driver.worklist(), left);
}

#[test]
fn a_single_claimed_item_is_not_taken_back() {
    let mut driver = Driver::with_idle(eager(), 100, 2);
    let items = driver.submit_new(1);
    driver.wake(W1);
    assert!(!driver.cancel(items[0]), "its worker is about to start it");
    assert_eq!(driver.start(W1), Some(items[0]));
}

// ---- withdrawing ----

#[test]
fn a_cancelled_item_on_the_worklist_makes_room() {
    let mut driver = Driver::with_idle(PoolConfig { batch_max: 1, ..eager() }, 2, 2);
    let items = driver.submit_new(4);
    driver.wake(W1);
    driver.start(W1);
    driver.cancel(items[1]);
    assert_eq!(driver.worklist(), [items[2]]);
    assert_eq!(waiting(&driver), [items[3]]);
}

#[test]
fn a_cancelled_waiting_item_is_gone_and_lets_nobody_through() {
    let mut driver = Driver::with_idle(eager(), 1, 2);
    let items = driver.submit_new(3);
    driver.wake(W1);
    driver.start(W1);
    driver.cancel(items[1]);
    assert_eq!((driver.worklist(), waiting(&driver)), (vec![], vec![items[2]]));
    assert_eq!(driver.core.gate(PwqId(0)).nr_active(), 1);
}

#[test]
fn a_cancelled_item_of_a_batch_is_taken_back_first() {
    let mut driver = Driver::with_idle(eager(), 100, 2);
    let items = driver.submit_new(3);
    driver.wake(W1);
    driver.start(W1);
    driver.cancel(items[2]);
    assert_eq!(driver.worklist(), [items[1]]);
}

#[test]
fn a_cancelled_punted_item_leaves_its_runner() {
    let mut driver = Driver::with_idle(eager(), 100, 3);
    let item = driver.add_item(0, FUNCTION);
    driver.submit(item);
    driver.wake(W2);
    driver.start(W2);
    driver.submit(item);
    driver.wake(W1);
    driver.cancel(item);
    driver.end(W2);
    assert!(matches!(driver.look(W2), Verdict::Rest { .. }));
    assert_eq!(driver.core.gate(PwqId(0)).nr_active(), 0);
}

#[test]
fn a_pwq_is_given_away_only_when_it_is_empty() {
    let mut driver = Driver::with_idle(eager(), 1, 2);
    driver.core.reuse_pwq(PwqId(0), 5);
    assert_eq!(driver.core.gate(PwqId(0)).max_active(), 5);
    driver.submit_new(1);
    driver.wake(W1);
    let given =
        std::panic::catch_unwind(core::panic::AssertUnwindSafe(|| driver.core.reuse_pwq(PwqId(0), 1)));
    assert!(given.is_err());
}

// ---- awaited items ----

#[test]
fn an_awaited_item_keeps_its_place_until_its_end() {
    let mut driver = Driver::with_idle(PoolConfig { batch_max: 1, workers_max: 2, ..eager() }, 2, 2);
    let items = driver.submit_new(3);
    driver.wake(W1);
    driver.start(W1);
    assert_eq!(waiting(&driver), items[2..]);
    assert!(!driver.run_awaited(W1, items[2]), "its limit holds it back");
    assert!(driver.run_awaited(W1, items[1]));
    assert!(driver.worklist().is_empty());
    assert_eq!(waiting(&driver), items[2..], "both places are taken");
    driver.end_awaited(W1);
    assert_eq!(driver.worklist(), items[2..]);
    assert!(driver.run_awaited(W1, items[2]));
    driver.end_awaited(W1);
    driver.end(W1);
    assert!(matches!(driver.sleep(W1), Verdict::Rest { .. }));
}

#[test]
fn what_its_worker_has_claimed_behind_the_waiting_item_comes_back() {
    let mut driver = Driver::with_idle(PoolConfig { workers_max: 2, ..eager() }, 100, 2);
    let items = driver.submit_new(4);
    driver.wake(W1);
    driver.start(W1);
    assert!(driver.run_awaited(W1, items[3]));
    assert_eq!(driver.worklist(), items[1..3]);
    assert_eq!(driver.wake(W0), Verdict::Run);
}
