use super::*;
use crate::id::PwqId;
use crate::testing::{Random, TestItems};
use std::collections::VecDeque;

const P: PwqId = PwqId(0);

/// An end, and who becomes active by it.
fn finish(gate: &mut Gate<u32>, items: &mut TestItems) -> Option<u32> {
    gate.finish(P, items);
    let next = gate.next(P, items);
    assert!(next.is_none() || gate.next(P, items).is_none(), "one end makes room for one item");
    next
}

#[test]
fn items_beyond_the_limit_wait_and_start_one_for_one() {
    let mut items = TestItems::new(4);
    let mut gate = Gate::new(2);
    let admitted: Vec<Admission> = (0..4).map(|item| gate.arrive(P, &mut items, item)).collect();
    assert_eq!(admitted, [Admission::Active, Admission::Active, Admission::Inactive, Admission::Inactive]);
    assert!(items.is_inactive(2) && items.is_inactive(3) && !items.is_inactive(1));
    assert_eq!(finish(&mut gate, &mut items), Some(2));
    assert!(!items.is_inactive(2));
    assert_eq!(finish(&mut gate, &mut items), Some(3));
    assert_eq!(finish(&mut gate, &mut items), None);
    assert_eq!(gate.nr_active(), 1);
}

#[test]
fn a_withdrawn_waiting_item_neither_starts_nor_counts() {
    let mut items = TestItems::new(4);
    let mut gate = Gate::new(1);
    for item in 0..4 {
        let _ = gate.arrive(P, &mut items, item);
    }
    gate.unlink(P, &mut items, 2);
    assert!(!items.is_inactive(2));
    assert_eq!(gate.nr_active(), 1, "it was not active");
    assert_eq!(finish(&mut gate, &mut items), Some(1));
    assert_eq!(finish(&mut gate, &mut items), Some(3));
}

#[test]
#[should_panic(expected = "max_active 0")]
fn a_gate_that_lets_nothing_through_is_refused() {
    let _ = Gate::<u32>::new(0u32);
}

/// A pwq as a user would describe it.
#[derive(Default)]
struct Model {
    /// Everything submitted and neither started nor withdrawn, in order; the first `active` of them may start.
    queued: VecDeque<u32>,
    /// Items that have passed the gate and not ended.
    active: Vec<u32>,
}

impl Model {
    /// Lets through what there is room for, and answers it.
    fn settle(&mut self, max_active: usize) -> Vec<u32> {
        let room = max_active - self.active.len();
        let passed: Vec<u32> = self.queued.drain(..room.min(self.queued.len())).collect();
        self.active.extend(&passed);
        passed
    }
}

#[test]
fn a_gate_is_a_queue_with_so_many_servers() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let max_active = 1 + random.below(4);
        let mut items = TestItems::new(10);
        let mut gate = Gate::new(max_active as u32);
        let mut model = Model::default();
        for _ in 0..300 {
            let item = random.below(10) as u32;
            let passed: Vec<u32> = if model.active.contains(&item) {
                model.active.retain(|&i| i != item);
                finish(&mut gate, &mut items).into_iter().collect()
            } else if model.queued.contains(&item) {
                model.queued.retain(|&i| i != item);
                gate.unlink(P, &mut items, item);
                Vec::new()
            } else {
                model.queued.push_back(item);
                let admitted = gate.arrive(P, &mut items, item) == Admission::Active;
                admitted.then_some(item).into_iter().collect()
            };
            assert_eq!(passed, model.settle(max_active), "G1 no overtaking");
            assert_eq!(gate.nr_active() as usize, model.active.len());
            assert!(gate.nr_active() <= gate.max_active());
            let waiting: Vec<u32> = gate.inactive().iter(&items).collect();
            assert_eq!(waiting, model.queued.iter().copied().collect::<Vec<_>>());
            assert!((0..10).all(|i| items.is_inactive(i) == model.queued.contains(&i)));
        }
    }
}
