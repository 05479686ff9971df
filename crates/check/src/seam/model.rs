//! The composition as a model of the explorer.

use super::config::{Config, ITEMS_MAX};
use super::drive::Drive;
use super::property::{Reached, Reaches, Rule};
use super::state::{Came, Memory, Owed, Pc, Purpose, Seam, Stage, Thread, Who};
use super::variant::Variant;
use crate::marks::Marks;
use crate::row::Row;
use cmwq_core::id::{Sleeper, WorkerId};
use cmwq_core::list::Items;
use cmwq_core::pool::{Actions, Event, InboxWord, PoolCore, WakeWord};
use cmwq_core::time::Tick;
use cmwq_core::work::WorkWord;
use cmwq_core::worker::State;
use stateright::{Model, Property};
use std::cell::Cell;
use std::panic;
use std::sync::Once;

/// One step of the composition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// A thread takes its next step, along this branch.
    Step(Who, u8),
    /// The clock moves past the cooling time of a failed creation.
    Clock,
}

/// One configuration under one driver.
#[derive(Debug)]
pub struct SeamModel {
    pub(super) config: Config,
    pub(super) variant: Option<Variant>,
    pub(super) reached: Reaches,
    /// Rules whose first violation has been found: the explorer keeps the last one it is told of, and the first is
    /// the
    /// shortest.
    found: Marks<Rule>,
}

impl SeamModel {
    /// A model of this configuration, broken in this way.
    pub fn new(config: Config, variant: Option<Variant>) -> SeamModel {
        SeamModel { config, variant, reached: Reaches::default(), found: Marks::default() }
    }

    fn holds(&self, rule: Rule, seam: &Seam) -> bool {
        !self.found.first(rule, || seam.check(&self.config, rule, &self.reached).is_some())
    }
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs a step whose assertions may fail, without a word about it: what failed becomes a broken rule.
fn caught(step: impl FnOnce()) -> std::thread::Result<()> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                loud(info);
            }
        }));
    });
    QUIET.set(true);
    let result = panic::catch_unwind(panic::AssertUnwindSafe(step));
    QUIET.set(false);
    result
}

macro_rules! rules {
    ($($rule:ident),*) => {
        [$((Rule::$rule, (|model: &SeamModel, seam: &Seam| model.holds(Rule::$rule, seam)) as fn(&_, &_) -> _)),*]
    };
}

macro_rules! situations {
    ($($what:ident),*) => {
        [$((Reached::$what, (|model: &SeamModel, _: &Seam| model.reached.has(Reached::$what)) as fn(&_, &_) -> _)),*]
    };
}

type Condition = fn(&SeamModel, &Seam) -> bool;

const RULES: [(Rule, Condition); 13] = rules!(
    Baton,
    Cover,
    Counts,
    Gates,
    NoOwedDies,
    Issued,
    NoDoubleRun,
    Order,
    Unlinked,
    NoStranded,
    ExactlyOnce,
    CoreAsserts,
    Held
);

const SITUATIONS: [(Reached, Condition); 38] = situations!(
    MarkReplaced,
    Withdrawn,
    StandByFailed,
    WokeItself,
    MarkedIssued,
    AwakeAlready,
    Helped,
    Spurious,
    Culled,
    Exited,
    Created,
    CreateFailed,
    CoolingDown,
    ManagerCreates,
    Watched,
    WatcherJoined,
    Recalled,
    ReportedFor,
    HeldInBatch,
    Blocked,
    Inactive,
    Activated,
    AlreadyPending,
    HandedOver,
    HandBack,
    FinisherPushes,
    Cancelled,
    CancelInactive,
    CancelHanded,
    Elsewhere,
    LeaseGranted,
    LeaseTaken,
    LeaseSecondPush,
    LeaseOtherPwq,
    LeaseDrained,
    LeaseMarked,
    Punted,
    Closed
);

impl Model for SeamModel {
    type State = Seam;
    type Action = Act;

    fn init_states(&self) -> Vec<Seam> {
        vec![Seam::boot(&self.config)]
    }

    fn actions(&self, seam: &Seam, acts: &mut Vec<Act>) {
        if seam.broken.is_some() {
            return;
        }
        for who in seam.everyone(&self.config) {
            acts.extend(seam.choices(&self.config, who).iter().map(|&choice| Act::Step(who, choice)));
        }
        if seam.now < seam.failures {
            acts.push(Act::Clock);
        }
    }

