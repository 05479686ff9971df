//! Which types may cross threads.

mod support;

use cmwq::{
    BuildError, Engine, EngineBuilder, EngineEvent, FlushError, JoinError, JoinHandle, Queue, QueueBuilder,
    Refusal, Refused, ScopedJoinHandle, Stats, StillRunning, Submit, WaitError, Work,
};
use std::error::Error;
use std::marker::PhantomData;
use std::rc::Rc;

/// Answers whether a type has a trait, by a method that hides the trait's.
macro_rules! has {
    ($type:ty: $($bound:tt)+) => {{
        struct Probe<T: ?Sized>(PhantomData<T>);
        #[allow(dead_code, reason = "used for types that lack the trait")]
        trait No {
            const HAS: bool = false;
        }
        impl<T: ?Sized> No for Probe<T> {}
        #[allow(dead_code, reason = "used for types that have the trait")]
        impl<T: ?Sized + $($bound)+> Probe<T> {
            const HAS: bool = true;
        }
        <Probe<$type>>::HAS
    }};
}

#[test]
fn handles_cross_threads_as_far_as_what_they_carry() {
    assert!(has!(Work: Send + Sync + Unpin));
    assert!(has!(Queue: Send + Sync + Unpin));
    assert!(has!(Engine: Send + Sync + Unpin));
    assert!(has!(EngineBuilder: Send));
    assert!(has!(QueueBuilder: Send + Sync));
    assert!(has!(JoinHandle<u32>: Send + Sync + Unpin));
    assert!(has!(JoinHandle<std::cell::Cell<u32>>: Send));
    assert!(!has!(JoinHandle<Rc<u32>>: Send));
    assert!(!has!(JoinHandle<Rc<u32>>: Sync));
    assert!(!has!(JoinHandle<std::sync::MutexGuard<'static, u32>>: Send));
    assert!(has!(ScopedJoinHandle<'static, u32>: Send));
    assert!(!has!(ScopedJoinHandle<'static, Rc<u32>>: Send));
    assert!(has!(StillRunning: Send + Sync));
    assert!(has!(Submit: Copy + Send + Sync));
    assert!(has!(Stats: Clone + Send + Sync));
    assert!(has!(EngineEvent: Clone + Send + Sync));
}

#[test]
fn errors_are_errors() {
    assert!(has!(BuildError: Error + Send + Sync));
    assert!(has!(Refusal: Error + Copy + Send + Sync));
    assert!(has!(Refused<fn()>: Error + Send + Sync));
    assert!(has!(WaitError: Error + Clone + Send + Sync));
    assert!(has!(StillRunning: Error + Send + Sync));
    // What a panic carries may be sent, and need not be shared.
    assert!(has!(JoinError: Error + Send));
    assert!(has!(FlushError: Error + Send));
}
