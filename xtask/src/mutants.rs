//! Broken variants of our own code, each of which some rung of the tests has to notice.
//!
//! Works in a copy below the target directory, so that the tree is never touched.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;

const TABLE: &str = "xtask/mutants.toml";
/// A variant that hangs is noticed by its hanging.
const TIME_MAX: Duration = Duration::from_secs(300);

#[derive(Deserialize)]
struct Table {
    rungs: BTreeMap<String, Vec<String>>,
    mutant: Vec<Mutant>,
}

#[derive(Deserialize)]
struct Mutant {
    id: String,
    file: String,
    what: String,
    rung: String,
    from: String,
    to: String,
}

/// How a rung ended.
#[derive(Debug, PartialEq, Eq)]
enum Ending {
    Passed,
    Failed,
    TimeOut,
    /// Nothing was tested.
    DoesNotBuild,
}

/// Breaks what the table says, or only the ids named, and answers how many were not noticed.
///
/// # Errors
/// The reason why nothing could be judged: an unknown id, a source that the table does not fit, a tree that does not
/// pass as it is.
pub(crate) fn run(ids: &[&str]) -> Result<usize, String> {
    let table = read_table(Path::new(TABLE))?;
    let unknown = ids.iter().find(|id| table.mutant.iter().all(|mutant| mutant.id != **id));
    if let Some(id) = unknown {
        return Err(format!("no broken variant {id:?}; {TABLE} has the ids"));
    }
    let chosen: Vec<&Mutant> =
        table.mutant.iter().filter(|m| ids.is_empty() || ids.contains(&m.id.as_str())).collect();
    for mutant in &chosen {
        let source = read(Path::new(&mutant.file))?;
        broken(mutant, &source)?;
    }
    let scratch = copy()?;
    for (rung, arguments) in &table.rungs {
        if chosen.iter().any(|mutant| mutant.rung == *rung) {
            let ending = climb(&scratch, arguments)?;
            if ending != Ending::Passed {
                return Err(format!("the tree as it is does not pass rung {rung}: {ending:?}"));
            }
        }
    }
    println!("{:<26} {:<9} {:<10} {:>7}  what is broken, and where", "id", "rung", "outcome", "seconds");
    let mut survivors = 0;
    for mutant in chosen {
        survivors += usize::from(!is_caught(&scratch, mutant, &table.rungs[&mutant.rung])?);
    }
    println!("{survivors} not noticed");
    Ok(survivors)
}

fn is_caught(scratch: &Path, mutant: &Mutant, rung: &[String]) -> Result<bool, String> {
    let path = scratch.join(&mutant.file);
    let source = read(&path)?;
    write(&path, &broken(mutant, &source)?)?;
    let begin = Instant::now();
    let ending = climb(scratch, rung);
    write(&path, &source)?;
    let (outcome, caught) = match ending? {
        Ending::Failed => ("caught", true),
        Ending::TimeOut => ("caught: hangs", true),
        Ending::Passed => ("SURVIVED", false),
        Ending::DoesNotBuild => ("NO BUILD", false),
    };
    let Mutant { id, file, what, rung, .. } = mutant;
    println!("{id:<26} {rung:<9} {outcome:<10} {:>7.1}  {what} ({file})", begin.elapsed().as_secs_f64());
    if caught {
        noticed(scratch).iter().for_each(|line| println!("{:<26} {line}", ""));
    }
    Ok(caught)
}

/// What the last run of a rung said of when it noticed.
fn noticed(scratch: &Path) -> Vec<String> {
    let said = fs::read(said_at(scratch)).unwrap_or_default();
    let said = String::from_utf8_lossy(&said);
    said.lines().filter(|line| line.contains(": noticed in ")).map(str::to_owned).collect()
}

/// Where the error output of a rung goes.
fn said_at(scratch: &Path) -> PathBuf {
    scratch.with_file_name("mutants-said")
}

