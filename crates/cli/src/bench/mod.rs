//! `cmwq bench`: measures work queues on this machine, each figure in fresh processes.

mod child;
mod cull;
mod distance;
mod figures;
mod flush;
mod judge;
mod machine;
mod mailbox;
mod queue;
mod report;
mod ring;
mod stepped;
mod timer;

use crate::output::Failure;

/// Measure work queues against older designs of the same, in fresh processes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(clap::Subcommand)]
enum Bench {
    Cull(cull::Arguments),
    Flush(flush::Arguments),
    Queue(queue::Arguments),
    Ring(ring::Arguments),
    Timer(timer::Arguments),
    /// One row of `cull`, in this process.
    #[command(hide = true)]
    CullCell {
        /// The row.
        cell: String,
    },
    /// One row of `flush`, in this process.
    #[command(hide = true)]
    FlushCell {
        /// The row.
        cell: String,
    },
    /// One row of `flush`, once, under a counter of instructions.
    #[command(hide = true)]
    FlushCounted {
        /// The row.
        cell: String,
    },
    /// One cell of `queue`, in this process.
    #[command(hide = true)]
    QueueCell {
        /// The cell.
        cell: String,
    },
    /// One cell of `ring`, in this process.
    #[command(hide = true)]
    RingCell {
        /// The cell.
        cell: String,
    },
    /// One shape of `ring`, once, under a counter of instructions.
    #[command(hide = true)]
    RingCounted {
        /// The shape, and what is counted of it.
        cell: String,
    },
    /// One cell of `ring --rt`, in this process.
    #[command(hide = true)]
    RingRtCell {
        /// The cell.
        cell: String,
    },
    /// One row of `timer`, in this process.
    #[command(hide = true)]
    TimerCell {
        /// The row.
        cell: String,
    },
}

/// Runs the benchmark asked for.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.bench {
        Bench::Cull(arguments) => cull::run(arguments),
        Bench::CullCell { cell } => cull::answer(cell),
        Bench::Flush(arguments) => flush::run(arguments),
        Bench::FlushCell { cell } => flush::answer(cell),
        Bench::FlushCounted { cell } => flush::answer_counted(cell),
        Bench::Queue(arguments) => queue::run(arguments),
        Bench::QueueCell { cell } => queue::answer(cell),
        Bench::Ring(arguments) => ring::run(arguments),
        Bench::RingCell { cell } => ring::answer(cell),
        Bench::RingCounted { cell } => ring::answer_counted(cell),
        Bench::RingRtCell { cell } => ring::answer_rt(cell),
        Bench::Timer(arguments) => timer::run(arguments),
        Bench::TimerCell { cell } => timer::answer(cell),
    }
}
