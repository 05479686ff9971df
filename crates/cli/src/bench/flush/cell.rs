//! What is measured, and what one process finds.

use serde::{Deserialize, Serialize};

/// What flushes, or, in the cases of submissions, what counts items for flushes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Design {
    Walk,
    Active,
    Cmwq,
    /// Nothing is counted.
    None,
}

impl Design {
    pub(super) fn name(self) -> &'static str {
        match self {
            Design::Walk => "walk",
            Design::Active => "active",
            Design::Cmwq => "cmwq",
            Design::None => "none",
        }
    }
}

/// What is done again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Case {
    Idle,
    OneActive,
    #[serde(rename = "queue+flush")]
    QueueFlush,
    #[serde(rename = "queue+flush-inline")]
    QueueFlushInline,
    #[serde(rename = "queue+flush-inline-cold")]
    QueueFlushCold,
    DenseInside,
    DenseBefore,
    DenseWorkers,
    Submission,
    SubmissionBatch,
    UnderLoad,
}

impl Case {
    /// In the order of the table; those with any number of threads are measured with each that is asked for.
    pub(super) const ALL: [Case; 11] = [
        Case::Idle,
        Case::OneActive,
        Case::QueueFlush,
        Case::QueueFlushInline,
        Case::QueueFlushCold,
        Case::DenseInside,
        Case::DenseBefore,
        Case::DenseWorkers,
        Case::Submission,
        Case::SubmissionBatch,
        Case::UnderLoad,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Case::Idle => "idle",
            Case::OneActive => "one-active",
            Case::QueueFlush => "queue+flush",
            Case::QueueFlushInline => "queue+flush-inline",
            Case::QueueFlushCold => "queue+flush-inline-cold",
            Case::DenseInside => "dense-inside",
            Case::DenseBefore => "dense-before",
            Case::DenseWorkers => "dense-workers",
            Case::Submission => "submission",
            Case::SubmissionBatch => "submission-batch",
            Case::UnderLoad => "under-load",
        }
    }

    pub(super) fn designs(self) -> &'static [Design] {
        match self {
            Case::Submission | Case::SubmissionBatch => {
                &[Design::Walk, Design::Active, Design::Cmwq, Design::None]
            }
            // A submission that finds its item pending has no colour to give back.
            Case::UnderLoad => &[Design::Cmwq],
            _ => &[Design::Walk, Design::Active, Design::Cmwq],
        }
    }

    /// Whether it is measured with several numbers of threads.
    pub(super) fn has_threads(self) -> bool {
        matches!(self, Case::QueueFlush | Case::QueueFlushInline)
    }

    /// Whether items are run by workers.
    pub(super) fn has_workers(self) -> bool {
        matches!(self, Case::QueueFlush | Case::DenseWorkers | Case::UnderLoad)
    }

    /// Items of a round of one thread.
    pub(super) fn items(self, cpus: u32) -> u32 {
        match self {
            Case::Idle | Case::UnderLoad => 0,
            Case::DenseInside | Case::DenseBefore | Case::DenseWorkers => cpus,
            Case::SubmissionBatch => BATCH,
            _ => 1,
        }
    }
}

/// Items of one pwq that are queued before any of them runs.
const BATCH: u32 = 64;

/// One case on one machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Cell {
    pub(super) case: Case,
    pub(super) cpus: u32,
    pub(super) nodes: u32,
    pub(super) threads: u32,
    /// Time of each turn.
    pub(super) turn_ms: u64,
}

/// What one process finds of one design.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Measured {
    /// Of each turn; designs take turns.
    pub(super) per_s: Vec<f64>,
    pub(super) p50_ns: f64,
    pub(super) p99_ns: f64,
    pub(super) max_ns: f64,
    /// Flushes that returned while an item they owed had not run.
    pub(super) broken: u64,
    /// What one atomic load takes, measured in the same way (idle), or how long the queue takes to drain when nobody
    /// submits (under-load).
    pub(super) beside_ns: Option<f64>,
}
