//! What the figures should be.

use super::cell::{Figures, Mode, Shape};
use super::document::Row;
use crate::bench::figures::{Spread, median};
use crate::bench::judge::{Bound, Verdict};

/// The ring's throughput over that of messages between io_urings, and over that of a deque under a mutex: what the
/// median is not below.
const OVER_MSG_RING_LEAST: f64 = 10.0;
const OVER_MUTEX_LEAST: f64 = 1.5;
/// What a post costs that nobody disturbs, in nanoseconds.
const POST_MOST: f64 = 10.0;
/// Wake-ups for each message, with this many producers.
const WAKES_MOST: f64 = 0.05;
const WAKES_PRODUCERS: u32 = 8;
/// Throughput is judged with a need of one.
const NEED: u32 = 1;

/// Judges the rows that there are.
pub(super) fn judge(rows: &[Row]) -> Vec<Verdict> {
    rows.iter().flat_map(|row| [throughput(row, rows), post(row), wakes(row)]).flatten().collect()
}

fn throughput(row: &Row, rows: &[Row]) -> Option<Verdict> {
    let least = match row.shape {
        Shape::MsgRing => OVER_MSG_RING_LEAST,
        Shape::Mutex => OVER_MUTEX_LEAST,
        Shape::Ring | Shape::MutexSwap | Shape::Crossbeam => return None,
    };
    let ratio = row.ring_over.filter(|_| row.need == NEED)?;
    let figure = format!("ring / {} messages/s, {} producers", row.shape.name(), row.producers);
    let verdict = Verdict::by_lower(figure, ratio.spread, ratio.lower, least);
    Some(verdict.because(|| bounded_by(row, ratio.compared, rows)))
}

/// What the ring's message takes, beside what its two ends take that share no line with another CPU.
fn bounded_by(row: &Row, compared: usize, rows: &[Row]) -> Option<String> {
    let ring = |mode, producers| {
        let is = |other: &&Row| {
            let of = (other.shape, other.mode, other.producers, other.need);
            of == (Shape::Ring, mode, producers, NEED)
        };
        rows.iter().find(is)
    };
    let stream = ring(Mode::Stream, row.producers)?;
    let ns = |row: &Row| 1e9 / row.figures.messages_per_s;
    let trips: Vec<f64> =
        stream.runs.iter().flatten().filter_map(|run| run.line_round_trip_ns).flatten().collect();
    let alone = ring(Mode::Alone, 1).map(|alone| format!(", of which {:.0} on one CPU alone", ns(alone)));
    let takes = stream.figures.messages_per_take.unwrap_or(f64::NAN);
    Some(format!(
        "a message over the ring takes {:.0} ns{}; a take finds {takes:.0}; a cache line there and back takes \
         {:.0} ns; {compared} runs could be compared",
        ns(stream),
        alone.unwrap_or_default(),
        median(&trips),
    ))
}

fn post(row: &Row) -> Option<Verdict> {
    let is_judged = row.shape == Shape::Ring && row.mode == Mode::Alone;
    let spread = spread(row, |figures| Some(figures.post_ns)).filter(|_| is_judged)?;
    Some(Verdict::new("ring, ns a post alone".to_owned(), spread, Bound::AtMost(POST_MOST)))
}

fn wakes(row: &Row) -> Option<Verdict> {
    let is_judged = row.shape == Shape::Ring && row.mode == Mode::Stream && row.producers == WAKES_PRODUCERS;
    let spread = spread(row, |figures| figures.wakes_per_message).filter(|_| is_judged)?;
    let figure = format!("ring, wakes a message, {} producers, need {}", row.producers, row.need);
    Some(Verdict::new(figure, spread, Bound::AtMost(WAKES_MOST)))
}

