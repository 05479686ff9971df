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
    /// An item has to wait because as many others of its queue are active as
    /// [`max_active`](crate::QueueBuilder::max_active) allows. Told by the manager thread for the first one of a queue,
    /// and not for ordered queues, whose items wait by design. An item counts as active until the pool has been told of
    /// its end, which may be a moment later.
    ///
    /// Where those that are active wait for what waits behind them, all of them wait for ever: who may submit more than
    /// the limit of items that depend on each other needs a queue of its own.
    QueueSaturated {
        /// The queue's name.
        queue: String,
        /// Where the item was submitted that has to wait: `file:line:column`.
        place: String,
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
    /// An item's function has left something behind on its worker's thread; see
    /// [`EngineBuilder::check_items`](crate::EngineBuilder::check_items). Told before the item counts as ended.
    ItemLeft {
        /// The queue's name, if the queue still exists.
        queue: Option<String>,
        /// Where the item was submitted: `file:line:column`.
        place: String,
        /// What it has changed.
        what: crate::Leftover,
        /// It has been taken back. `false`: the system does not permit that, and it stays.
        restored: bool,
    },
    /// An item panicked. Its worker goes on.
    ItemPanicked {
        /// The queue's name, if the queue still exists.
        queue: Option<String>,
        /// Where the item was submitted: `file:line:column`.
        place: String,
    },
}
