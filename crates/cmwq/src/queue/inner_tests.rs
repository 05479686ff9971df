use crate::Engine;
use cmwq_core::queue::slot;
use std::sync::Arc;

/// A timer that has fired holds on to its queue, whose last handle is dropped.
#[test]
fn a_late_departure_counts_at_no_other_queue() {
    let engine = Engine::new().unwrap();
    let old = engine.queue("old").build().unwrap();
    let fired = Arc::clone(&old.owner.inner);
    let to = *fired.here();
    // It has read the queue's word, and is stopped.
    let phase = fired.word.read().phase();
    drop(old);
    let new = engine.queue("new").build().unwrap();
    // It arrives, and finds that it is refused.
    fired.leaf(&to).arrive(phase);
    fired.pwq(&to).depart(slot(phase), 1);
    let joints = &new.inner().joints;
    assert!(joints.iter().all(|joint| new.inner().is_empty(joint, phase)), "the new queue has begun at zero");
    // The pwq goes to the next queue when nobody holds on to the old one.
    drop(fired);
    let next = engine.queue("next").build().unwrap();
    assert!(next.inner().joints.iter().any(|joint| joint.pwq == to.pwq));
}
