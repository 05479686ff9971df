//! Small text files of a tree, read with suspicion: bounded, never blocking, every oddity noted by
//! its path.

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::cpu_set::{CpuSet, ParseCpuSetError};
use super::error::Ignored;

/// No file of interest is larger; `/proc/self/mountinfo` of a crowded host comes nearest.
const FILE_BYTES_MAX: usize = 8 << 20;

/// How a file spells a set of CPUs.
#[derive(Clone, Copy)]
pub(super) enum Spelling {
    List,
    Mask,
}

/// A reader of files below one root, and its notes on what it passed over.
#[derive(Debug, Default)]
pub(super) struct Files {
    ignored: Vec<Ignored>,
}

impl Files {
    pub(super) fn note(&mut self, path: impl Into<PathBuf>, why: impl Into<String>) {
        let note = Ignored::new(path, why);
        if self.ignored.last() != Some(&note) {
            self.ignored.push(note);
        }
    }

    pub(super) fn note_count(&self) -> usize {
        self.ignored.len()
    }

    pub(super) fn into_ignored(mut self) -> Vec<Ignored> {
        let mut seen = std::collections::HashSet::new();
        self.ignored.retain(|note| seen.insert(note.clone()));
        self.ignored
    }

    /// The text of an attribute, or `None` where there is none or it cannot be read; the latter is
    /// noted.
    pub(super) fn text(&mut self, path: &Path) -> Option<String> {
        self.noted(path, read_text(path, is_whole_attribute))
    }

    /// As `text`, for files that the kernel hands out in pieces.
    pub(super) fn long_text(&mut self, path: &Path) -> Option<String> {
        self.noted(path, read_text(path, |_, _| false))
    }

    fn noted(&mut self, path: &Path, text: io::Result<String>) -> Option<String> {
        match text {
            Ok(text) => Some(text),
            Err(error) if is_absent(&error) => None,
            Err(error) => {
                self.note(path, describe(&error));
                None
            }
        }
    }

    /// The first of several files that exists and can be understood.
    pub(super) fn cpus(&mut self, dir: &Path, names: &[(&str, Spelling)]) -> Option<CpuSet> {
        names.iter().find_map(|&(name, spelling)| {
            let path = dir.join(name);
            let text = self.text(&path)?;
            match parse(&text, spelling) {
                Ok(cpus) => Some(cpus),
                Err(error) => {
                    self.note(path, error.to_string());
                    None
                }
            }
        })
    }

    /// The numbers `N` of the entries `<prefix>N` of a directory, ascending.
    ///
    /// # Errors
    /// The directory cannot be listed.
    pub(super) fn numbered(&mut self, dir: &Path, prefix: &str) -> io::Result<Vec<u32>> {
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(dir)? {
            let name = entry?.file_name();
            let digits = name.to_str().and_then(|name| name.strip_prefix(prefix));
            let number =
                digits.and_then(|digits| digits.parse::<u32>().ok().filter(|n| n.to_string() == digits));
            numbers.extend(number);
        }
        numbers.sort_unstable();
        Ok(numbers)
    }
}

fn parse(text: &str, spelling: Spelling) -> Result<CpuSet, ParseCpuSetError> {
    match spelling {
        Spelling::List => CpuSet::parse_list(text),
        Spelling::Mask => CpuSet::parse_mask(text),
    }
}

/// Reads in pieces until there is no more, or until `is_whole` says of a piece and the size asked
/// for that nothing can follow.
fn read_text(path: &Path, is_whole: fn(&[u8], usize) -> bool) -> io::Result<String> {
    let mut options = OpenOptions::new();
    let mut file = options.read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let piece = match file.read(&mut buffer) {
            Ok(count) => &buffer[..count],
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        bytes.extend_from_slice(piece);
        if piece.is_empty() || is_whole(piece, buffer.len()) {
            break;
        }
        if bytes.len() > FILE_BYTES_MAX {
            let why = "too large to be a description of a machine";
            return Err(io::Error::new(ErrorKind::InvalidData, why));
        }
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        io::Error::new(ErrorKind::InvalidData, format!("not text at byte {at}"))
    })
}

/// An attribute comes in one piece unless that is full; this spares the read that finds its end.
fn is_whole_attribute(piece: &[u8], asked: usize) -> bool {
    piece.len() < asked && piece.ends_with(b"\n")
}

pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The operating system's words without its number, which says nothing to a reader.
pub(super) fn describe(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_lowercase(),
        None => text,
    }
}
