//! Every bound of the design in one place, with the kernel's value where the kernel has one.

use crate::time::Span;

/// Items a worker may claim in one hold of the pool lock.
pub const BATCH_ITEMS_MAX: usize = 16;
/// Idle workers that culling always leaves (the kernel's floor of two).
pub const IDLE_WORKERS_FLOOR: u32 = 2;
/// Culling starts when idle workers above the floor, times this, reach the busy ones (kernel:
/// MAX_IDLE_WORKERS_RATIO).
pub const IDLE_WORKERS_RATIO: u32 = 4;
/// How long a surplus worker stays idle before it is culled. The kernel waits 300 s; a process gives memory back
/// sooner.
pub const IDLE_TIMEOUT: Span = Span::from_ms(10_000);
/// How long the pool waits after a failed thread creation before it tries again (kernel: CREATE_COOLDOWN).
pub const CREATE_COOLDOWN: Span = Span::from_ms(1_000);
/// The most workers one pool may have; the worker's number also has to fit the inbox's stand-by mark.
pub const POOL_WORKERS_MAX: u32 = 4_096;
/// `max_active` of a queue that names none (kernel: WQ_DFL_ACTIVE).
pub const MAX_ACTIVE_DEFAULT: u32 = 1_024;
/// The largest `max_active` (kernel: WQ_MAX_ACTIVE).
pub const MAX_ACTIVE_MAX: u32 = 2_048;
/// `min_active` of an unbound queue that names none, unless its `max_active` is lower (kernel: WQ_DFL_MIN_ACTIVE).
pub const MIN_ACTIVE_DEFAULT: u32 = 8;
/// The largest `max_pending`: what fits the room word.
pub const MAX_PENDING_MAX: u32 = (1 << 20) - 1;
/// First and longest time-out of a watching worker.
pub const WATCH_INTERVAL: (Span, Span) = (Span::from_us(50), Span::from_us(1_000));
/// A watching worker stands aside while items take less than this on average: below it, waking a second CPU costs
/// more than it brings.
pub const WATCH_ITEM_TIME: Span = Span::from_us(5);
/// A watching worker goes back to untimed sleep after this many looks that found the pool with nothing to do.
pub const WATCH_IDLE_LOOKS: u8 = 8;
/// Generations of a flush phase that are told apart; one less may be outstanding at once.
pub const PHASE_SLOTS: usize = 16;
