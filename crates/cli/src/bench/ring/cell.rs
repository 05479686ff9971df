//! What one fresh process measures, and what it finds.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::bench::distance::{self, Trips};

/// What carries the messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Shape {
    Ring,
    /// Each message is taken by itself.
    Mutex,
    /// All are taken at once, by swapping deques.
    MutexSwap,
    Crossbeam,
    MsgRing,
}

impl Shape {
    pub(super) const ALL: [Shape; 5] =
        [Shape::Ring, Shape::Mutex, Shape::MutexSwap, Shape::Crossbeam, Shape::MsgRing];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Shape::Ring => "ring",
            Shape::Mutex => "mutex",
            Shape::MutexSwap => "mutex-swap",
            Shape::Crossbeam => "crossbeam",
            Shape::MsgRing => "msg-ring",
        }
    }
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Mode {
    /// Producers post as fast as they can while the receiver receives.
    Stream,
    /// One thread posts some messages, then takes them: what a post costs that nobody disturbs.
    Alone,
}

/// What one fresh process measures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cell {
    pub(super) shape: Shape,
    pub(super) mode: Mode,
    pub(super) producers: u32,
    /// The receiver waits for this many; posts are lazy if it is more than one.
    pub(super) need: u32,
    /// The most messages of each producer.
    pub(super) items: u64,
    /// When producers stop even though they have not posted that many.
    pub(super) time_ms: Option<u64>,
}

impl Cell {
    pub(super) fn is_lazy(&self) -> bool {
        self.need > 1
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell { shape, mode, producers, need, .. } = self;
        match mode {
            Mode::Alone => write!(f, "{}, alone", shape.name()),
            Mode::Stream => write!(f, "{}, {producers} producers, need {need}", shape.name()),
        }
    }
}

/// What a process finds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Measured {
    #[serde(flatten)]
    pub(super) figures: Figures,
    pub(super) messages: u64,
    pub(super) seconds: f64,
    /// Whether every thread was bound to its CPU.
    pub(super) bound: bool,
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
    pub(super) messages_per_s: f64,
    /// What a post takes: the mean of those alone, else the median and a percentile of samples.
    pub(super) post_ns: f64,
    pub(super) post_p99_ns: Option<f64>,
    /// Wake-ups that posters issued, where they can be counted.
    pub(super) wakes_per_message: Option<f64>,
    /// System calls that posters made, where they can be counted.
    pub(super) calls_per_post: Option<f64>,
    pub(super) cpu_s_per_million: f64,
    /// What the receiver found at once, on average.
    pub(super) messages_per_take: Option<f64>,
}

impl Figures {
    /// Picks one value of each figure from those of several runs.
    pub(super) fn fold(all: &[&Figures], pick: fn(&[f64]) -> f64) -> Figures {
        let of = |get: fn(&Figures) -> f64| pick(&all.iter().map(|figures| get(figures)).collect::<Vec<_>>());
        let of_some = |get: fn(&Figures) -> Option<f64>| {
            let all: Option<Vec<f64>> = all.iter().map(|figures| get(figures)).collect();
            all.map(|all| pick(&all))
        };
        Figures {
            messages_per_s: of(|figures| figures.messages_per_s),
            post_ns: of(|figures| figures.post_ns),
            post_p99_ns: of_some(|figures| figures.post_p99_ns),
            wakes_per_message: of_some(|figures| figures.wakes_per_message),
            calls_per_post: of_some(|figures| figures.calls_per_post),
            cpu_s_per_million: of(|figures| figures.cpu_s_per_million),
            messages_per_take: of_some(|figures| figures.messages_per_take),
        }
    }
}
