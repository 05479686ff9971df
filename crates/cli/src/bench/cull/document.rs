//! The JSON document of `cmwq bench cull`, its table and its judgement.

use std::fmt::Write;
use std::path::PathBuf;

use cmwq_check::kick::Variant;
use serde::Serialize;

use super::{Arguments, Measured, design};
use crate::bench::figures::Spread;
use crate::bench::judge::{Bound, Verdict};
use crate::bench::machine::Machine;

/// Changes whenever a reader of older documents would go wrong.
const SCHEMA: &str = "cmwq-bench-cull/1";

/// The form of the document, for the help text.
pub(super) const DOCUMENT_FORM: &str = "\
Three threads queue one item each at random times about the idle time-out apart. One in three threads that
owe a wake-up, or have been woken and have not come to the lock, is stopped there for twice the time-out
and a millisecond. (A thread that holds the pool's lock is not stopped.)
  stranded  nobody is stopped any more, no worker is up, and for 60 ms nobody comes for the item
  held      the item's submission has returned, half of a stop has passed, some who owe wake-ups are stopped,
            nobody who has been woken is, and a worker sleeps
The recording of the first find of a run is kept, one of a stranded item before others: `cmwq replay FILE`.
With --judge: stranded items with a floor of zero where `cmwq check kick` finds a way that the runtime can
go, none elsewhere; items held back, with a floor of two, where it finds a way.

The JSON document holds
  schema    \"cmwq-bench-cull/1\"
  machine   processor, kernel, CPUs, the round trip of a cache line between two of them, pods
  timeout_us, items
  rows      variant, floor, and with median, min and max over runs: stranded, held, held_ms_longest,
            wait_ms_longest, culled; recordings (files, and what they are of); runs
  left_out  variants that the runtime cannot run, with the reason
  failed    rows that could not be measured
  judged    figures, bounds and whether they hold, with --judge";

/// What is written, in this order.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    schema: &'static str,
    machine: Machine,
    timeout_us: u64,
    items: u32,
    rows: Vec<Row>,
    left_out: Vec<LeftOut>,
    pub(super) failed: Vec<String>,
    judged: &'a [Verdict],
}

#[derive(Serialize)]
struct LeftOut {
    variant: &'static str,
    reason: &'static str,
}

/// One design with one floor.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    variant: &'static str,
    floor: u32,
    stranded: Spread,
    held: Spread,
    held_ms_longest: Spread,
    wait_ms_longest: Spread,
    culled: Spread,
    recordings: Vec<(PathBuf, String)>,
    runs: Vec<Option<Measured>>,
    #[serde(skip)]
    design: design::Design,
}

impl Row {
    /// `None` when no run has come to its end.
    pub(super) fn new((variant, floor): (Variant, u32), runs: &[Option<Measured>]) -> Option<Row> {
        let spread = |of: fn(&Measured) -> f64| {
            let values: Vec<f64> = runs.iter().flatten().map(of).collect();
            Spread::of(&values)
        };
        Some(Row {
            variant: variant.id(),
            floor,
            stranded: spread(|m| f64::from(m.stranded))?,
            held: spread(|m| f64::from(m.held))?,
            held_ms_longest: spread(|m| m.held_ms_longest)?,
            wait_ms_longest: spread(|m| m.wait_ms_longest)?,
            culled: spread(|m| m.culled as f64)?,
            recordings: runs.iter().flatten().filter_map(|m| m.recording.clone()).collect(),
            runs: runs.to_vec(),
            design: design::of(variant).ok()?,
        })
    }
}

/// Every row by what the search says of its design.
pub(super) fn judge(rows: &[Row]) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for row in rows {
        let name = |what: &str| format!("{what}, {} with a floor of {}", row.variant, row.floor);
        let strands = row.design.strands && row.floor == 0;
        verdicts.push(if strands {
            Verdict::new(name("stranded"), row.stranded, Bound::AtLeast(1.0))
        } else {
            Verdict::by_worst(name("stranded"), row.stranded, Bound::AtMost(0.0))
        });
        // With less of a floor the worker that could help often dies before it is seen to sleep.
        if row.design.holds_back && row.floor == 2 {
            verdicts.push(Verdict::new(name("held back"), row.held, Bound::AtLeast(1.0)));
        }
    }
    verdicts
}

impl<'a> Document<'a> {
    pub(super) fn new(
        machine: Machine,
        arguments: &Arguments,
        rows: Vec<Row>,
        failed: Vec<String>,
        judged: &'a [Verdict],
    ) -> Document<'a> {
        let left_out = design::left_out();
        let left_out = left_out.into_iter().map(|(variant, reason)| LeftOut { variant, reason }).collect();
        let timeout_us = arguments.timeout.as_micros() as u64;
        Document {
            schema: SCHEMA,
            machine,
            timeout_us,
            items: arguments.items,
            rows,
            left_out,
            failed,
            judged,
        }
    }

    /// For people.
    pub(super) fn table(&self) -> String {
        let mut text = self.machine.headline();
        let runs = self.rows.first().map_or(0, |row| row.runs.len());
        _ = writeln!(
            text,
            "\nidle time-out {} us, {} items a run, {runs} fresh processes a row: medians (min..max)\n",
            self.timeout_us, self.items
        );
        _ = writeln!(
            text,
            "{:<16} {:>5}  {:>14}  {:>14}  {:>16}  {:>16}  {:>14}  recordings",
            "variant", "floor", "stranded", "held", "held, ms", "longest wait, ms", "culled"
        );
        for row in &self.rows {
            let show = |Spread { median, min, max }: Spread| format!("{median:.0} ({min:.0}..{max:.0})");
            let files = row.recordings.iter().map(|(file, of)| format!("{of}: {}", file.display()));
            _ = writeln!(
                text,
                "{:<16} {:>5}  {:>14}  {:>14}  {:>16}  {:>16}  {:>14}  {}",
                row.variant,
                row.floor,
                show(row.stranded),
                show(row.held),
                show(row.held_ms_longest),
                show(row.wait_ms_longest),
                show(row.culled),
                files.collect::<Vec<_>>().join(", "),
            );
        }
        for LeftOut { variant, reason } in &self.left_out {
            _ = writeln!(text, "{variant}: not run: {reason}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(variant: Variant, floor: u32, found: &[(u32, u32)]) -> Row {
        let measured = |&(stranded, held)| Some(Measured { stranded, held, ..Measured::default() });
        Row::new((variant, floor), &found.iter().map(measured).collect::<Vec<_>>()).expect("runs")
    }

    #[test]
    fn a_stranded_item_is_right_only_where_the_search_has_one() {
        let holds = |row: Row| judge(&[row]).iter().map(|verdict| verdict.holds).collect::<Vec<_>>();
        assert_eq!(holds(row(Variant::WakeUnderLock, 0, &[(3, 0), (1, 0)])), [true]);
        assert_eq!(holds(row(Variant::WakeUnderLock, 0, &[(0, 0)])), [false]);
        assert_eq!(holds(row(Variant::DeferredOwn, 2, &[(0, 1), (1, 1), (0, 1)])), [false, true]);
        assert_eq!(holds(row(Variant::CmwqCoalesce, 2, &[(0, 0), (0, 0)])), [true, false]);
    }
}
