//! What an engine tells its program about.

/// What the program gives to be called.
pub(crate) type Callback = Box<dyn Fn(&EngineEvent) + Send + Sync>;

/// Something worth knowing, given to the callback of [`crate::EngineBuilder::on_event`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum EngineEvent {
    /// A worker thread has been created.
    WorkerCreated {
        /// The pool's name.
        pool: String,
    },
    /// A worker thread could not be created; the pool tries again after a cool-down while work waits.
    WorkerCreationFailed {
        /// The pool's name.
        pool: String,
        /// The system's reason.
        error: String,
    },
    /// The system refused the policy of a real-time queue to one of its threads, which runs as an ordinary one.
    RealTimeRefused {
        /// The pool's name.
        pool: String,
        /// The policy that was asked for.
        asked: crate::SchedPolicy,
        /// The system's reason.
        error: String,
    },
    /// Workers have been idle for too long and were told to end.
    WorkersCulled {
        /// The pool's name.
        pool: String,
        /// How many.
        count: u32,
    },
    /// A delayed item was due, or was armed when its queue was destroyed, and the queue refused it: it does not run.
    DelayedDropped {
        /// The queue's name.
        queue: String,
        /// Where the item was submitted: `file:line:column`.
        place: String,
        /// Why the queue refused it.
        refusal: crate::Refusal,
    },
    /// An item panicked. Its worker goes on.
    ItemPanicked {
        /// The queue's name, if the queue still exists.
        queue: Option<String>,
        /// Where the item was submitted: `file:line:column`.
        place: String,
    },
}