    fn next_state(&self, seam: &Seam, act: Act) -> Option<Seam> {
        let mut next = seam.clone();
        match act {
            Act::Clock => next.now = next.failures,
            Act::Step(who, choice) => {
                let step = || next.advance(&self.config, self.variant, &self.reached, who, choice);
                if caught(step).is_err() {
                    next = seam.clone();
                    next.break_rule(Rule::CoreAsserts, "an assertion failed in the next step");
                }
            }
        }
        Some(next)
    }

    fn properties(&self) -> Vec<Property<SeamModel>> {
        let always = RULES.iter().map(|&(rule, condition)| Property::always(rule.name(), condition));
        let wanted = |what: &Reached| self.config.reaches.contains(what) && self.variant.is_none();
        let situations = SITUATIONS.iter().filter(|(what, _)| wanted(what));
        let sometimes = situations.map(|&(what, condition)| Property::sometimes(what.name(), condition));
        always.chain(sometimes).collect()
    }
}

impl Seam {
    /// The pool before anything is submitted, with as many sleeping workers as the configuration says.
    pub(super) fn boot(config: &Config) -> Seam {
        let mut pwq = [0; ITEMS_MAX];
        let mut owned = 0;
        for (at, item) in config.items.iter().enumerate() {
            pwq[at] = item.pwq;
            owned |= u8::from(item.owned) << at;
        }
        let memory = Memory { pwq, owned, ..Memory::new() };
        let mut core = PoolCore::new(config.pool);
        for &max_active in config.pwqs {
            core.add_pwq(max_active);
        }
        let count = config.submitters.len() + usize::from(config.slots()) + 4;
        let mut seam = Seam {
            core,
            memory,
            words: [WorkWord::IDLE; ITEMS_MAX],
            inbox: InboxWord::StandBy(Sleeper::Manager),
            lock: None,
            threads: vec![Thread::default(); count],
            target_elsewhere: 0,
            elsewhere: 0,
            doomed: 0,
            failures_left: config.failures,
            now: 0,
            failures: 0,
            retry: false,
            due: false,
            called: false,
            order: Row::default(),
            queued: [0; ITEMS_MAX],
            ended: [0; ITEMS_MAX],
            running: [0; ITEMS_MAX],
            progress: 0,
            broken: None,
        };
        seam.boot_threads(config);
        seam.boot_workers(config);
        seam.boot_items(config);
        seam.normalise(config);
        seam
    }

    fn boot_threads(&mut self, config: &Config) {
        for (at, items) in config.submitters.iter().enumerate() {
            self.threads[at].pc = if items.is_empty() { Pc::Gone } else { Pc::Claim };
        }
        let manager = self.index(config, Who::Manager);
        self.threads[manager].pc = Pc::Asleep(false);
        self.park(manager);
        let culler = self.index(config, Who::Culler);
        self.threads[culler].pc = if config.culls > 0 { Pc::Cull } else { Pc::Gone };
        let canceller = self.index(config, Who::Canceller);
        self.threads[canceller].pc = if config.cancel.is_some() { Pc::Cancel } else { Pc::Gone };
        let closer = self.index(config, Who::Closer);
        self.threads[closer].pc = if config.closes { Pc::Close } else { Pc::Gone };
    }

    fn park(&mut self, thread: usize) {
        let word = &mut self.threads[thread].word;
        word.announce().apply(word);
    }

    /// Workers that were created one after the other and went idle when all were there.
    fn boot_workers(&mut self, config: &Config) {
        let mut actions = Actions::default();
        let mut event = |core: &mut PoolCore<u8>, memory: &mut Memory, event| {
            actions.clear();
            core.step(Tick(0), event, memory, &mut actions);
            (actions.verdict, actions.stand_by)
        };
        let workers: Vec<WorkerId> = (0..u32::from(config.workers)).map(WorkerId).collect();
        for &worker in &workers {
            let _ = event(&mut self.core, &mut self.memory, Event::ManagerLook { inbox: true });
            let _ = event(&mut self.core, &mut self.memory, Event::Created(worker));
            let _ = event(&mut self.core, &mut self.memory, Event::Started(worker));
        }
        for &worker in &workers {
            let _ = event(&mut self.core, &mut self.memory, Event::Taken);
            let _ = event(&mut self.core, &mut self.memory, Event::Look(worker));
            let (_, stand_by) = event(&mut self.core, &mut self.memory, Event::GoIdle(worker));
            if let Some(sleeper) = stand_by {
                self.inbox = InboxWord::StandBy(sleeper);
            }
            let at = self.index(config, Who::Worker(worker.0 as u8));
            self.park(at);
            self.threads[at].pc = Pc::Asleep(false);
        }
    }

