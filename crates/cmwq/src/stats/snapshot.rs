//! A picture of an engine at one moment.

/// What an engine has done and what its pools look like. Numbers of running workers are read one after another:
/// they need
/// not add up while work is going on.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Stats {
    /// One entry a pool, in order of creation.
    pub pools: Vec<PoolStats>,
    /// Items that panicked.
    pub panics: u64,
    /// Looks of the manager thread (it sleeps in between).
    pub manager_wakes: u64,
}

/// One pool.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PoolStats {
    /// Its name: `cpu3`, or `pod0-7` with `!` where workers may not leave the pod.
    pub name: String,
    /// Workers with a thread.
    pub workers: u32,
    /// Workers that run items or look for them.
    pub active: u32,
    /// Items on the worklist.
    pub queued: u32,
    /// Items started since the pool was made.
    pub started: u64,
    /// Times a worker went to sleep.
    pub parks: u64,
    /// Wake-ups issued by submissions.
    pub submit_wakes: u64,
    /// Wake-ups issued by anyone, submissions included.
    pub wakes: u64,
    /// Threads created.
    pub created: u64,
    /// Threads that could not be created.
    pub create_failures: u64,
    /// Threads that have ended.
    pub exited: u64,
}
