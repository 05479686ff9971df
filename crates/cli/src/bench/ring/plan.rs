//! Which rows there are, and in which order their cells are measured.

use super::args::Arguments;
use super::cell::{Cell, Mode, Shape};

/// All cells of one run of every row should take about this long, without the caller's `--items`.
const BUDGET_MS: u64 = 40_000;
/// What a cell takes beside its measured part.
const OVERHEAD_MS: u64 = 60;
const TIME_MS_MIN: u64 = 50;
const TIME_MS_MAX: u64 = 400;

/// What is measured.
pub(super) struct Plan {
    /// In groups whose rows are compared: the shapes at one number of producers and one need.
    pub(super) groups: Vec<Vec<Cell>>,
    pub(super) runs: usize,
}

impl Plan {
    pub(super) fn new(arguments: &Arguments) -> Plan {
        let items = arguments.items.unwrap_or(u64::MAX >> 16);
        let cell = |shape, mode, producers, need| Cell { shape, mode, producers, need, items, time_ms: None };
        let mut groups = vec![Shape::ALL.map(|shape| cell(shape, Mode::Alone, 1, 1)).to_vec()];
        for &need in &arguments.need {
            for &producers in &arguments.producers {
                // Crossbeam's receiver waits for one.
                let shapes = Shape::ALL.into_iter().filter(|shape| need == 1 || *shape != Shape::Crossbeam);
                groups.push(shapes.map(|shape| cell(shape, Mode::Stream, producers, need)).collect());
            }
        }
        let mut plan = Plan { groups, runs: arguments.runs as usize };
        if arguments.items.is_none() {
            let each = BUDGET_MS / (plan.cells() as u64).max(1);
            let time = each.saturating_sub(OVERHEAD_MS).clamp(TIME_MS_MIN, TIME_MS_MAX);
            plan.groups.iter_mut().flatten().for_each(|cell| cell.time_ms = Some(time));
        }
        plan
    }

    /// How many processes.
    pub(super) fn cells(&self) -> usize {
        self.groups.iter().map(Vec::len).sum::<usize>() * self.runs
    }

    /// The rows of a group in the order in which a run measures them: another one first in each run.
    pub(super) fn order(group: &[Cell], run: usize) -> impl Iterator<Item = usize> {
        let count = group.len();
        (0..count).map(move |index| (index + run) % count)
    }
}
