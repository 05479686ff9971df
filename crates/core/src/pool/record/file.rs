//! The file of recordings: one line of text that names the format, then words, the least significant byte first.

use super::transition::Transition;
use super::words::{Reader, Words};
use core::fmt;

/// The version of the format.
pub const SCHEMA: u32 = 2;

const FORMAT: &str = "cmwq-recording";

/// What was recorded of one pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The pool's name.
    pub pool: String,
    /// Words of entries that were recorded earlier and gave way.
    pub forgotten: u64,
    /// The core before the first entry.
    pub snapshot: Vec<u64>,
    /// What followed.
    pub entries: Vec<u64>,
    /// What threads did to the pool's lock-free words, the newest of it.
    pub transitions: Vec<Transition>,
}

/// Why a file is no recording that can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileError {
    /// Its first line is another one.
    Format,
    /// It is of another version.
    Version(String),
    /// It ends too early.
    Truncated,
    /// Its words are not those that were written.
    Corrupt,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Format => write!(f, "not a recording: its first line does not begin with `{FORMAT}`"),
            FileError::Version(found) => {
                write!(f, "a recording of version {found}, and this program reads version {SCHEMA}")
            }
            FileError::Truncated => f.write_str("a recording that was cut off; record again"),
            FileError::Corrupt => f.write_str("a corrupt recording; record again"),
        }
    }
}

impl std::error::Error for FileError {}

impl Words for String {
    fn put(&self, out: &mut Vec<u64>) {
        self.bytes().collect::<Vec<u8>>().put(out);
    }
    fn get(input: &mut Reader<'_>) -> Option<Self> {
        String::from_utf8(Vec::get(input)?).ok()
    }
}

super::fields!([] Recording { pool, forgotten, snapshot, entries, transitions });

/// The recordings of an engine's pools as one file.
pub fn write(recordings: &Vec<Recording>) -> Vec<u8> {
    let mut words = Vec::new();
    recordings.put(&mut words);
    let mut file = format!("{FORMAT} {SCHEMA}\n").into_bytes();
    for word in [words.len() as u64, checksum(&words)].iter().chain(&words) {
        file.extend_from_slice(&word.to_le_bytes());
    }
    file
}

/// Reads a file of recordings.
///
/// # Errors
/// [`FileError`] says what is wrong with it.
pub fn read(file: &[u8]) -> Result<Vec<Recording>, FileError> {
    let rest = file.strip_prefix(FORMAT.as_bytes()).and_then(|rest| rest.strip_prefix(b" "));
    let rest = rest.ok_or(FileError::Format)?;
    let end = rest.iter().take(21).position(|&byte| byte == b'\n').ok_or(FileError::Format)?;
    let (version, rest) = (&rest[..end], &rest[end + 1..]);
    if version != SCHEMA.to_string().as_bytes() {
        return Err(FileError::Version(String::from_utf8_lossy(version).into_owned()));
    }
    let (words, odd) = rest.as_chunks::<8>();
    let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
    let [len, sum, words @ ..] = &words[..] else { return Err(FileError::Truncated) };
    if (words.len() as u64) < *len {
        return Err(FileError::Truncated);
    }
    if words.len() as u64 > *len || !odd.is_empty() || checksum(words) != *sum {
        return Err(FileError::Corrupt);
    }
    let mut input = Reader::new(words);
    let recordings = Words::get(&mut input).ok_or(FileError::Corrupt)?;
    if input.is_empty() { Ok(recordings) } else { Err(FileError::Corrupt) }
}

/// Tells accidents apart; anybody can compute it.
fn checksum(words: &[u64]) -> u64 {
    let mix = |sum: u64, &word: &u64| (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    words.iter().fold(0xcbf2_9ce4_8422_2325, mix)
}
