//! What one fresh process measures, and what it finds.

use std::fmt;
use std::str::FromStr;

use cmwq::{CoverPolicy, WaitPolicy, bench};
use serde::{Deserialize, Serialize};

use crate::bench::distance::{self, Trips};
use crate::source::Source;

/// How a submission reaches a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Shape {
    UnderLock,
    Deferred,
    Inbox,
    /// Not the engine, but a queue of functions under a mutex, with a condition variable.
    Condvar,
    /// No queue at all, but one word that one thread looks at.
    HandOver,
}

impl Shape {
    /// The shapes of the engine.
    pub(super) const ENGINE: [Shape; 3] = [Shape::UnderLock, Shape::Deferred, Shape::Inbox];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Shape::UnderLock => "under-lock",
            Shape::Deferred => "deferred",
            Shape::Inbox => "inbox",
            Shape::Condvar => "condvar",
            Shape::HandOver => "hand-over",
        }
    }

    /// The engine's name for it, if it is one of the engine's.
    pub(super) const fn of_engine(self) -> Option<bench::Shape> {
        match self {
            Shape::UnderLock => Some(bench::Shape::UnderLock),
            Shape::Deferred => Some(bench::Shape::Deferred),
            Shape::Inbox => Some(bench::Shape::Inbox),
            Shape::Condvar | Shape::HandOver => None,
        }
    }

    /// Whether it has scopes, limits and policies.
    pub(super) const fn is_of_engine(self) -> bool {
        self.of_engine().is_some()
    }
}

/// Whether a producer waits for each item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Mode {
    One,
    Batch,
}

/// How workers and producers wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Policy {
    /// As the engine does unless told otherwise.
    Spin,
    /// Asleep at once.
    Park,
}

impl Policy {
    pub(super) const ALL: [Policy; 2] = [Policy::Spin, Policy::Park];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Policy::Spin => "spin",
            Policy::Park => "park",
        }
    }

    pub(super) fn wait(self) -> WaitPolicy {
        match self {
            Policy::Spin => WaitPolicy::default(),
            Policy::Park => WaitPolicy::Park,
        }
    }
}

/// The engine's cover policy, as it is written on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(super) struct Cover(pub(super) CoverPolicy);

impl fmt::Display for Cover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            CoverPolicy::Eager => f.write_str("eager"),
            CoverPolicy::Backlog(items) => write!(f, "backlog:{items}"),
            _ => f.write_str("watched"),
        }
    }
}

impl FromStr for Cover {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let backlog = |text: &str| text.strip_prefix("backlog:")?.parse().ok().filter(|items| *items > 0);
        match (text, backlog(text)) {
            ("watched", _) => Ok(Cover(CoverPolicy::Watched)),
            ("eager", _) => Ok(Cover(CoverPolicy::Eager)),
            (_, Some(items)) => Ok(Cover(CoverPolicy::Backlog(items))),
            _ => Err("use watched, eager or backlog:N".to_owned()),
        }
    }
}

impl TryFrom<String> for Cover {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Cover> for String {
    fn from(cover: Cover) -> String {
        cover.to_string()
    }
}

/// What one fresh process measures.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Cell {
    pub(super) source: Source,
    /// The kernel's name of it.
    pub(super) scope: String,
    pub(super) shape: Shape,
    pub(super) mode: Mode,
    pub(super) policy: Policy,
    pub(super) cover: Cover,
    pub(super) claim: String,
    pub(super) producers: u32,
    /// The most items of each producer.
    pub(super) items: u64,
    /// When producers stop even though they have not queued that many.
    pub(super) time_ms: Option<u64>,
    /// The most workers of each pool.
    pub(super) workers: Option<u32>,
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shape, policy) = (self.shape.name(), self.policy.name());
        write!(f, "{} {shape}, {policy}, {} producers", self.scope, self.producers)
    }
}

/// What a process finds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Measured {
    #[serde(flatten)]
    pub(super) figures: Figures,
    /// All producers' items.
    pub(super) items: u64,
    pub(super) seconds: f64,
    /// Worker threads at the end.
    pub(super) workers: u32,
    /// Whether every producer was bound to its CPU.
    pub(super) bound: bool,
    /// Every so many items' times were kept.
    pub(super) sampled_every: u64,
    /// What was subtracted from every interval.
    pub(super) empty_pair_ns: f64,
    /// A cache line's round trip between two CPUs, in ns, right before and right after; the parent looks.
    #[serde(default)]
    pub(super) line_round_trip_ns: Trips,
}

impl Measured {
    /// Whether both ran with the CPUs equally far apart, as far as is known.
    pub(super) fn is_beside(&self, other: &Measured) -> bool {
        distance::is_one([self.line_round_trip_ns, other.line_round_trip_ns])
    }
}

/// The figures of a row or of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Figures {
    pub(super) items_per_s: f64,
    pub(super) submit_ns: Submit,
    /// `None` where nobody waits for single items.
    pub(super) round_trip_ns: Option<RoundTrip>,
    pub(super) cpu_s_per_million: f64,
    pub(super) wakes_per_item: f64,
    pub(super) switches_per_item: f64,
}

/// Percentiles of what submissions took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Submit {
    pub(super) p50: f64,
    pub(super) p90: f64,
    pub(super) p95: f64,
    pub(super) p99: f64,
}

/// Percentiles of what items took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RoundTrip {
    pub(super) p50: f64,
    pub(super) p99: f64,
}

impl Figures {
    /// Picks one value of each figure from those of several runs.
    pub(super) fn fold(all: &[&Figures], pick: fn(&[f64]) -> f64) -> Figures {
        let of = |get: fn(&Figures) -> f64| pick(&all.iter().map(|figures| get(figures)).collect::<Vec<_>>());
        let trips: Option<Vec<&RoundTrip>> =
            all.iter().map(|figures| figures.round_trip_ns.as_ref()).collect();
        let of_trips = |trips: &[&RoundTrip], get: fn(&RoundTrip) -> f64| {
            pick(&trips.iter().map(|trip| get(trip)).collect::<Vec<_>>())
        };
        Figures {
            items_per_s: of(|figures| figures.items_per_s),
            submit_ns: Submit {
                p50: of(|figures| figures.submit_ns.p50),
                p90: of(|figures| figures.submit_ns.p90),
                p95: of(|figures| figures.submit_ns.p95),
                p99: of(|figures| figures.submit_ns.p99),
            },
            round_trip_ns: trips.map(|trips| RoundTrip {
                p50: of_trips(&trips, |trip| trip.p50),
                p99: of_trips(&trips, |trip| trip.p99),
            }),
            cpu_s_per_million: of(|figures| figures.cpu_s_per_million),
            wakes_per_item: of(|figures| figures.wakes_per_item),
            switches_per_item: of(|figures| figures.switches_per_item),
        }
    }
}
