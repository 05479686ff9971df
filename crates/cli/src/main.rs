//! `cmwq`: looks at machines, measures work queues on them, and checks their protocols.
#![forbid(unsafe_code)]

mod bench;
mod check;
mod output;
mod replay;
mod source;
mod topo;

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use output::Failure;

/// Kernel-style work queues for user-space programs: tools.
#[derive(Parser)]
#[command(name = "cmwq", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Topo(topo::Arguments),
    Bench(bench::Arguments),
    Check(check::Arguments),
    Replay(replay::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::try_parse() {
        Ok(arguments) => run(&arguments.command),
        Err(error) => refuse(&error),
    };
    match result {
        Ok(status) => status,
        Err(failure) => failure.report(),
    }
}

fn run(command: &Command) -> Result<ExitCode, Failure> {
    match command {
        Command::Topo(arguments) => topo::run(arguments).map(|()| ExitCode::SUCCESS),
        Command::Bench(arguments) => bench::run(arguments).map(|()| ExitCode::SUCCESS),
        Command::Check(arguments) => check::run(arguments).map(check::Outcome::into_status),
        Command::Replay(arguments) => replay::run(arguments),
    }
}

/// A bad value is named in one line; everything else is left to the parser, which ends the process.
fn refuse(error: &clap::Error) -> Result<ExitCode, Failure> {
    if !matches!(error.kind(), ErrorKind::ValueValidation | ErrorKind::InvalidValue) {
        error.exit();
    }
    let text = error.to_string();
    let lines = text.lines().map(str::trim).take_while(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join(" ");
    Err(Failure::input(line.trim_start_matches("error: ")))
}

impl Failure {
    /// Says on one line of standard error what failed. A reader who has gone away is not told.
    fn report(self) -> ExitCode {
        if !self.is_closed_pipe() {
            eprintln!("cmwq: {self}");
        }
        ExitCode::from(self.status())
    }
}