fn spread(row: &Row, of: fn(&Figures) -> Option<f64>) -> Option<Spread> {
    Some(Spread { median: of(&row.figures)?, min: of(&row.min)?, max: of(&row.max)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::ring::cell::{Cell, Measured};

    fn row(shape: Shape, mode: Mode, producers: u32, rates: &[f64], post_ns: f64, wakes: f64) -> Row {
        let runs: Vec<Option<Measured>> = rates
            .iter()
            .map(|&messages_per_s| {
                let figures = Figures {
                    messages_per_s,
                    post_ns,
                    post_p99_ns: None,
                    wakes_per_message: Some(wakes),
                    calls_per_post: None,
                    cpu_s_per_million: 1.0,
                    messages_per_take: Some(7.0),
                };
                Some(Measured { figures, messages: 1, seconds: 1.0, bound: true, line_round_trip_ns: None })
            })
            .collect();
        let ring: Vec<_> = runs.iter().flatten().map(|run| Some(faster(run))).collect();
        let cell = Cell { shape, mode, producers, need: 1, items: 1, time_ms: None };
        Row::new(&cell, &runs, &ring).expect("there are runs")
    }

    /// Always a rate of 30.
    fn faster(run: &Measured) -> Measured {
        Measured { figures: Figures { messages_per_s: 30.0, ..run.figures.clone() }, ..run.clone() }
    }

    fn holds(row: Row) -> Vec<bool> {
        judge(&[row]).iter().map(|verdict| verdict.holds).collect()
    }

    #[test]
    fn one_bad_run_misses_a_ratio() {
        assert_eq!(holds(row(Shape::MsgRing, Mode::Stream, 2, &[1.0, 2.0, 3.0], 1.0, 0.0)), [true]);
        assert_eq!(holds(row(Shape::MsgRing, Mode::Stream, 2, &[1.0, 2.0, 3.1], 1.0, 0.0)), [false]);
        assert_eq!(holds(row(Shape::Mutex, Mode::Stream, 2, &[10.0, 20.0], 1.0, 0.0)), [true]);
        assert_eq!(holds(row(Shape::Mutex, Mode::Stream, 2, &[10.0, 21.0], 1.0, 0.0)), [false]);
    }

    /// Of runs at the distances of the ring's runs, of which each has its own.
    #[test]
    fn runs_at_another_distance_are_not_compared() {
        let near = row(Shape::MsgRing, Mode::Stream, 2, &[1.0, 4.0], 1.0, 0.0);
        let at = |run: &Option<Measured>, trip| {
            run.clone().map(|run| Measured { line_round_trip_ns: Some([trip, trip]), ..run })
        };
        let own = [at(&near.runs[0], 100.0), at(&near.runs[1], 500.0)];
        let ring = near.runs.iter().map(|run| at(&run.as_ref().map(faster), 110.0)).collect::<Vec<_>>();
        let cell = Cell {
            shape: Shape::MsgRing,
            mode: Mode::Stream,
            producers: 2,
            need: 1,
            items: 1,
            time_ms: None,
        };
        let ratio = Row::new(&cell, &own, &ring).and_then(|row| row.ring_over).expect("one pair");
        assert_eq!((ratio.compared, ratio.spread.median), (1, 30.0));
    }

    #[test]
    fn what_bounds_a_missed_ratio_is_told() {
        let ring = row(Shape::Ring, Mode::Stream, 2, &[25e6], 1.0, 0.0);
        let missed = row(Shape::Mutex, Mode::Stream, 2, &[29.0], 1.0, 0.0);
        let verdicts = judge(&[ring, missed]);
        let because = verdicts[0].because.as_deref().expect("it is missed");
        assert!(because.contains("takes 40 ns") && because.contains("a take finds 7"), "{because}");
    }

    #[test]
    fn posts_are_judged_alone_and_wakes_with_eight() {
        assert_eq!(holds(row(Shape::Ring, Mode::Alone, 1, &[1.0], 10.5, 0.0)), [false]);
        assert_eq!(holds(row(Shape::Ring, Mode::Alone, 1, &[1.0], 9.5, 0.0)), [true]);
        assert_eq!(holds(row(Shape::Ring, Mode::Stream, 8, &[1.0], 99.0, 0.06)), [false]);
        assert_eq!(holds(row(Shape::Ring, Mode::Stream, 8, &[1.0], 99.0, 0.05)), [true]);
        assert!(judge(&[row(Shape::Ring, Mode::Stream, 4, &[1.0], 99.0, 1.0)]).is_empty());
        assert!(judge(&[row(Shape::Crossbeam, Mode::Stream, 8, &[99.0], 99.0, 1.0)]).is_empty());
    }
}
