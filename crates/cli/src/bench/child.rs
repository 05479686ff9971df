//! Fresh processes of this executable, each measuring one cell.
//!
//! A cell goes there as an argument and its result comes back as one line, both JSON.

use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::output::{self, Failure};

/// The line that comes back.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Reply<T> {
    Measured(T),
    Failed(String),
}

/// In the fresh process: measures the cell and prints the line.
pub(crate) fn answer<C: DeserializeOwned, T: Serialize>(
    cell: &str,
    measure: impl FnOnce(&C) -> Result<T, Failure>,
) -> Result<(), Failure> {
    let cell = serde_json::from_str(cell).map_err(Failure::input)?;
    let reply = measure(&cell).map_or_else(|failure| Reply::Failed(failure.to_string()), Reply::Measured);
    let line = serde_json::to_string(&reply).map_err(Failure::input)?;
    output::print(&format!("{line}\n"))
}

/// Measures a cell in a fresh process that gets this much time, then is killed. An error says what went wrong.
pub(crate) fn measure<C: Serialize, T: DeserializeOwned>(
    command: &str,
    cell: &C,
    limit: Duration,
) -> Result<T, String> {
    let cell = serde_json::to_string(cell).map_err(|error| error.to_string())?;
    let executable = std::env::current_exe().map_err(|error| format!("this executable: {error}"))?;
    let (output, status) = run(Command::new(executable).args(["bench", command, &cell]), limit)?;
    match serde_json::from_str(&output.out) {
        Ok(Reply::Measured(measured)) => Ok(measured),
        Ok(Reply::Failed(why)) => Err(why),
        Err(_) => {
            let said = output.error.lines().find(|line| !line.is_empty()).unwrap_or("it said nothing");
            Err(format!("the process ended with {status}: {said}"))
        }
    }
}

struct Output {
    out: String,
    error: String,
}

fn run(command: &mut Command, limit: Duration) -> Result<(Output, ExitStatus), String> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("a process cannot be started: {error}"))?;
    let received = receive(&mut child, limit);
    if received.is_err() {
        _ = child.kill();
    }
    let status = child.wait().map_err(|error| format!("the process is lost: {error}"))?;
    received.map(|output| (output, status))
}

/// Reads both streams until the process closes them.
fn receive(child: &mut Child, limit: Duration) -> Result<Output, String> {
    let (mut out, mut error) = (child.stdout.take(), child.stderr.take());
    let (sender, receiver) = mpsc::channel();
    // Detached: it ends with the process, which is killed if it does not end by itself.
    thread::spawn(move || {
        let reading = thread::spawn(move || read(&mut error));
        let out = read(&mut out);
        _ = sender.send(Output { out, error: reading.join().unwrap_or_default() });
    });
    receiver.recv_timeout(limit).map_err(|why| match why {
        RecvTimeoutError::Timeout => {
            format!("no result within {} s; the process was killed", limit.as_secs())
        }
        RecvTimeoutError::Disconnected => "the process's output cannot be read".to_owned(),
    })
}

fn read(stream: &mut Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        _ = stream.read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests;
