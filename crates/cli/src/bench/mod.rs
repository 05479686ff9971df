//! `cmwq bench`: measures work queues on this machine, each figure in fresh processes.

mod child;
mod figures;
mod judge;
mod machine;
mod mailbox;
mod queue;

use crate::output::Failure;

/// Measure work queues against older designs of the same, in fresh processes.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(clap::Subcommand)]
enum Bench {
    Queue(queue::Arguments),
    /// One cell of `queue`, in this process.
    #[command(hide = true)]
    QueueCell {
        /// The cell.
        cell: String,
    },
}

/// Runs the benchmark asked for.
pub(crate) fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.bench {
        Bench::Queue(arguments) => queue::run(arguments),
        Bench::QueueCell { cell } => queue::answer(cell),
    }
}
