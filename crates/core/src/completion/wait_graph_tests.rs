use super::*;
use crate::testing::Random;
use std::collections::{HashMap, HashSet};

#[derive(Default)]
struct World {
    over: HashSet<usize>,
    /// Items that are held back, with their limit.
    held: HashMap<usize, usize>,
    /// How many items are active under a limit.
    active: HashMap<usize, usize>,
}

impl Facts for World {
    fn is_over(&mut self, waiter: &Waiter) -> bool {
        self.over.contains(&waiter.item)
    }
    fn held_back_by(&mut self, item: usize, waiters: &dyn Fn(usize) -> usize) -> Option<usize> {
        let limit = *self.held.get(&item)?;
        (waiters(limit) >= self.active[&limit]).then_some(limit)
    }
    fn is_waited_for(&mut self, waiter: &Waiter, item: &Waiter) -> bool {
        waiter.item != item.item
    }
}

/// Item `item` of queue and limit `queue`.
fn waiter(item: usize, queue: usize, waits_for: WaitsFor) -> Waiter {
    Waiter { item, queue: queue as u64, limit: queue, waits_for }
}

fn graph(waiters: &[Waiter]) -> WaitGraph {
    let mut graph = WaitGraph::new();
    waiters.iter().for_each(|&w| graph.add(w));
    graph
}

fn items(path: Option<Vec<Waiter>>) -> Option<Vec<usize>> {
    path.map(|path| path.iter().map(|w| w.item).collect())
}

use WaitsFor::{Item, Queue};

#[test]
fn a_circle_of_items_is_found_from_each_of_them() {
    let graph =
        graph(&[waiter(1, 1, Item(2)), waiter(2, 2, Item(3)), waiter(3, 3, Item(1)), waiter(4, 1, Item(1))]);
    let mut world = World::default();
    assert_eq!(items(graph.deadlock(1, &mut world)), Some(vec![1, 2, 3]));
    assert_eq!(items(graph.deadlock(2, &mut world)), Some(vec![2, 3, 1]));
    assert_eq!(
        items(graph.deadlock(4, &mut world)),
        Some(vec![4, 1, 2, 3]),
        "who waits for a circle is stuck too"
    );
    world.over.insert(2);
    assert_eq!(graph.deadlock(1, &mut world), None, "one of the waits is over");
}

#[test]
fn a_chain_ends_somewhere() {
    let chain: Vec<Waiter> = (0..64).map(|at| waiter(at, at, Item(at + 1))).collect();
    assert_eq!(graph(&chain).deadlock(0, &mut World::default()), None);
}

#[test]
fn an_item_held_back_waits_for_one_of_those_under_its_limit() {
    // Limit 7 has two places; both are taken by items that wait, one of them for an item held back there.
    let mut world = World::default();
    world.held.insert(5, 7);
    world.active.insert(7, 2);
    let one = graph(&[waiter(1, 7, Item(5))]);
    assert_eq!(one.deadlock(1, &mut world), None, "the other place is not taken by a waiter");
    let free = graph(&[waiter(1, 7, Item(5)), waiter(2, 7, Item(9))]);
    assert_eq!(free.deadlock(1, &mut world), None, "the other one goes on by itself");
    let both = graph(&[waiter(1, 7, Item(5)), waiter(2, 7, Item(1))]);
    assert_eq!(items(both.deadlock(1, &mut world)), Some(vec![1]));
    assert_eq!(items(both.deadlock(2, &mut world)), Some(vec![2, 1]));
}

#[test]
fn two_queues_of_one_place_each() {
    // Item 1 of queue 1 waits for item 4, which is held back in queue 2 by item 2, which waits for item 3 of queue 1.
    let mut world = World::default();
    world.held.extend([(3, 1), (4, 2)]);
    world.active.extend([(1, 1), (2, 1)]);
    let graph = graph(&[waiter(1, 1, Item(4)), waiter(2, 2, Item(3))]);
    assert_eq!(items(graph.deadlock(2, &mut world)), Some(vec![2, 1]));
}

#[test]
fn a_queue_waits_for_all_of_its_items() {
    let waits = graph(&[waiter(1, 1, Queue(2)), waiter(2, 2, Item(9)), waiter(3, 2, Item(1))]);
    assert_eq!(items(waits.deadlock(1, &mut World::default())), Some(vec![1, 3]));
    let goes_on = graph(&[waiter(1, 1, Queue(2)), waiter(2, 2, Item(9)), waiter(3, 3, Item(1))]);
    assert_eq!(goes_on.deadlock(1, &mut World::default()), None);
}

#[test]
fn who_has_gone_is_forgotten() {
    let mut graph = graph(&[waiter(1, 1, Item(2)), waiter(2, 2, Item(1))]);
    graph.remove(2);
    assert_eq!(graph.deadlock(1, &mut World::default()), None);
    assert_eq!(graph.waiters().len(), 1);
}

/// Against running it: as long as some waiter's wait can be over, let it go on and end.
#[test]
fn random_graphs_are_judged_as_a_run_of_them_would_end() {
    let (mut stuck, mut free) = (0, 0);
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let count = 1 + random.below(6);
        let mut world = World::default();
        for item in 10..14 {
            if random.once_in(2) {
                world.held.insert(item, random.below(3));
            }
        }
        let mut list = Vec::new();
        for item in 0..count {
            let waits_for = match random.below(4) {
                0 => Queue(random.below(3) as u64),
                1 => Item(10 + random.below(4)),
                _ => Item((item + 1 + random.below(count)) % (count + 1)),
            };
            list.push(waiter(item, random.below(3), waits_for));
        }
        for limit in 0..3 {
            let waiters = list.iter().filter(|w| w.limit == limit).count();
            world.active.insert(limit, waiters.max(1) + usize::from(random.once_in(4)));
        }
        let graph = graph(&list);
        let mut left = list.clone();
        while let Some(at) = (0..left.len()).find(|&at| goes_on(&left, at, &world, &list)) {
            left.remove(at);
        }
        for w in &list {
            let is_stuck = left.contains(w);
            assert_eq!(
                graph.deadlock(w.item, &mut world).is_some(),
                is_stuck,
                "seed {seed}: {w:?} of {list:?}"
            );
            if is_stuck { stuck += 1 } else { free += 1 }
        }
    }
    assert!(stuck > 500 && free > 500, "{stuck} {free}");
}

fn goes_on(left: &[Waiter], at: usize, world: &World, all: &[Waiter]) -> bool {
    let me = left[at];
    match me.waits_for {
        Queue(queue) => !left.iter().any(|w| w.queue == queue && w.item != me.item),
        Item(item) if all.iter().any(|w| w.item == item) => !left.iter().any(|w| w.item == item),
        Item(item) => match world.held.get(&item) {
            None => true,
            // One place is not taken by a waiter, or has become free.
            Some(limit) => left.iter().filter(|w| w.limit == *limit).count() < world.active[limit],
        },
    }
}
