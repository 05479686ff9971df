//! The options of `cmwq bench ring`.

use std::path::PathBuf;

/// Post messages from several threads to one receiver: over the completion ring (`ring`), over a deque under a mutex
/// with an eventfd, from which messages are taken one by one (`mutex`) or all at once (`mutex-swap`), over
/// crossbeam's bounded channel (`crossbeam`), and from io_uring to io_uring (`msg-ring`).
#[derive(Debug, clap::Args)]
#[command(after_help = super::document::DOCUMENT_FORM)]
pub(crate) struct Arguments {
    /// Threads that post, a list
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values = ["1", "2", "4", "8"],
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(super) producers: Vec<u32>,
    /// How many messages the receiver waits for, a list; more than one goes with lazy posts
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_values = ["1", "16"],
          value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(super) need: Vec<u32>,
    /// Messages of each producer; without it each cell runs for a fraction of a second
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    pub(super) items: Option<u64>,
    /// Instead of throughput, measure how late a real-time message is that is posted beside threads of low priority,
    /// which bursts of a high one stop in their posts; for four rules of who wakes the receiver (`cmwq`, `credit`,
    /// `helped-futex`, `msg-ring`). Where SCHED_FIFO is not permitted it says so, and measures throughput
    #[arg(long)]
    pub(super) rt: bool,
    /// With --rt: messages of the real-time sender, one each 500 us, in a row; shared among the runs
    #[arg(long, value_name = "N", default_value_t = 30_000,
          value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    pub(super) rt_messages: u64,
    /// With --rt: how long a low poster's step from taking on a wake-up to issuing it is stretched, besides not at all
    #[arg(long, value_name = "US", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(super) window_us: u64,
    /// Fresh processes for each row
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) runs: u32,
    /// Judge the figures; the exit status is 1 when one is missed
    #[arg(long)]
    pub(super) judge: bool,
    /// Write a JSON document to FILE, or, if it is `-`, to standard output in place of the table
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
}
