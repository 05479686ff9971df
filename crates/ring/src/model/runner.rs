//! Running broken variants: each in a child process, since a deadlock of the model aborts.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a broken variant may take to be caught.
const LIMIT: Duration = Duration::from_secs(120);
/// The exit code of a child that does not understand what to break.
pub(super) const NO_SITE: i32 = 97;

/// Where a variant is broken.
#[derive(Clone, Copy, Debug)]
pub enum Broken {
    /// One operation of a source of the package, and what it does instead: `relaxed`, `acquire`, `release` (the
    /// ordering), `look` (does not write what is there already), `store` (does not look, or not in one step),
    /// `mask=N` (writes only these bits).
    Site {
        /// The source, below `src`.
        file: &'static str,
        /// The function that contains the operation, or that calls the loop that contains it.
        function: &'static str,
        /// `load`, `store`, `swap`, `compare_exchange`, `fetch_add`, ...
        operation: &'static str,
        /// What it does instead.
        effect: &'static str,
    },
    /// The steps of a user of the driver, as written in the test.
    Steps,
}

/// A deliberately broken variant.
#[derive(Clone, Copy, Debug)]
pub struct Mutant {
    /// Its name.
    pub id: &'static str,
    /// Where it is broken.
    pub broken: Broken,
    /// What is broken.
    pub what: &'static str,
    /// The test that catches it.
    pub test: &'static str,
}

/// Runs each variant and fails unless all are caught. `root` is the directory of the package.
pub fn all_are_caught(root: &str, mutants: &[Mutant]) {
    let mut missed = Vec::new();
    for mutant in mutants {
        let since = Instant::now();
        let outcome = run(Path::new(root), mutant);
        let place = match mutant.broken {
            Broken::Site { file, function, operation, effect } => {
                format!("{file} {function} {operation} -> {effect}")
            }
            Broken::Steps => "steps of the user".to_owned(),
        };
        let (verdict, how) = match &outcome {
            Ok(how) => ("caught", how),
            Err(why) => ("MISSED", why),
        };
        let took = since.elapsed().as_secs_f32();
        println!(
            "{verdict} | {} | {place} | {} | {} | {took:.1} s | {how}",
            mutant.id, mutant.what, mutant.test
        );
        if outcome.is_err() {
            missed.push(mutant.id);
        }
    }
    assert!(missed.is_empty(), "broken variants that no test noticed: {missed:?}");
}

/// How the variant was caught, or why that does not count.
fn run(root: &Path, mutant: &Mutant) -> Result<String, String> {
    let binary = env::current_exe().map_err(|error| error.to_string())?;
    let mut command = Command::new(binary);
    command.args(["--exact", mutant.test, "--nocapture", "--test-threads=1"]);
    command.env("RUST_BACKTRACE", "0").stdin(Stdio::null()).stdout(Stdio::null());
    command.env("CMWQ_MUTANT", mutant.id);
    if let Broken::Site { file, function, operation, effect } = mutant.broken {
        let source = fs::read_to_string(root.join("src").join(file)).map_err(|error| error.to_string())?;
        let (from, to) = lines_of(&source, function).ok_or("no such function")?;
        command.env("CMWQ_MUTANT_SITE", format!("{file}:{from}:{to}:{operation}:{effect}"));
    }
    let log = env::temp_dir().join(format!("cmwq-mutant-{}-{}", std::process::id(), mutant.id));
    let file = fs::File::create(&log).map_err(|error| error.to_string())?;
    let status = wait(command.stderr(file));
    let said = fs::read_to_string(&log).unwrap_or_default();
    let _ = fs::remove_file(&log);
    match status? {
        Some(0) => Err("the test passed".to_owned()),
        Some(NO_SITE) => Err(said),
        _ => complaint(&said),
    }
}

/// The exit code, none when a signal ended the child.
fn wait(command: &mut Command) -> Result<Option<i32>, String> {
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let since = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            return Ok(status.code());
        }
        if since.elapsed() > LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            return Err("the test did not end in time".to_owned());
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// The first complaint of a failed test. That the model grew too large is none.
fn complaint(said: &str) -> Result<String, String> {
    let mut lines = said.lines().skip_while(|line| !line.contains("panicked at")).skip(1);
    let first = lines.next().unwrap_or("no message").chars().take(90).collect::<String>();
    if first.contains("exceeded maximum") || first.contains("internal bug") { Err(first) } else { Ok(first) }
}

/// First and last line of a function, by the indentation that rustfmt gives it.
fn lines_of(source: &str, function: &str) -> Option<(usize, usize)> {
    let (paren, generic) = (format!("fn {function}("), format!("fn {function}<"));
    let mut lines = source.lines().enumerate();
    let (first, head) = lines.find(|(_, line)| line.contains(&paren) || line.contains(&generic))?;
    let indent = head.len() - head.trim_start().len();
    let end = format!("{}}}", &head[..indent]);
    let (last, _) = lines.find(|(_, line)| **line == end)?;
    Some((first + 1, last + 1))
}
