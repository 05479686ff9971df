//! A path as text: one line a step, who did what and what came of it.

use super::explore::Violation;
use super::model::Act;
use super::scenario::Scenario;
use super::state::{At, Pc, State, Word};
use std::fmt::Write;

impl Violation {
    /// The path, one line a step.
    pub fn trace(&self) -> String {
        let scenario = &self.scenario;
        let mut text = format!("{} in {}\n", self.variant.id(), scenario.name());
        for (nth, (state, act)) in self.path.iter().enumerate() {
            if nth == 0 {
                let _ = writeln!(text, "{:>3}  {:<44} {}", "", "at first", state.line(scenario));
            }
            let (Some(act), Some((next, _))) = (act, self.path.get(nth + 1)) else { continue };
            let name = state.step_name(scenario, *act);
            let _ = writeln!(text, "{:>3}  {name:<44} {}", nth + 1, next.line(scenario));
        }
        let stopped = self.path.last().map(|(state, _)| state.stopped(scenario)).unwrap_or_default();
        let _ = writeln!(text, "     {}: {}{stopped}", self.rule.name(), self.what);
        text
    }
}

impl State {
    /// What a thread is about to do.
    fn step_name(&self, scenario: &Scenario, act: Act) -> String {
        let Act::Poster(at) = act else {
            let what = match (act, self.waiter.at) {
                (Act::Deadline, _) => "'s deadline passes",
                (_, At::Take) => " takes the list",
                (_, At::Clear(_)) => " stores the list empty",
                (_, At::Discount) => " sets the count to zero",
                (_, At::Park) => " parks",
                (_, At::SecondLook) => " looks again",
                (_, At::Enter) => " queues itself on the futex",
                (_, At::Asleep) => " wakes",
                (_, At::Unpark) => " runs",
                (_, At::Ended) => " has ended",
            };
            return format!("w{what}");
        };
        let poster = self.posters[usize::from(at)];
        let call = usize::from(poster.call);
        let post = scenario.posters[usize::from(at)][call];
        let first = scenario.message(usize::from(at), call);
        let messages: Vec<String> = (first..first + post.length).map(|m| format!("m{m}")).collect();
        let what = match poster.pc {
            Pc::Push if post.closes() => "closes the ring".into(),
            Pc::Push => {
                format!("posts {}{}", messages.join(" and "), if post.forced { ", forced" } else { "" })
            }
            Pc::Link(_) => "links what it posted".into(),
            Pc::Count => "counts what it posted".into(),
            Pc::Look => "looks at the waiter's word".into(),
            Pc::Claim => "claims the wake-up".into(),
            Pc::Issue if matches!(self.word, Word::Futex(..)) => "takes w off the futex's queue".into(),
            Pc::Issue | Pc::Wake => "issues the wake-up".into(),
            Pc::Mark => "marks it issued".into(),
        };
        format!("p{at} {what}")
    }

    /// Who has been stopped on the way to a wake-up.
    fn stopped(&self, scenario: &Scenario) -> String {
        let mut text = String::new();
        for at in (0..scenario.posters.len()).filter(|&at| !self.is_done(scenario, at)) {
            let before = match self.posters[at].pc {
                Pc::Push => continue,
                Pc::Link(_) => "linking",
                Pc::Count => "counting",
                Pc::Look => "looking",
                Pc::Claim => "claiming",
                Pc::Issue | Pc::Wake => "waking",
                Pc::Mark => "marking",
            };
            let _ = write!(text, "; p{at} stopped before {before}");
        }
        text
    }

    /// The state in a line.
    fn line(&self, scenario: &Scenario) -> String {
        let names = |messages: &[u8]| messages.iter().map(|m| format!("m{m}")).collect::<Vec<_>>().join(" ");
        let word = match self.word {
            Word::Nothing => String::new(),
            Word::Credit(credit) => format!(" credit {credit}"),
            Word::Futex(word, _) => {
                format!(" {}", ["run", "parked", "claimed", "issued"][word.bits() as usize & 3])
            }
            Word::Ring(word) if word.is_parked() => format!(" parked for {}", word.need()),
            Word::Ring(word) => {
                if word.need() > 0 {
                    " issued".into()
                } else {
                    " run".into()
                }
            }
        };
        let waiter = match self.waiter.at {
            At::Asleep if self.sleeps() => "asleep",
            At::Asleep => "woken",
            _ => "up",
        };
        let mut list = self.list(self.head).as_slice().to_vec();
        list.reverse();
        let returned: Vec<u8> = (0..scenario.messages()).filter(|m| self.returned >> m & 1 == 1).collect();
        format!(
            "| list [{}]{} | w {waiter}{word}{}{} | returned {} | got {}",
            names(&list),
            if self.head.is_forced() { " F" } else { "" },
            if self.queued { " queued" } else { "" },
            if self.token { " token" } else { "" },
            names(&returned),
            names(self.taken.as_slice()),
        )
    }
}
