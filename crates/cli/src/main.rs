//! `cmwq`: looks at machines and measures work queues on them.
#![forbid(unsafe_code)]

mod check;
mod output;
mod topo;

use std::process::ExitCode;

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
    Check(check::Arguments),
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Command::Topo(arguments) => topo::run(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Check(arguments) => check::run(&arguments).map(check::Outcome::into_status),
    };
    match result {
        Ok(status) => status,
        Err(failure) => failure.report(),
    }
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
