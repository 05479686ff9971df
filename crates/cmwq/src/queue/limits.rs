//! The limits of a queue, and changing them while it is used.

use super::Queue;
use super::inner::{Joint, QueueInner};
use crate::pool::{JoinLimit, Membership, Node, Pool};
use crate::worker::clock;
use cmwq_core::id::PwqId;
use cmwq_core::limits;
use cmwq_core::pool::Event;
use cmwq_core::pwq::node_share;
use cmwq_ring::Lock;
use cmwq_sys::futex::LinuxFutex;
use cmwq_sys::topology::{NodeId, Pod};
use std::fmt;
use std::sync::Arc;

/// What `max_active` of a queue means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A limit of each CPU.
    PerCpu,
    /// A limit of the whole, split over nodes.
    Unbound,
    /// One at a time, in order.
    Ordered,
}

/// What limits the items of one node, or of the pods that lie in no single one.
enum Share {
    /// The pwq of this joint alone.
    Joint(usize),
    /// The pwqs of several pools.
    Node(Arc<Node>),
}

struct Part {
    share: Share,
    /// CPUs of the node; all of them for pods that lie in no single one.
    cpus: u32,
}

/// The limits of a queue.
pub(crate) struct Limits {
    kind: Kind,
    parts: Vec<Part>,
    total: u32,
    /// `max_active` and `min_active`.
    now: Lock<(u32, u32), LinuxFutex>,
}

/// Why a limit was not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitError {
    /// An ordered queue runs one item at a time, always.
    Ordered,
    /// Only unbound queues have a `min_active`.
    PerCpu,
    /// `max_active` is above 2048.
    TooLarge(u32),
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LimitError::Ordered => {
                f.write_str("an ordered queue runs one item at a time; build another queue")
            }
            LimitError::PerCpu => {
                f.write_str("min_active is for unbound queues; a per-CPU queue has max_active only")
            }
            LimitError::TooLarge(max) => {
                let (most, default) = (limits::MAX_ACTIVE_MAX, limits::MAX_ACTIVE_DEFAULT);
                write!(f, "max_active {max} is above {most}; choose less, or 0 for the default of {default}")
            }
        }
    }
}

impl std::error::Error for LimitError {}

/// `max_active` as given: 0 stands for the default.
pub(super) fn checked_max(max_active: u32) -> Result<u32, LimitError> {
    match max_active {
        0 => Ok(limits::MAX_ACTIVE_DEFAULT),
        n if n > limits::MAX_ACTIVE_MAX => Err(LimitError::TooLarge(n)),
        n => Ok(n),
    }
}

impl Limits {
    /// The limits of a queue with these pods, and what each of them joins its pool with.
    pub(super) fn new(kind: Kind, max: u32, min: u32, pods: &[Pod], apart: bool) -> (Limits, Vec<JoinLimit>) {
        let total = pods.iter().map(|pod| pod.cpus.len() as u32).sum();
        let mut joins: Vec<Option<JoinLimit>> = pods.iter().map(|_| None).collect();
        let mut nodes: Vec<Option<NodeId>> = Vec::new();
        let mut parts = Vec::new();
        for (first, pod) in pods.iter().enumerate() {
            if kind != Kind::Unbound || apart {
                parts.push(Part { share: Share::Joint(first), cpus: total });
                joins[first] = Some(JoinLimit::Own(max));
                continue;
            }
            if nodes.contains(&pod.node) {
                continue;
            }
            nodes.push(pod.node);
            let members: Vec<usize> = (first..pods.len()).filter(|&at| pods[at].node == pod.node).collect();
            let cpus = match pod.node {
                Some(_) => members.iter().map(|&at| pods[at].cpus.len() as u32).sum(),
                None => total,
            };
            let limit = node_share(max, min, cpus, total);
            let share = if members.len() == 1 {
                joins[first] = Some(JoinLimit::Own(limit));
                Share::Joint(first)
            } else {
                let node = Node::new(limit, members.len());
                for (number, &at) in members.iter().enumerate() {
                    joins[at] = Some(JoinLimit::Node(Membership { node: Arc::clone(&node), number }));
                }
                Share::Node(node)
            };
            parts.push(Part { share, cpus });
        }
        let joins = joins.into_iter().map(|join| join.expect("every pod has a limit")).collect();
        (Limits { kind, parts, total, now: Lock::new((max, min)) }, joins)
    }

    /// Tells each node its pwqs. Before the first submission.
    pub(super) fn set_members(&self, joints: &[Joint]) {
        for part in &self.parts {
            let Share::Node(node) = &part.share else { continue };
            let mut members: Vec<_> = joints.iter().filter_map(|joint| joint.place_in(node)).collect();
            members.sort_by_key(|(number, _)| *number);
            node.set_members(members.into_iter().map(|(_, pwq)| pwq).collect());
        }
    }

    /// Under the lock, so that the last change is the one that stays.
    fn apply(&self, joints: &[Joint], (max, min): (u32, u32)) {
        for part in &self.parts {
            let limit = match self.kind {
                Kind::Unbound => node_share(max, min, part.cpus, self.total).max(1),
                _ => max,
            };
            match &part.share {
                Share::Joint(at) => set_own(&joints[*at].pool, joints[*at].pwq().id, limit),
                Share::Node(node) => node.set_max(limit),
            }
        }
    }
}

fn set_own(pool: &Pool, pwq: PwqId, limit: u32) {
    let mut hold = pool.hold(clock::now());
    hold.step(Event::SetMaxActive(pwq, limit));
    hold.step(Event::Cover);
    hold.release();
}

impl QueueInner {
    pub(super) fn is_ordered(&self) -> bool {
        self.limits.kind == Kind::Ordered
    }
}

impl Queue {
    /// The most items that are active at once: per CPU for a per-CPU queue, in all (split over the NUMA nodes) for an
    /// unbound one.
    pub fn max_active(&self) -> u32 {
        self.inner().limits.now.lock().0
    }

    /// How many items that depend on each other an unbound queue runs at once in any case, on each node.
    pub fn min_active(&self) -> u32 {
        self.inner().limits.now.lock().1
    }

    /// Changes `max_active`; 0 stands for the default of 1024. Items that wait and for which there is room now become
    /// active; where the limit was lowered those that are active stay so, and none is added until enough have ended.
    /// Lowers `min_active` if it was more.
    ///
    /// # Context
    /// From any thread, also from inside items. Takes the locks of the queue's pools one after the other for a moment.
    ///
    /// # Errors
    /// [`LimitError`], for an ordered queue or a limit above 2048.
    pub fn set_max_active(&self, max_active: u32) -> Result<(), LimitError> {
        let limits = &self.inner().limits;
        if limits.kind == Kind::Ordered {
            return Err(LimitError::Ordered);
        }
        let max = checked_max(max_active)?;
        let mut now = limits.now.lock();
        *now = (max, now.1.min(max));
        limits.apply(&self.inner().joints, *now);
        Ok(())
    }

    /// Changes `min_active`; more than `max_active` counts as that.
    ///
    /// # Context
    /// As for [`Queue::set_max_active`].
    ///
    /// # Errors
    /// [`LimitError`], unless the queue is unbound and not ordered.
    pub fn set_min_active(&self, min_active: u32) -> Result<(), LimitError> {
        let limits = &self.inner().limits;
        match limits.kind {
            Kind::Ordered => return Err(LimitError::Ordered),
            Kind::PerCpu => return Err(LimitError::PerCpu),
            Kind::Unbound => {}
        }
        let mut now = limits.now.lock();
        now.1 = min_active.min(now.0);
        limits.apply(&self.inner().joints, *now);
        Ok(())
    }
}
