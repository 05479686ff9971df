//! The options of `cmwq bench cull`.

use std::path::PathBuf;
use std::time::Duration;

/// Drive the ways to pick, wake and cull workers on real threads, with an idle time-out far too short and threads
/// stopped where it matters, and look for items that are stranded or held back.
#[derive(Debug, clap::Args)]
#[command(after_help = super::document::DOCUMENT_FORM)]
pub(crate) struct Arguments {
    /// The idle time-out: a number with us, ms or s
    #[arg(long, value_name = "TIME", default_value = "2ms", value_parser = time)]
    pub(super) timeout: Duration,
    /// A design of `cmwq check kick`, or `all`
    #[arg(long, value_name = "ID", default_value = "all")]
    pub(super) variant: String,
    /// Idle workers that culling leaves; without, 0, 1 and 2
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(0..=4))]
    pub(super) floor: Option<u32>,
    /// Items of each run
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) items: u32,
    /// Fresh processes for each row
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) runs: u32,
    /// Keep the recording of the one row in FILE, whatever is found; without, recordings of what is found go to the
    /// directory for temporary files
    #[arg(long, value_name = "FILE")]
    pub(super) record: Option<PathBuf>,
    /// Judge the rows by what `cmwq check kick` finds; the exit status is 1 when one differs
    #[arg(long)]
    pub(super) judge: bool,
    /// Write a JSON document to FILE, or, if it is `-`, to standard output in place of the table
    #[arg(long, value_name = "FILE")]
    pub(super) json: Option<PathBuf>,
}

impl Arguments {
    pub(super) fn floors(&self) -> Vec<u32> {
        self.floor.map_or_else(|| vec![0, 1, 2], |floor| vec![floor])
    }
}

/// The least and the most that make sense: threads are stopped for some times as long.
const BOUNDS: [Duration; 2] = [Duration::from_micros(1), Duration::from_secs(1)];

fn time(text: &str) -> Result<Duration, String> {
    let units = [("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)];
    let parts =
        units.into_iter().find_map(|(unit, ns)| Some((text.strip_suffix(unit)?.parse::<u32>().ok()?, ns)));
    let found = parts.map(|(count, ns)| Duration::from_nanos(u64::from(count) * ns));
    let found = found.ok_or("not a whole number with us, ms or s, such as 2ms")?;
    if found < BOUNDS[0] || found > BOUNDS[1] { Err("not from 1us to 1s".into()) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_and_bounds() {
        assert_eq!(time("2ms"), Ok(Duration::from_millis(2)));
        assert_eq!(time("1s"), Ok(Duration::from_secs(1)));
        assert_eq!(time("300us"), Ok(Duration::from_micros(300)));
        for text in ["", "2", "ms", "-1ms", "0us", "2s", "1.5ms", "99999999999s"] {
            assert!(time(text).is_err(), "{text}");
        }
    }
}
