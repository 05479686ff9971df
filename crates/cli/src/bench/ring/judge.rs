//! What the figures should be.

use super::cell::{Figures, Mode, Shape};
use super::document::Row;
use crate::bench::figures::Spread;
use crate::bench::judge::{Bound, Verdict};

/// The ring's throughput over that of messages between io_urings, and over that of a deque under a mutex: not the
/// median but the least of the runs, which the median of many would pass with a confidence of 1 - 2^-runs.
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
    rows.iter().flat_map(|row| [throughput(row), post(row), wakes(row)]).flatten().collect()
}

fn throughput(row: &Row) -> Option<Verdict> {
    let least = match row.shape {
        Shape::MsgRing => OVER_MSG_RING_LEAST,
        Shape::Mutex => OVER_MUTEX_LEAST,
        Shape::Ring | Shape::MutexSwap | Shape::Crossbeam => return None,
    };
    let ratio = row.ring_over.filter(|_| row.need == NEED)?;
    let figure = format!("ring / {} messages/s, {} producers", row.shape.name(), row.producers);
    Some(Verdict::by_worst(figure, ratio, Bound::AtLeast(least)))
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
                };
                Some(Measured { figures, messages: 1, seconds: 1.0, bound: true })
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
