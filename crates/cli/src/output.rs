//! Where results go: text to standard output, JSON to a file that is whole or not there.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

/// Why a command ends without its result.
#[derive(Debug)]
pub(crate) struct Failure {
    text: String,
    kind: FailureKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailureKind {
    /// What was asked for makes no sense or cannot be read or written.
    Input,
    /// A figure is not what it should be, or could not be measured.
    Missed,
    /// The reader of standard output has gone.
    ClosedPipe,
}

impl Failure {
    /// A bad input, named in one line whatever the names of files contain.
    pub(crate) fn input(text: impl fmt::Display) -> Self {
        let text = text.to_string().replace(char::is_control, "?");
        Failure { text, kind: FailureKind::Input }
    }

    /// A result that is not what it should be.
    pub(crate) fn missed(text: impl fmt::Display) -> Self {
        Failure { kind: FailureKind::Missed, ..Failure::input(text) }
    }

    fn stdout(error: &io::Error) -> Self {
        let is_closed = error.kind() == ErrorKind::BrokenPipe;
        let kind = if is_closed { FailureKind::ClosedPipe } else { FailureKind::Input };
        Failure { text: format!("standard output: {error}"), kind }
    }

    fn file(path: &Path, error: &io::Error) -> Self {
        Failure::input(format!("{}: {error}; name a file in a directory that can be written", path.display()))
    }

    pub(crate) fn is_closed_pipe(&self) -> bool {
        self.kind == FailureKind::ClosedPipe
    }

    /// The exit status: 2 for a bad input, 1 for a bad result, and 0 for a reader who has seen enough.
    pub(crate) fn status(&self) -> u8 {
        match self.kind {
            FailureKind::Input => 2,
            FailureKind::Missed => 1,
            FailureKind::ClosedPipe => 0,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Where `--json` sends its document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JsonTarget {
    /// `-`: standard output, alone.
    Stdout,
    /// A file, replaced as a whole.
    File(PathBuf),
}

impl From<&Path> for JsonTarget {
    fn from(path: &Path) -> Self {
        if path == Path::new("-") { JsonTarget::Stdout } else { JsonTarget::File(path.to_owned()) }
    }
}

/// Prints text on standard output.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    written.map_err(|error| Failure::stdout(&error))
}

/// Writes one document, with a line feed at its end.
pub(crate) fn write_json(target: &JsonTarget, document: &impl Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(document).map_err(Failure::input)?;
    text.push('\n');
    match target {
        JsonTarget::Stdout => print(&text),
        JsonTarget::File(path) => replace(path, text.as_bytes()).map_err(|error| Failure::file(path, &error)),
    }
}

/// Where a document is to go, if it is asked for. See [`check_json`].
pub(crate) fn json_target(path: Option<&Path>) -> Result<Option<JsonTarget>, Failure> {
    let target = path.map(JsonTarget::from);
    target.as_ref().map_or(Ok(()), check_json)?;
    Ok(target)
}

/// Tells before the work whether its document can be written after it. Leaves nothing behind.
fn check_json(target: &JsonTarget) -> Result<(), Failure> {
    let JsonTarget::File(path) = target else { return Ok(()) };
    let checked = destination(path).and_then(|destination| match destination {
        // The reader of a pipe would take its closing for the end.
        Destination::Device(path) if is_pipe(&path) => Ok(()),
        Destination::Device(path) => OpenOptions::new().write(true).open(path).map(drop),
        Destination::File { temporary, .. } => {
            File::create_new(&temporary)?;
            fs::remove_file(temporary)
        }
    });
    checked.map_err(|error| Failure::file(path, &error))
}

fn is_pipe(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo())
}

enum Destination {
    /// Written to.
    Device(PathBuf),
    /// Replaced by renaming.
    File { path: PathBuf, temporary: PathBuf },
}

/// A regular file, or none yet, is replaced by renaming; a device or a pipe is written to.
fn destination(path: &Path) -> io::Result<Destination> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(&path) {
        Ok(found) if found.is_dir() => {
            return Err(io::Error::new(ErrorKind::IsADirectory, "is a directory"));
        }
        Ok(found) if !found.is_file() => return Ok(Destination::Device(path)),
        _ => {}
    }
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(ErrorKind::InvalidInput, "not the name of a file"));
    };
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.tmp", std::process::id()));
    let temporary = path.with_file_name(hidden);
    Ok(Destination::File { path, temporary })
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (path, temporary) = match destination(path)? {
        Destination::Device(path) => return OpenOptions::new().write(true).open(path)?.write_all(bytes),
        Destination::File { path, temporary } => (path, temporary),
    };
    let written = write_new(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        _ = fs::remove_file(&temporary);
    }
    written
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests;
