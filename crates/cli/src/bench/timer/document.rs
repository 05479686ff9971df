//! The JSON document of `cmwq bench timer`, its table and its judgement.

use std::fmt::Write;

use serde::Serialize;

use super::load::Measured;
use super::{Arguments, Runs};
use crate::bench::figures::Spread;
use crate::bench::judge::{Bound, Verdict};
use crate::bench::machine::Machine;

/// Changes whenever a reader of older documents would go wrong.
const SCHEMA: &str = "cmwq-bench-timer/1";
/// How much more a call may cost than with the fewest items armed.
const FLAT: f64 = 2.0;
/// How much later than a bare thread that sleeps an item's function may begin, at the 99th percentile: so many times as
/// late, and a grain of the wheel, and the wake-up of a worker, in us.
const LATE_TIMES: f64 = 1.5;
const LATE_MORE_US: f64 = 32.8;

/// The form of the document, for the help text.
pub(super) const DOCUMENT_FORM: &str = "\
Each row is measured in several fresh processes, rows take turns. A figure is the median of them, beside
the least and the most. One thread arms, changes and cancels a thousand items again and again (arm, modify,
cancel: ns a call) while the others stay armed; then it changes the time of any of the others (modify any:
what their memory costs, when no cache holds it, is in this figure). Times are an hour to half a day
away, to the nanosecond.
Lateness is that of a thousand further items over 300 ms in five turns, from the time they were to be
queued to the begin of their function, in us; an item that is early is an error. In turns with them a
bare thread sleeps until each of as many times: its lateness is what the system itself gives.
With --judge arm, modify and cancel may cost twice what they cost with the fewest items armed, in the
same run, and the 99th percentile of lateness may be one and a half times that of the bare thread in
the same run, and a grain of the wheel, 32.8 us.

The JSON document holds
  schema   \"cmwq-bench-timer/1\"
  machine  processor, kernel, CPUs, the round trip of a cache line between two of them, pods
  items    calls of each kind
  rows     armed, and with median, min and max: arm_ns, modify_ns, cancel_ns, modify_any_ns,
           late_p50_us, late_p99_us, late_max_us, bare_late_p99_us, late_more_us (p99 beyond
           one and a half times the bare one, run by run); times (arm, modify, cancel: ratios to the first row,
           run by run, or null); and runs
  failed   rows that could not be measured
  judged   figures, bounds and whether they hold, with --judge";

/// What is written, in this order.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    schema: &'static str,
    machine: Machine,
    items: u32,
    rows: Vec<Row>,
    pub(super) failed: Vec<String>,
    judged: &'a [Verdict],
}

/// One number of armed items.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    armed: u32,
    arm_ns: Spread,
    modify_ns: Spread,
    cancel_ns: Spread,
    modify_any_ns: Spread,
    late_p50_us: Spread,
    late_p99_us: Spread,
    late_max_us: Spread,
    bare_late_p99_us: Spread,
    late_more_us: Spread,
    /// To the first row.
    times: Option<Times>,
    runs: Vec<Option<Measured>>,
}

#[derive(Clone, Debug, Serialize)]
struct Times {
    arm: Spread,
    modify: Spread,
    cancel: Spread,
}

/// Those that were measured.
pub(super) fn rows(armed: &[u32], runs: &Runs) -> Vec<Row> {
    let rows = armed.iter().zip(runs).enumerate();
    rows.filter_map(|(at, (&armed, runs_here))| Row::new(armed, runs_here, (at > 0).then(|| &*runs[0])))
        .collect()
}

impl Row {
    fn new(armed: u32, runs: &[Option<Measured>], first: Option<&[Option<Measured>]>) -> Option<Row> {
        let spread = |of: fn(&Measured) -> f64| {
            let values: Vec<f64> = runs.iter().flatten().map(of).collect();
            Spread::of(&values)
        };
        Some(Row {
            armed,
            arm_ns: spread(|m| m.arm_ns)?,
            modify_ns: spread(|m| m.modify_ns)?,
            cancel_ns: spread(|m| m.cancel_ns)?,
            modify_any_ns: spread(|m| m.modify_any_ns)?,
            late_p50_us: spread(|m| m.late_p50_us)?,
            late_p99_us: spread(|m| m.late_p99_us)?,
            late_max_us: spread(|m| m.late_max_us)?,
            bare_late_p99_us: spread(|m| m.bare_late_p99_us)?,
            late_more_us: spread(|m| m.late_p99_us - LATE_TIMES * m.bare_late_p99_us)?,
            times: first.and_then(|first| Times::of(runs, first)),
            runs: runs.to_vec(),
        })
    }
}

impl Times {
    /// Of runs side by side; `None` where no run has both.
    fn of(runs: &[Option<Measured>], first: &[Option<Measured>]) -> Option<Times> {
        let ratio = |of: fn(&Measured) -> f64| {
            let pairs = runs.iter().zip(first).filter_map(|(a, b)| Some((a.as_ref()?, b.as_ref()?)));
            let ratios: Vec<f64> = pairs.map(|(a, b)| of(a) / of(b).max(1e-9)).collect();
            Spread::of(&ratios)
        };
        Some(Times {
            arm: ratio(|m| m.arm_ns)?,
            modify: ratio(|m| m.modify_ns)?,
            cancel: ratio(|m| m.cancel_ns)?,
        })
    }
}

