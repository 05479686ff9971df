//! Time as a number that somebody else reads from a clock.

use core::ops::Add;
use core::time::Duration;

/// A moment: nanoseconds since an origin chosen by the driver (the engine's start, a simulation's start).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tick(pub u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

impl Span {
    /// Microseconds as a span; saturates.
    pub const fn from_us(us: u64) -> Span {
        Span(us.saturating_mul(1_000))
    }

    /// Milliseconds as a span; saturates.
    pub const fn from_ms(ms: u64) -> Span {
        Span(ms.saturating_mul(1_000_000))
    }

    /// The span as a [`Duration`].
    pub const fn to_duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }
}

impl From<Duration> for Span {
    fn from(d: Duration) -> Span {
        Span(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl Tick {
    /// The time from `earlier` to `self`; zero where `earlier` is the later one (clocks of two threads may disagree).
    pub const fn since(self, earlier: Tick) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Span> for Tick {
    type Output = Tick;
    fn add(self, span: Span) -> Tick {
        Tick(self.0.saturating_add(span.0))
    }
}
