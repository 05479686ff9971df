//! What must always hold, and what must be reached.

use super::config::{Config, ITEMS_MAX};
use super::state::{Pc, Seam, Who};
use crate::marks::{Marks, marks};
use cmwq_core::id::{Sleeper, WorkerId};
use cmwq_core::pool::invariants::{Broken, Outside};

/// A property that holds in every state, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Rule {
    /// `B1 baton` of the core.
    Baton,
    /// `B2 cover` of the core.
    Cover,
    /// `B0 counts` of the core.
    Counts,
    /// `G0 gates` of the core.
    Gates,
    /// `B3 no cull of the owed` of the core.
    NoOwedDies,
    /// A wake-up marked issued has been issued.
    Issued,
    /// No item runs twice at once.
    NoDoubleRun,
    /// Items of one pwq wait in the order of their pushes, and start so where `max_active` is 1.
    Order,
    /// Who claims an item finds it linked nowhere.
    Unlinked,
    /// Whoever stops for ever: each pending item waits for one of the stopped, by a named excuse.
    NoStranded,
    /// Each claim leads to one run or one cancel.
    ExactlyOnce,
    /// No assertion of the core fails.
    CoreAsserts,
    /// No item lies in the batch of a worker that has stopped inside another item while a worker sleeps. Noted, not
    /// required: a pool that does not manage concurrency may coalesce what one lock hold claimed.
    Held,
}

impl Rule {
    /// Every rule.
    pub const ALL: [Rule; 13] = [
        Rule::Baton,
        Rule::Cover,
        Rule::Counts,
        Rule::Gates,
        Rule::NoOwedDies,
        Rule::Issued,
        Rule::NoDoubleRun,
        Rule::Order,
        Rule::Unlinked,
        Rule::NoStranded,
        Rule::ExactlyOnce,
        Rule::CoreAsserts,
        Rule::Held,
    ];

    /// Whether breaking it is wrong; else it is only noted.
    pub const fn is_required(self) -> bool {
        !matches!(self, Rule::Held)
    }

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Rule::Baton => "baton",
            Rule::Cover => "cover",
            Rule::Counts => "counts",
            Rule::Gates => "gates",
            Rule::NoOwedDies => "no-owed-dies",
            Rule::Issued => "issued",
            Rule::NoDoubleRun => "no-double-run",
            Rule::Order => "order",
            Rule::Unlinked => "unlinked",
            Rule::NoStranded => "no-stranded",
            Rule::ExactlyOnce => "exactly-once",
            Rule::CoreAsserts => "core-asserts",
            Rule::Held => "held",
        }
    }
}

