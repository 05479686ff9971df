use super::*;
use crate::{Engine, Scope};

fn queue() -> Queue {
    Engine::new().expect("an engine").queue("load").scope(Scope::System).build().expect("a queue")
}

#[test]
fn a_round_ends_after_its_item() {
    let queue = queue();
    for policy in [WaitPolicy::Adaptive, WaitPolicy::Park] {
        let mut producer = Producer::new(&queue);
        for _ in 0..500 {
            let round = producer.round(policy);
            assert!(round.submit <= round.round_trip);
        }
    }
}

#[test]
fn a_batch_is_flushed_and_can_be_used_again() {
    let queue = queue();
    let mut batch = Batch::new(&queue, 50);
    let mut samples = 0;
    assert_eq!(batch.round(20, |_| samples += 1), 20);
    assert_eq!(batch.round(1000, |_| samples += 1), 50);
    assert_eq!(samples, 70);
    assert_eq!(queue.engine().stats().pools.iter().map(|pool| pool.started).sum::<u64>(), 70);
}

#[test]
fn a_batch_left_in_the_middle_is_flushed_before_its_items_are_reused_or_freed() {
    let queue = queue();
    let mut batch = Batch::new(&queue, 50);
    let attempt = std::panic::AssertUnwindSafe(|| batch.round(50, |_| panic!("enough")));
    assert!(std::panic::catch_unwind(attempt).is_err());
    assert_eq!(batch.round(50, |_| ()), 50);
}