/// Every call at every number of armed items against the fewest, and lateness at each against a bare thread's.
pub(super) fn judge(rows: &[Row]) -> Vec<Verdict> {
    let Some(first) = rows.first().filter(|_| rows.len() > 1) else { return Vec::new() };
    let late = rows.iter().map(|row| {
        let figure =
            format!("us that p99 of lateness is beyond {LATE_TIMES} x a bare thread's, {} armed", row.armed);
        let bare = row.bare_late_p99_us;
        let because =
            || Some(format!("p99 {:.0}, a bare thread's {:.0}", row.late_p99_us.median, bare.median));
        Verdict::new(figure, row.late_more_us, Bound::AtMost(LATE_MORE_US)).because(because)
    });
    let judged = rows.iter().filter_map(|row| Some((row.armed, row.times.clone()?)));
    judged
        .flat_map(|(armed, Times { arm, modify, cancel })| {
            [("arm", arm), ("modify", modify), ("cancel", cancel)].map(|(call, times)| {
                let figure = format!("{call} with {armed} armed / with {} armed", first.armed);
                Verdict::new(figure, times, Bound::AtMost(FLAT))
            })
        })
        .chain(late)
        .collect()
}

impl<'a> Document<'a> {
    pub(super) fn new(
        machine: Machine,
        arguments: &Arguments,
        rows: Vec<Row>,
        failed: Vec<String>,
        judged: &'a [Verdict],
    ) -> Document<'a> {
        Document { schema: SCHEMA, machine, items: arguments.items, rows, failed, judged }
    }

    /// For people.
    pub(super) fn table(&self) -> String {
        let mut text = self.machine.headline();
        let runs = self.rows.first().map_or(0, |row| row.runs.len());
        _ = writeln!(
            text,
            "\n{} calls of each kind, {runs} fresh processes a row: medians (min..max); ns a call, lateness in us\n",
            self.items
        );
        let titles = [
            "armed",
            "arm",
            "modify",
            "cancel",
            "modify any",
            "late p50",
            "late p99",
            "late max",
            "bare p99",
        ];
        _ = writeln!(
            text,
            "{:>9}{}",
            titles[0],
            titles[1..].iter().map(|t| format!("  {t:>16}")).collect::<String>()
        );
        for row in &self.rows {
            let figures = [
                row.arm_ns,
                row.modify_ns,
                row.cancel_ns,
                row.modify_any_ns,
                row.late_p50_us,
                row.late_p99_us,
                row.late_max_us,
                row.bare_late_p99_us,
            ];
            let figures = figures.map(|Spread { median, min, max }| {
                format!("  {:>16}", format!("{median:.0} ({min:.0}..{max:.0})"))
            });
            _ = writeln!(text, "{:>9}{}", row.armed, figures.concat());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(ns: f64) -> Option<Measured> {
        Some(Measured {
            arm_ns: ns,
            modify_ns: 2.0 * ns,
            cancel_ns: 10.0,
            modify_any_ns: 1.0,
            late_p50_us: 1.0,
            late_p99_us: 1.0,
            late_max_us: 1.0,
            bare_late_p99_us: 1.0,
        })
    }

    #[test]
    fn costs_are_judged_run_by_run_against_the_first_row() {
        let runs = vec![
            vec![measured(100.0), None, measured(50.0)],
            vec![measured(150.0), measured(1.0), measured(150.0)],
        ];
        let rows = rows(&[100, 1000], &runs);
        let verdicts = judge(&rows);
        assert_eq!(verdicts.len(), 3 + 2);
        assert_eq!(verdicts[0].found, Spread { median: 2.25, min: 1.5, max: 3.0 });
        assert!(!verdicts[0].holds && !verdicts[1].holds && verdicts[2].holds);
    }

    #[test]
    fn lateness_is_judged_run_by_run_against_a_bare_thread() {
        let late = |late_p99_us, bare_late_p99_us| {
            measured(1.0).map(|measured| Measured { late_p99_us, bare_late_p99_us, ..measured })
        };
        let runs = vec![
            vec![late(182.7, 100.0), late(400.0, 300.0), late(900.0, 100.0)],
            vec![late(183.0, 100.0), late(400.0, 100.0), late(10.0, 100.0)],
        ];
        let verdicts = judge(&rows(&[100, 1000], &runs));
        let found: Vec<_> = verdicts[3..]
            .iter()
            .map(|verdict| (verdict.found.median.round() as u32, verdict.holds))
            .collect();
        assert_eq!(found, [(33, true), (33, false)]);
        assert_eq!(verdicts[4].because.as_deref(), Some("p99 183, a bare thread's 100"));
    }

    #[test]
    fn one_row_is_not_judged() {
        assert!(judge(&rows(&[100], &vec![vec![measured(1.0)]])).is_empty());
    }
}