    fn boot_items(&mut self, config: &Config) {
        for &item in config.preload {
            let at = usize::from(item);
            self.words[at] = WorkWord::CLAIMED;
            self.queued[at] = 1;
            self.order.push(item);
            let pushed = self.inbox.push(item, self.memory.pwq(item)).apply(&mut self.inbox);
            self.memory.next[at] = pushed.below;
            if let Some(sleeper) = pushed.wake {
                let first = &mut self.threads[0];
                first.then = first.pc;
                first.pc = Pc::Wakes;
                first.owes.push(Owed::new(sleeper, true, true));
            }
        }
    }

    /// The thread takes its next step.
    pub(super) fn advance(
        &mut self,
        config: &Config,
        variant: Option<Variant>,
        reached: &Reaches,
        who: Who,
        choice: u8,
    ) {
        let index = self.index(config, who);
        let pc = self.threads[index].pc;
        let mut drive = Drive { config, variant, reached, seam: self, who, index, choice };
        match (pc, who) {
            (Pc::Wakes, _) => drive.step_wake(),
            (Pc::Claim, Who::Submitter(at)) => drive.step_submit(config.submitters[usize::from(at)]),
            (Pc::Claim, _) => drive.step_claim(drive.cancelled(), true, Pc::Gone),
            (Pc::HandOver, _) => drive.step_hand_over(),
            (Pc::Push, _) => drive.step_push(),
            (Pc::Recall(purpose, left), _) => drive.step_recall(purpose, left),
            (Pc::StandBy(sleeper), _) => drive.step_stand_by(sleeper),
            (Pc::Retake, _) => drive.step_retake(),
            (Pc::Cull, _) => drive.step_culler(),
            (Pc::Cancel, _) => drive.step_cancel(),
            (Pc::Release, _) => drive.step_release(),
            (Pc::Close, _) => drive.step_close(),
            (pc, Who::Manager) => drive.step_manager(pc),
            (pc, _) => drive.step_worker(pc),
        }
        self.normalise(config);
    }

    /// Forgets what can make no difference: the epochs of wake words but for whether a claim is of the present one,
    /// and
    /// what a thread that has ended left behind.
    fn normalise(&mut self, config: &Config) {
        let workers = self.core.workers().len();
        for who in self.everyone(config) {
            let at = self.index(config, who);
            let sleeper = match who {
                Who::Manager => Sleeper::Manager,
                Who::Worker(w) => Sleeper::Worker(WorkerId(u32::from(w))),
                _ => continue,
            };
            let epoch = self.threads[at].word.bits() >> 2;
            self.threads[at].word = rebased(self.threads[at].word, 1);
            for owed in self.threads.iter_mut().flat_map(|t| &mut t.owes).filter(|o| o.sleeper == sleeper) {
                if let Stage::Issue(word) | Stage::Mark(word) = &mut owed.stage {
                    *word = rebased(*word, u32::from(word.bits() >> 2 == epoch));
                }
            }
            if let Who::Worker(w) = who {
                let gone =
                    usize::from(w) >= workers || self.core.workers()[usize::from(w)].state == State::Gone;
                if gone && self.threads[at].pc == Pc::Gone {
                    self.threads[at].at = 0;
                    self.threads[at].item = 0;
                }
            }
        }
    }
}

fn rebased(word: WakeWord, epoch: u32) -> WakeWord {
    WakeWord::from_bits(word.bits() & 3 | epoch << 2)
}

impl Drive<'_> {
    fn step_submit(&mut self, programme: &[u8]) {
        let at = usize::from(self.me().at);
        self.me().at += 1;
        let done = if at + 1 < programme.len() { Pc::Claim } else { Pc::Gone };
        self.step_claim(programme[at], false, done);
    }
}

impl Purpose {
    /// A word for traces.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Purpose::Look => "look",
            Purpose::Block => "block",
            Purpose::Cancel => "cancel",
            Purpose::Close => "close",
            Purpose::Cover => "cover again",
        }
    }
}

impl Came {
    /// A word for traces.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Came::Awake => "awake",
            Came::Started => "just started",
            Came::Called => "called",
            Came::TimedOut => "timed out",
        }
    }
}