fn read_table(path: &Path) -> Result<Table, String> {
    let table: Table =
        toml::from_str(&read(path)?).map_err(|error| format!("{}: {error}", path.display()))?;
    for mutant in &table.mutant {
        if !table.rungs.contains_key(&mutant.rung) {
            return Err(format!(
                "{}: {} names the unknown rung {:?}",
                path.display(),
                mutant.id,
                mutant.rung
            ));
        }
    }
    Ok(table)
}

/// The source with its one place replaced.
fn broken(mutant: &Mutant, source: &str) -> Result<String, String> {
    match source.matches(&mutant.from).count() {
        1 => Ok(source.replacen(&mutant.from, &mutant.to, 1)),
        count => Err(format!("{TABLE}: what {} breaks stands {count} times in {}", mutant.id, mutant.file)),
    }
}

/// Runs a rung: first its build, so that a variant that does not build is not taken for one that was noticed.
fn climb(scratch: &Path, arguments: &[String]) -> Result<Ending, String> {
    let at = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let mut build: Vec<&str> = arguments[..at].iter().map(String::as_str).collect();
    if build[0] == "test" {
        build.push("--no-run")
    } else {
        build[0] = "build"
    }
    let build = build.into_iter().map(str::to_owned).collect::<Vec<_>>();
    if finish(scratch, &build)? != Ending::Passed {
        return Ok(Ending::DoesNotBuild);
    }
    finish(scratch, arguments)
}

fn finish(scratch: &Path, arguments: &[String]) -> Result<Ending, String> {
    use std::os::unix::process::CommandExt;
    let said = said_at(scratch);
    let said = fs::File::create(&said).map_err(|error| format!("{}: {error}", said.display()))?;
    let mut child = Command::new("cargo")
        .args(arguments)
        .current_dir(scratch)
        .env("CARGO_TARGET_DIR", scratch.with_file_name("mutants-target"))
        .stdout(Stdio::null())
        .stderr(said)
        .process_group(0)
        .spawn()
        .map_err(|error| format!("cargo: {error}"))?;
    let begin = Instant::now();
    loop {
        match child.try_wait().map_err(|error| format!("cargo: {error}"))? {
            Some(status) if status.success() => return Ok(Ending::Passed),
            Some(_) => return Ok(Ending::Failed),
            None if begin.elapsed() > TIME_MAX => break,
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    }
    // The test is a child of cargo: the whole group goes.
    let group = format!("-{}", child.id());
    let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
    child.wait().map_err(|error| format!("cargo: {error}"))?;
    Ok(Ending::TimeOut)
}

/// Copies what is in the tree and not ignored. What is there and the same stays, for the sake of incremental builds.
fn copy() -> Result<PathBuf, String> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let scratch = std::path::absolute(target.join("mutants")).map_err(|error| error.to_string())?;
    let listed =
        Command::new("git").args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).output();
    let listed = listed.map_err(|error| format!("git: {error}"))?;
    let names = String::from_utf8(listed.stdout).map_err(|error| format!("git: {error}"))?;
    for name in names.split_terminator('\0') {
        let Ok(source) = fs::read(name) else { continue };
        let to = scratch.join(name);
        if fs::read(&to).is_ok_and(|found| found == source) {
            continue;
        }
        let parent = to.parent().ok_or("a file without a directory")?;
        fs::create_dir_all(parent).map_err(|error| format!("{}: {error}", parent.display()))?;
        fs::write(&to, source).map_err(|error| format!("{}: {error}", to.display()))?;
    }
    Ok(scratch)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_fits_its_source_and_has_its_own_id() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace");
        let table = read_table(&root.join(TABLE)).expect("a table");
        assert!(table.mutant.len() >= 12);
        for (at, mutant) in table.mutant.iter().enumerate() {
            let source = read(&root.join(&mutant.file)).expect("a source");
            assert_ne!(broken(mutant, &source).expect("it fits"), source);
            assert!(table.mutant[..at].iter().all(|other| other.id != mutant.id), "{} twice", mutant.id);
        }
    }
}
