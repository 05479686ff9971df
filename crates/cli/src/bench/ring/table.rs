//! The table of `cmwq bench ring`.

use std::fmt::Write;

use super::cell::{Mode, Shape};
use super::counted::Counts;
use super::document::{Document, Ratio, Row};

const COLUMNS: [&str; 10] = [
    "shape",
    "messages/s",
    "min..max",
    "post ns",
    "p99",
    "wakes/message",
    "calls/post",
    "a take",
    "CPU s/M",
    "ring is faster: median (min..max), runs",
];
/// Of one thread alone, with what is counted.
const ALONE_COLUMNS: [&str; 10] = [
    "shape",
    "messages/s",
    "min..max",
    "post ns",
    "RMW/post",
    "calls/post",
    "RMW/taken",
    "calls/taken",
    "RMW, calls of a wake-up",
    "CPU s/M",
];

/// Draws the rows, a block for each number of producers and need.
pub(super) fn of(document: &Document<'_>) -> String {
    let mut text = document.machine.headline();
    let how_long = document.time_ms.map_or("by count".to_owned(), |time| format!("{time} ms each"));
    _ = writeln!(text, "\n{} fresh processes a row, {how_long}: medians (min..max)", document.runs);
    for skipped in &document.skipped {
        _ = writeln!(text, "skipped: {skipped}");
    }
    if let Some(why) = &document.not_counted {
        _ = writeln!(text, "not counted: {why}");
    }
    for rows in document.rows.chunk_by(|a, b| block(a) == block(b)) {
        _ = write!(text, "\n{}\n{}", title(&rows[0]), aligned(rows));
    }
    text
}

fn block(row: &Row) -> (Mode, u32, u32) {
    (row.mode, row.producers, row.need)
}

fn title(row: &Row) -> String {
    if row.mode == Mode::Alone {
        return "one thread alone: posts 64, takes 64".to_owned();
    }
    let noun = if row.producers == 1 { "producer" } else { "producers" };
    let posts =
        if row.need == 1 { "forced posts".to_owned() } else { format!("lazy posts, need {}", row.need) };
    format!("{} {noun}, {posts}", row.producers)
}

fn alone_line(row: &Row) -> [String; 10] {
    let counted = |of: fn(&Counts) -> f64| some(row.counted.as_ref().map(of), 3);
    let wake = row.counted.map(|counts| format!("{:.0}, {:.0}", counts.wake.rmw, counts.wake.calls));
    [
        row.shape.name().to_owned(),
        millions(row.figures.messages_per_s),
        format!("{}..{}", millions(row.min.messages_per_s), millions(row.max.messages_per_s)),
        format!("{:.1}", row.figures.post_ns),
        counted(|counts| counts.post.rmw),
        counted(|counts| counts.post.calls),
        counted(|counts| counts.take.rmw),
        counted(|counts| counts.take.calls),
        wake.unwrap_or_else(|| "-".to_owned()),
        format!("{:.3}", row.figures.cpu_s_per_million),
    ]
}

fn line(row: &Row) -> [String; 10] {
    let figures = &row.figures;
    let ratio = row.ring_over.filter(|_| row.shape != Shape::Ring);
    [
        row.shape.name().to_owned(),
        millions(figures.messages_per_s),
        format!("{}..{}", millions(row.min.messages_per_s), millions(row.max.messages_per_s)),
        format!("{:.1}", figures.post_ns),
        some(figures.post_p99_ns, 0),
        some(figures.wakes_per_message, 4),
        some(figures.calls_per_post, 4),
        some(figures.messages_per_take, 0),
        format!("{:.3}", figures.cpu_s_per_million),
        ratio.map_or(String::new(), |Ratio { spread, compared, .. }| {
            format!("{:.2} ({:.2}..{:.2}), {compared}", spread.median, spread.min, spread.max)
        }),
    ]
}

fn some(value: Option<f64>, decimals: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.decimals$}"))
}

fn millions(rate: f64) -> String {
    format!("{:.2}M", rate / 1e6)
}

fn aligned(rows: &[Row]) -> String {
    if rows[0].mode == Mode::Alone {
        return drawn(&ALONE_COLUMNS, rows.iter().map(alone_line));
    }
    drawn(&COLUMNS, rows.iter().map(line))
}

fn drawn<const N: usize>(titles: &[&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut lines = vec![titles.map(str::to_owned)];
    lines.extend(rows);
    let widths: Vec<usize> =
        (0..N).map(|column| lines.iter().map(|line| line[column].len()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for line in &lines {
        let mut drawn = format!("{:<width$}", line[0], width = widths[0]);
        for (cell, width) in line.iter().zip(&widths).skip(1) {
            _ = write!(drawn, "  {cell:>width$}");
        }
        _ = writeln!(text, "{}", drawn.trim_end());
    }
    text
}
