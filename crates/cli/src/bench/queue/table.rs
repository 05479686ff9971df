//! The table of `cmwq bench queue`.

use std::fmt::Write;

use super::cell::{Policy, Shape};
use super::document::{Document, Row};
use super::plan::Plan;
use crate::bench::figures::Spread;

const COLUMNS: [&str; 14] = [
    "scope",
    "shape",
    "items/s",
    "min..max",
    "p50",
    "p90",
    "p95",
    "p99",
    "trip p50",
    "trip p99",
    "CPU s/M",
    "wakes",
    "switches",
    "x under-lock: items/s, p95",
];
/// These are aligned to the left.
const TEXT_COLUMNS: usize = 2;

/// Draws the rows, a block for each policy and number of producers.
pub(super) fn of(document: &Document<'_>, plan: &Plan) -> String {
    let mut text = document.machine.headline();
    text.push('\n');
    describe(&mut text, document, plan);
    let blocks = document.rows.chunk_by(|a, b| block(a) == block(b));
    for rows in blocks {
        _ = write!(text, "\n{}\n{}", title(&rows[0]), aligned(&lines(rows)));
    }
    text
}

fn describe(text: &mut String, document: &Document<'_>, plan: &Plan) {
    for scope in &plan.scopes {
        if let Some(same) = scope.same_pods_as {
            _ = writeln!(
                text,
                "{} has the pods of {same}: run once, and the figures are the same",
                scope.scope
            );
        }
    }
    let how_long = match (document.time_ms, plan.rows.first()) {
        (Some(time), _) => format!("{time} ms"),
        (None, row) => format!("{} items a producer", row.map_or(0, |row| row.cell.items)),
    };
    let row = document.rows.first();
    let mode = row.map_or("nothing was measured", |row| match row.mode {
        super::cell::Mode::One => "one item in flight each",
        super::cell::Mode::Batch => "batches, flushed",
    });
    _ = writeln!(
        text,
        "{mode}; {} fresh processes a row, {how_long} each: medians (min..max); submit and round trip in ns",
        plan.runs
    );
}

fn block(row: &Row) -> (Policy, u32, Option<u32>) {
    (row.policy, row.producers, row.workers_max)
}

fn title(row: &Row) -> String {
    let waits = match row.policy {
        Policy::Spin => "the engine's own waits",
        Policy::Park => "every thread parks",
    };
    let workers =
        row.workers_max.map_or(String::new(), |workers| format!(", at most {workers} workers a pool"));
    let noun = if row.producers == 1 { "producer" } else { "producers" };
    format!("{waits}, {} {noun}{workers}", row.producers)
}

fn lines(rows: &[Row]) -> Vec<Vec<String>> {
    let mut lines = vec![COLUMNS.map(str::to_owned).to_vec()];
    for row in rows {
        if let Some(same) = &row.same_pods_as {
            if row.shape == Shape::Inbox {
                lines.push(vec![row.scope.clone(), format!("as {same}")]);
            }
            continue;
        }
        lines.push(line(row));
    }
    lines
}

fn line(row: &Row) -> Vec<String> {
    let (figures, submit) = (&row.figures, &row.figures.submit_ns);
    let trip = figures.round_trip_ns.as_ref();
    let ns = |value: f64| format!("{value:.0}");
    let ratios = row.to_under_lock.as_ref().filter(|_| row.shape != Shape::UnderLock);
    vec![
        if row.shape.is_of_engine() { row.scope.clone() } else { "-".to_owned() },
        row.shape.name().to_owned(),
        short(figures.items_per_s),
        format!("{}..{}", short(row.min.items_per_s), short(row.max.items_per_s)),
        ns(submit.p50),
        ns(submit.p90),
        ns(submit.p95),
        ns(submit.p99),
        trip.map_or("-".to_owned(), |trip| ns(trip.p50)),
        trip.map_or("-".to_owned(), |trip| ns(trip.p99)),
        format!("{:.2}", figures.cpu_s_per_million),
        format!("{:.3}", figures.wakes_per_item),
        format!("{:.3}", figures.switches_per_item),
        ratios.map_or(String::new(), |r| format!("{}, {}", ratio(&r.items_per_s), ratio(&r.submit_p95))),
    ]
}

fn ratio(spread: &Spread) -> String {
    format!("{:.2} ({:.2}..{:.2})", spread.median, spread.min, spread.max)
}

/// Three digits or so.
fn short(number: f64) -> String {
    match number {
        _ if number >= 9.995e5 => format!("{:.2}M", number / 1e6),
        _ if number >= 1e4 => format!("{:.0}k", number / 1e3),
        _ => format!("{number:.0}"),
    }
}

fn aligned(lines: &[Vec<String>]) -> String {
    let width =
        |column: usize| lines.iter().filter_map(|line| line.get(column)).map(String::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..COLUMNS.len()).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let mut drawn = String::new();
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let gap = if column == 0 { "" } else { "  " };
            _ = match column < TEXT_COLUMNS {
                true => write!(drawn, "{gap}{cell:<width$}"),
                false => write!(drawn, "{gap}{cell:>width$}"),
            };
        }
        _ = writeln!(text, "{}", drawn.trim_end());
    }
    text
}
