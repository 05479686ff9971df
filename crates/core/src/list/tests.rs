use super::*;
use crate::testing::{Random, TestItems};
use std::collections::VecDeque;

fn agree(list: &Fifo<u32>, items: &TestItems, model: &VecDeque<u32>) {
    let forward: Vec<u32> = list.iter(items).collect();
    assert_eq!(forward, model.iter().copied().collect::<Vec<_>>());
    assert_eq!((list.len() as usize, list.is_empty()), (model.len(), model.is_empty()));
    assert_eq!(list.first(), model.front().copied());
    for (at, &item) in model.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| model[at]);
        assert_eq!(items.prev(item), before, "the way back");
    }
}

#[test]
fn a_list_is_a_deque() {
    for seed in 0..50 {
        let mut random = Random::new(seed);
        let count = 1 + random.below(8);
        let mut items = TestItems::new(count);
        let (mut list, mut model) = (Fifo::new(), VecDeque::new());
        for _ in 0..400 {
            let item = random.below(count) as u32;
            match (model.iter().position(|&i| i == item), random.below(4)) {
                (_, 0) => assert_eq!(list.pop_front(&mut items), model.pop_front()),
                (None, 1) => {
                    list.push_front(&mut items, item);
                    model.push_front(item);
                }
                (None, _) => {
                    list.push_back(&mut items, item);
                    model.push_back(item);
                }
                (Some(at), _) => {
                    list.unlink(&mut items, item);
                    model.remove(at);
                }
            }
            agree(&list, &items, &model);
        }
    }
}

#[test]
fn two_lists_over_the_same_items_do_not_touch_each_other() {
    let mut items = TestItems::new(4);
    let (mut one, mut other) = (Fifo::new(), Fifo::new());
    for item in [0, 2] {
        one.push_back(&mut items, item);
        other.push_back(&mut items, item + 1);
    }
    one.unlink(&mut items, 2);
    other.push_back(&mut items, 2);
    assert_eq!(one.iter(&items).collect::<Vec<_>>(), [0]);
    assert_eq!(other.iter(&items).collect::<Vec<_>>(), [1, 3, 2]);
}

#[test]
fn an_empty_list_has_nothing_to_give() {
    let mut items = TestItems::new(1);
    let mut list = Fifo::<u32>::new();
    assert_eq!(list.pop_front(&mut items), None);
    list.unlink(&mut items, 0);
    assert_eq!(list, Fifo::default());
}
