use super::*;
use clap::Parser;

#[derive(Parser)]
struct Tool {
    #[command(flatten)]
    arguments: Arguments,
}

fn plan(options: &[&str]) -> Plan {
    let tool = Tool::parse_from(["bench"].iter().chain(options));
    let topology = tool.arguments.source.read().expect("a machine");
    Plan::new(&tool.arguments, &topology)
}

fn names(plan: &Plan) -> Vec<(&'static str, Option<&'static str>)> {
    plan.scopes.iter().map(|plan| (plan.scope.name(), plan.same_pods_as.map(Scope::name))).collect()
}

#[test]
fn a_scope_with_the_pods_of_an_earlier_one_is_not_run_again() {
    let plan = plan(&["--synthetic", "node:2/core:2/thread:2"]);
    let expected = [
        ("cpu", None),
        ("smt", None),
        ("cache_shard", None),
        ("cache", Some("cache_shard")),
        ("numa", Some("cache_shard")),
        ("system", None),
    ];
    assert_eq!(names(&plan), expected);
    assert!(plan.rows.iter().all(|row| !["cache", "numa"].contains(&row.cell.scope.as_str())));
}

#[test]
fn only_scopes_that_were_asked_for_count_in_the_kernels_order() {
    let plan = plan(&["--synthetic", "core:2", "--scopes", "system,numa,cpu"]);
    assert_eq!(names(&plan), [("cpu", None), ("numa", None), ("system", Some("numa"))]);
}

#[test]
fn each_number_of_producers_is_measured_once() {
    let plan = plan(&["--synthetic", "core:2", "--producers", "3,1,3", "--scopes", "cpu"]);
    let mut producers: Vec<u32> = plan.rows.iter().map(|row| row.cell.producers).collect();
    producers.dedup();
    assert_eq!(producers, [3, 1, 3, 1], "for each of two policies");
}

#[test]
fn shapes_take_turns_in_being_first_and_the_plain_queue_comes_last() {
    let plan = plan(&["--synthetic", "core:2", "--producers", "8", "--scopes", "system"]);
    let shapes = |run| -> Vec<Shape> {
        let order = plan.order(run).into_iter().map(|index| &plan.rows[index].cell);
        order.filter(|cell| cell.policy == Policy::Park).map(|cell| cell.shape).collect()
    };
    assert_eq!(shapes(0), [Shape::UnderLock, Shape::Deferred, Shape::Inbox, Shape::Condvar]);
    assert_eq!(shapes(1), [Shape::Deferred, Shape::Inbox, Shape::UnderLock, Shape::Condvar]);
    assert!(plan.rows.iter().any(|row| (row.cell.shape, row.cell.policy) == (Shape::HandOver, Policy::Spin)));
    for run in 0..4 {
        let mut order = plan.order(run);
        order.sort_unstable();
        assert_eq!(order, (0..plan.rows.len()).collect::<Vec<_>>());
    }
}

#[test]
fn the_absolute_figure_has_rows_unless_others_were_asked_for() {
    let few = |options: &[&str]| {
        let plan = plan(&[&["--synthetic", "core:2"], options].concat());
        let rows = plan.rows.iter().filter(|row| row.cell.workers == Some(FEW_WORKERS));
        rows.filter(|row| row.cell.shape == Shape::Inbox).map(|row| row.cell.producers).collect::<Vec<_>>()
    };
    assert_eq!(few(&[]), FEW_WORKERS_PRODUCERS);
    assert!(few(&["--scopes", "cpu"]).is_empty());
    assert_eq!(few(&["--scopes", "cpu", "--judge"]), FEW_WORKERS_PRODUCERS);
    assert!(few(&["--batch"]).is_empty());
}

#[test]
fn time_is_bounded_unless_items_are_given() {
    let default = plan(&["--synthetic", "core:2"]);
    let total: u64 = default.rows.iter().filter_map(|row| row.cell.time_ms).sum::<u64>() * 5;
    assert!(total < BUDGET_MS, "{total}");
    let exact = plan(&["--synthetic", "core:2", "--items", "70"]);
    assert!(exact.rows.iter().all(|row| row.cell.time_ms.is_none() && row.cell.items == 70));
}
