//! A trace as a picture: time runs downwards, and each thread has a lane.

use std::fmt::Write;

use cmwq_check::kick::{Trace, Who};

/// Pixels.
const LANE: usize = 250;
const ROW: usize = 44;
const HEAD: usize = 70;
const MARGIN: usize = 40;
/// Of one character of the small print, on average.
const CHARACTER: usize = 7;

/// The picture as an SVG document.
pub(crate) fn svg(title: &str, trace: &Trace) -> String {
    let mut lanes: Vec<Who> = trace.steps.iter().map(|step| step.who).collect();
    lanes.sort_unstable();
    lanes.dedup();
    let states = MARGIN + lanes.len() * LANE;
    let longest = trace.steps.iter().map(|step| step.state.len()).max().unwrap_or(0).max(trace.first.len());
    let width = states + longest * CHARACTER + MARGIN;
    let height = HEAD + (trace.steps.len() + 2) * ROW;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         font-family=\"monospace\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{MARGIN}\" y=\"24\" font-size=\"15\">{}</text>\n",
        escape(title)
    );
    for (lane, who) in lanes.iter().enumerate() {
        let x = MARGIN + lane * LANE + 8;
        let _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"52\" font-weight=\"bold\">{}</text>\
             <line x1=\"{x}\" y1=\"60\" x2=\"{x}\" y2=\"{}\" stroke=\"#bbb\"/>",
            who.name(),
            height - ROW
        );
    }
    state(&mut svg, states, HEAD + 18, &trace.first);
    for (nth, step) in trace.steps.iter().enumerate() {
        let lane = lanes.iter().position(|who| *who == step.who).expect("each thread has a lane");
        let (x, y) = (MARGIN + lane * LANE, HEAD + (nth + 1) * ROW);
        let _ = writeln!(
            svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"28\" rx=\"4\" fill=\"#e8f0fe\" stroke=\"#4a6da7\"/>\
             <text x=\"{}\" y=\"{}\">{} {}</text>",
            LANE - 10,
            x + 6,
            y + 18,
            nth + 1,
            escape(&shortened(&step.did))
        );
        state(&mut svg, states, y + 18, &step.state);
    }
    let y = HEAD + (trace.steps.len() + 1) * ROW + 18;
    let _ = writeln!(
        svg,
        "<text x=\"{MARGIN}\" y=\"{y}\" fill=\"#b00020\" font-weight=\"bold\">{}: {}</text>\n</svg>",
        trace.property.id(),
        escape(trace.what)
    );
    svg
}

fn state(svg: &mut String, x: usize, y: usize, text: &str) {
    let _ = writeln!(svg, "<text x=\"{x}\" y=\"{y}\" fill=\"#444\">{}</text>", escape(text));
}

/// What fits into a box.
fn shortened(text: &str) -> String {
    let fits = LANE / CHARACTER - 5;
    if text.chars().count() <= fits {
        return text.to_owned();
    }
    text.chars().take(fits - 2).chain("..".chars()).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