macro_rules! reached {
    ($($(#[$doc:meta])* $variant:ident = $name:literal,)*) => {
        /// A situation that has to occur somewhere, lest a rule holds for want of a case.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Reached { $($(#[$doc])* $variant,)* }

        impl Reached {
            /// Every situation.
            pub const ALL: &'static [Reached] = &[$(Reached::$variant,)*];

            /// Its name in tables.
            pub const fn name(self) -> &'static str {
                match self { $(Reached::$variant => $name,)* }
            }
        }
    };
}

reached! {
    /// A push replaced a stand-by mark.
    MarkReplaced = "mark-replaced",
    /// A take withdrew a stand-by mark.
    Withdrawn = "mark-withdrawn",
    /// A stand-by mark could not be set because items had arrived.
    StandByFailed = "stand-by-failed",
    /// A worker that was about to sleep found that it had to wake itself.
    WokeItself = "woke-itself",
    /// A wake-up was marked issued.
    MarkedIssued = "marked-issued",
    /// A claim found nothing to do.
    AwakeAlready = "awake-already",
    /// A claim found the wake-up claimed and issued it too.
    Helped = "helped",
    /// The system woke a sleeper that nobody had claimed.
    Spurious = "spurious-wake",
    /// A worker was culled.
    Culled = "culled",
    /// A worker's thread ended.
    Exited = "exited",
    /// A thread was made.
    Created = "created",
    /// A thread could not be made.
    CreateFailed = "create-failed",
    /// The manager was told to come again.
    CoolingDown = "cooling-down",
    /// The manager made a worker.
    ManagerCreates = "manager-creates",
    /// A worker watched.
    Watched = "watched",
    /// A watching worker joined in.
    WatcherJoined = "watcher-joined",
    /// Items were taken back from a batch.
    Recalled = "recalled",
    /// An end was reported on behalf of the worker that had come past it.
    ReportedFor = "reported-for",
    /// An item waited in the batch of a worker that is inside another one.
    HeldInBatch = "held-in-batch",
    /// An item blocked.
    Blocked = "blocked",
    /// An item had to wait for its pwq.
    Inactive = "inactive",
    /// A waiting item became active.
    Activated = "activated",
    /// A submission found the item pending.
    AlreadyPending = "already-pending",
    /// An instance was left to the finisher.
    HandedOver = "handed-over",
    /// A hand-over came too late: the submission pushed.
    HandBack = "hand-over-late",
    /// A finisher pushed what had been handed over to it.
    FinisherPushes = "finisher-pushes",
    /// An item was cancelled.
    Cancelled = "cancelled",
    /// A waiting item was cancelled.
    CancelInactive = "cancelled-inactive",
    /// A handed-over instance was cancelled.
    CancelHanded = "cancelled-handed",
    /// A cancelled item was queued elsewhere.
    Elsewhere = "queued-elsewhere",
    /// A worker was given a lease.
    LeaseGranted = "lease-granted",
    /// An item was taken under it.
    LeaseTaken = "lease-taken",
    /// It ended by a second push.
    LeaseSecondPush = "lease-second-push",
    /// It ended by a push from another pwq.
    LeaseOtherPwq = "lease-other-pwq",
    /// It ended by a take of somebody else.
    LeaseDrained = "lease-drained",
    /// It ended by a stand-by mark.
    LeaseMarked = "lease-marked",
    /// An item was kept for the worker that is inside it.
    Punted = "punted",
    /// The pool was closed.
    Closed = "closed",
}

/// What has been reached in one exploration.
pub(super) type Reaches = Marks<Reached>;

marks!(Rule, Reached);

impl Seam {
    /// What breaks this rule in this state, if anything does.
    pub(super) fn check(&self, config: &Config, rule: Rule, reached: &Reaches) -> Option<&'static str> {
        if let Some((broken, what)) = self.broken {
            return (broken == rule).then_some(what);
        }
        let between_holds = self.lock.is_none();
        let what = |answer: Result<(), Broken>| answer.err().map(|broken| broken.what);
        match rule {
            Rule::Baton if between_holds => what(
                self.core
                    .check_baton(&Outside { inbox: self.inbox, is_woken: &|s| self.is_woken(config, s) }),
            ),
            Rule::Cover if between_holds => what(
                self.core
                    .check_cover(&Outside { inbox: self.inbox, is_woken: &|s| self.is_woken(config, s) }),
            ),
            Rule::Counts if between_holds => what(self.core.check_counts()),
            Rule::Gates if between_holds => {
                what(self.core.check_gates()).or_else(|| self.check_running(config))
            }
            Rule::NoOwedDies => what(self.core.check_no_owed_dies(&|w| self.is_owed(Sleeper::Worker(w)))),
            Rule::Issued => self.check_issued(config),
            Rule::Order if between_holds => self.check_order(),
            Rule::Unlinked => self.check_unlinked(),
            Rule::NoStranded if between_holds => self.check_stranded(config, reached),
            Rule::Held if between_holds => self.check_held(config),
            Rule::ExactlyOnce => self.check_exactly_once(config),
            _ => None,
        }
    }

    fn is_owed(&self, sleeper: Sleeper) -> bool {
        self.threads.iter().flat_map(|t| &t.owes).any(|o| o.sleeper == sleeper && o.for_work)
    }

    /// Whether the sleeper's wake-up is owed, claimed or issued, or it is awake already.
    pub(super) fn is_woken(&self, config: &Config, sleeper: Sleeper) -> bool {
        let who = match sleeper {
            Sleeper::Manager => Who::Manager,
            Sleeper::Worker(WorkerId(at)) => Who::Worker(at as u8),
        };
        let thread = &self.threads[self.index(config, who)];
        let at = if thread.pc == Pc::Wakes { thread.then } else { thread.pc };
        let sleeps = matches!(at, Pc::Enter(_) | Pc::Asleep(_) | Pc::LateAnnounce);
        self.is_owed(sleeper) || (at != Pc::Gone && !(sleeps && thread.word.is_parked()))
    }

    fn check_issued(&self, config: &Config) -> Option<&'static str> {
        let claims = |bits: u32| self.threads.iter().flat_map(|t| &t.owes).any(|o| o.holds(bits));
        for at in config.submitters.len()..=self.index(config, Who::Manager) {
            let thread = &self.threads[at];
            let asleep = matches!(thread.pc, Pc::Asleep(_));
            if asleep && thread.word.is_woken() && !thread.token && !claims(thread.word.bits()) {
                return Some("a wake-up counts as issued or claimed and nobody has issued it or will");
            }
        }
        None
    }

    /// No more items of a pwq are inside their functions than may be active.
    fn check_running(&self, config: &Config) -> Option<&'static str> {
        let mut running = [0; ITEMS_MAX];
        for item in 0..config.items.len() {
            running[usize::from(self.memory.pwq[item])] += u32::from(self.running[item]);
        }
        let exceeded = config.pwqs.iter().zip(running).any(|(&max_active, running)| running > max_active);
        exceeded.then_some("more items of a pwq run than max_active")
    }

    /// Worklist, waiting items and inbox follow each other in the order of the pushes, for each pwq.
    fn check_order(&self) -> Option<&'static str> {
        for pwq in self.gates() {
            let mut inbox: Vec<u8> = self.inbox_items().collect();
            inbox.reverse();
            let listed = self.core.worklist().iter(&self.memory);
            let waiting = self.core.gate(pwq).inactive().iter(&self.memory);
            let of_pwq = |i: &u8| u32::from(self.memory.pwq[usize::from(*i)]) == pwq.0;
            let all = listed.chain(waiting).chain(inbox).filter(of_pwq);
            let places: Vec<_> = all.map(|i| self.order.position(i)).collect();
            if places.windows(2).any(|two| two[0] > two[1]) {
                return Some("items of one pwq wait in another order than they were pushed in");
            }
        }
        None
    }

    fn check_unlinked(&self) -> Option<&'static str> {
        let in_hands = |t: &&super::state::Thread| matches!(t.pc, Pc::Push | Pc::HandOver);
        let linked = self.threads.iter().filter(in_hands).any(|t| self.order.position(t.item).is_some());
        linked.then_some("an item in a submitter's hands is still linked in the pool")
    }

    fn check_exactly_once(&self, config: &Config) -> Option<&'static str> {
        for item in 0..config.items.len() {
            if self.ended[item] > self.queued[item] {
                return Some("an item has ended more often than it was queued");
            }
        }
        None
    }
}
