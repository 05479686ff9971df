//! House rules of the cmwq workspace, run as `cargo xtask <task>`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

mod figures;
mod mutants;
mod path;
mod tidy;

const USAGE: &str = "\
usage: cargo xtask tidy            check the house rules; one line per finding
       cargo xtask figures FILE    check that FILE holds the JSON of a benchmark run
       cargo xtask mutants [ID..]  break our code on purpose; each broken variant must be noticed
       cargo xtask path            what counting submissions adds to an item's path; needs valgrind

exit: 0 clean, 1 findings, 2 usage or nothing could be checked";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["tidy"] => tidy::run(),
        ["figures", file] => figures::run(file),
        ["mutants", ids @ ..] => mutants::run(ids),
        ["path"] => path::run(),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        _ => Err(USAGE.to_string()),
    };
    match outcome {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::from(2)
        }
    }
}
