//! A path as text: one line a step, who did what and what came of it.

use super::config::Config;
use super::explore::Violation;
use super::model::Act;
use super::state::{Pc, Seam, Stage, Thread, Who};
use cmwq_core::id::Sleeper;
use cmwq_core::pool::InboxWord;
use std::fmt::Write;

impl Violation {
    /// The path, one line a step.
    pub fn trace(&self, config: &Config) -> String {
        let mut text = String::new();
        for (nth, (seam, act)) in self.path.iter().enumerate() {
            if nth == 0 {
                let _ = writeln!(text, "{:>3}  {:<46} {}", "", "at first", seam.line(config));
            }
            let (Some(act), Some((next, _))) = (act, self.path.get(nth + 1)) else { continue };
            let _ =
                writeln!(text, "{:>3}  {:<46} {}", nth + 1, seam.step_name(config, *act), next.line(config));
        }
        let _ = writeln!(text, "     {}: {}", self.rule.name(), self.what);
        text
    }
}

fn sleeper_name(sleeper: Sleeper) -> String {
    match sleeper {
        Sleeper::Manager => "m".into(),
        Sleeper::Worker(w) => w.to_string(),
    }
}

impl Seam {
    /// What a thread is about to do.
    fn step_name(&self, config: &Config, act: Act) -> String {
        let Act::Step(who, choice) = act else { return "the clock moves on".into() };
        let thread = &self.threads[self.index(config, who)];
        let name = match who {
            Who::Submitter(at) => format!("s{at}"),
            Who::Worker(at) => format!("w{at}"),
            Who::Manager => "m".into(),
            Who::Culler => "culler".into(),
            Who::Canceller => "canceller".into(),
            Who::Closer => "closer".into(),
        };
        let item = thread.item;
        let what = match thread.pc {
            Pc::Gone => "has ended".into(),
            Pc::Wakes => {
                let owed = thread.owes[0];
                let verb = match owed.stage {
                    Stage::Call => "leaves word for",
                    Stage::Claim => "claims the wake-up of",
                    Stage::Issue(_) => "issues the wake-up of",
                    Stage::Mark(_) => "marks issued the wake-up of",
                };
                format!("{verb} {}", sleeper_name(owed.sleeper))
            }
            Pc::Claim => match who {
                Who::Submitter(at) => {
                    format!("claims i{}", config.submitters[usize::from(at)][usize::from(thread.at)])
                }
                _ => "claims the cancelled item".into(),
            },
            Pc::HandOver => format!("hands i{item} over"),
            Pc::Push => format!("pushes i{item}"),
            Pc::Recall(purpose, _) => format!("recalls a batch, then {}", purpose.name()),
            Pc::StandBy(sleeper) => format!("sets the mark of {}", sleeper_name(sleeper)),
            Pc::Retake => "takes the inbox again".into(),
            Pc::LateAnnounce | Pc::Announce => "announces its sleep".into(),
            Pc::Top(came) => format!("locks, {}", came.name()),
            Pc::Take => "takes the next place".into(),
            Pc::Start => format!("starts i{item}"),
            Pc::Body => format!("goes on in i{item}"),
            Pc::Blocking => format!("locks to block in i{item}"),
            Pc::Blocked => format!("unblocks in i{item}"),
            Pc::Finish => format!("finishes i{item}"),
            Pc::Creating(slot) if choice == 0 => format!("makes w{slot}"),
            Pc::Creating(slot) => format!("fails to make w{slot}"),
            Pc::Report(slot, made) => {
                format!("locks, reports w{slot} {}", if made { "made" } else { "not made" })
            }
            Pc::Enter(_) => "goes to sleep".into(),
            Pc::Asleep(_) if choice == 1 => "times out".into(),
            Pc::Asleep(_) => "is woken".into(),
            Pc::ManagerLook => "locks, looks".into(),
            Pc::Cull => "locks, culls".into(),
            Pc::Cancel => "locks, takes the inbox".into(),
            Pc::Release => "releases the cancelled item".into(),
            Pc::Lease => "leaves a lease".into(),
            Pc::Poll if choice == 0 => "polls".into(),
            Pc::Poll => "polls no longer".into(),
            Pc::TakeOne => "takes the one item".into(),
            Pc::Record => format!("records i{item}"),
            Pc::Close => "locks, closes".into(),
        };
        format!("{name} {what}")
    }

    /// The state in a line: item words, inbox, worklist, lock, wake words and workers.
    fn line(&self, config: &Config) -> String {
        let mut line = String::new();
        for item in 0..config.items.len() {
            let word = self.words[item];
            let flags = [(word.is_pending(), 'P'), (word.is_running(), 'R'), (word.is_handed(), 'H')];
            let flags: String = flags.iter().filter(|(set, _)| *set).map(|(_, c)| *c).collect();
            let _ = write!(line, "i{item}:{:<2}", if flags.is_empty() { "-" } else { &flags });
            line.push(' ');
        }
        let inbox = match self.inbox {
            InboxWord::Empty => "empty".into(),
            InboxWord::StandBy(sleeper) => format!("standby({})", sleeper_name(sleeper)),
            InboxWord::Leased(pwq) => format!("leased({pwq})"),
            InboxWord::One(item) => format!("one({item})"),
            InboxWord::List(_) => format!("{:?}", self.inbox_items().collect::<Vec<_>>()),
        };
        let worklist: Vec<u8> = self.core.worklist().iter(&self.memory).collect();
        let lock = self.lock.map_or("free".into(), |who| format!("{who:?}"));
        let _ = write!(
            line,
            "| inbox {inbox} | worklist {worklist:?} | lock {lock} | m:{}",
            wake_name(self, config, Who::Manager)
        );
        for (at, worker) in self.core.workers().iter().enumerate() {
            let who = Who::Worker(at as u8);
            let word = wake_name(self, config, who);
            let batch = self.memory.batches[at];
            let blocked = if worker.blocked { " blocked" } else { "" };
            let _ = write!(line, " w{at}:{:?}{blocked},{word}", worker.state);
            let thread: &Thread = &self.threads[self.index(config, who)];
            if thread.places.as_slice().len() > 1 {
                let places = thread.places.as_slice();
                let _ = write!(line, ",batch {:?}", places.get(batch.next()..batch.end()).unwrap_or(&[]));
            }
        }
        line
    }
}

fn wake_name(seam: &Seam, config: &Config, who: Who) -> &'static str {
    let thread = &seam.threads[seam.index(config, who)];
    match thread.word.bits() & 3 {
        0 => "run",
        1 => "parked",
        2 => "claimed",
        _ => "issued",
    }
}
