//! Atomic read-modify-writes of an item, from its submission to the end of its flush.

use serde::{Deserialize, Serialize};

use super::cell::{Case, Cell, Design};
use super::inline;
use super::subject::Subject;
use crate::bench::stepped;
use crate::output::Failure;

/// Rounds before those that are counted, so that lists are where they are to be.
const ROUNDS_BEFORE: u32 = 3;
/// Flushes or submissions that are counted together.
const BATCH: u32 = 4;

/// What is counted in one process.
#[derive(Serialize, Deserialize)]
pub(super) struct Counted {
    cell: Cell,
    design: Design,
}

/// Read-modify-writes an item, or a flush where there are no items; `None` where workers run them.
pub(super) fn an_item(cell: &Cell, design: Design) -> Option<Result<f64, String>> {
    if cell.case.has_workers() || cell.threads > 1 {
        return None;
    }
    let counted = stepped::count("flush-counted", &Counted { cell: cell.clone(), design });
    Some(counted.map(|counts| counts.atomics as f64 / f64::from(items(cell))))
}

fn items(cell: &Cell) -> u32 {
    match cell.case {
        Case::Idle | Case::Submission => BATCH,
        case => case.items(cell.cpus),
    }
}

/// In the fresh process.
pub(super) fn answer(counted: &Counted) -> Result<(), Failure> {
    let Counted { cell, design } = counted;
    let subject = Subject::new(*design, cell, inline::items(cell))?;
    let round = || _ = inline::round(cell, &subject, 0, BATCH);
    (0..ROUNDS_BEFORE).for_each(|_| round());
    stepped::counted(round).map_err(Failure::input)
}
