//! A pool of cmwq: the inbox word and the core that ship, each hold of the pool's lock one step. (What can happen
//! within a hold, and around wake words, is explored by [`crate::seam`].)

use super::ledger::Ledger;
use super::property::{Property, Reached, Twin};
use super::setup::{SUBMITTERS_MAX, Setup, WORKERS_MAX};
use super::variant::{RealTimeRule, Rules};
use super::world::{Step, Who, World};
use crate::row::Row;
use crate::seam::Memory;
use cmwq_core::id::{PwqId, Sleeper, WorkerId};
use cmwq_core::list::Items;
use cmwq_core::pool::{
    Actions, ClaimPolicy, CoverPolicy, Event, InboxWord, PoolConfig, PoolCore, Taken, Verdict, relied_on,
};
use cmwq_core::time::{Span, Tick};
use cmwq_core::worker::State;

/// What a thread owes: a worker's number, or one of these.
const MANAGER: u8 = 100;

fn owed(sleeper: Sleeper) -> u8 {
    match sleeper {
        Sleeper::Manager => MANAGER,
        Sleeper::Worker(WorkerId(at)) => at as u8,
    }
}

/// Where a thread stands when it owes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
enum At {
    /// Not created, or ended.
    #[default]
    Gone,
    /// Ended, and somebody may still have to do with it.
    Exited,
    Asleep,
    /// Woken, or just created: it has not locked yet.
    Woken,
    /// Creates the worker of this slot.
    Creating(u8),
    Running(u8),
    Blocked(u8),
    /// The manager will come again by its clock.
    Later,
}

/// A thread: it performs what it owes before it goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Thread {
    at: At,
    owes: Row,
}

impl Thread {
    fn sleeps(&self) -> bool {
        self.at == At::Asleep && self.owes.is_empty()
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Submitter {
    queued: u8,
    owes: Row,
}

/// The whole pool and its threads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shipped {
    ledger: Ledger,
    core: PoolCore<u8>,
    memory: Memory,
    inbox: InboxWord<u8>,
    workers: [Thread; WORKERS_MAX],
    /// Whether a worker's thread has just been made.
    started: [bool; WORKERS_MAX],
    submitters: [Submitter; SUBMITTERS_MAX],
    manager: Thread,
    culler: Row,
    /// Whose stand-by mark was left last, for submissions to see.
    standing: Sleeper,
    /// The clock: moves when a failed creation may be tried again.
    now: u8,
}

impl Shipped {
    fn event(&mut self, event: Event<u8>) -> Actions<u8> {
        let mut actions = Actions::default();
        self.core.step(Tick(u64::from(self.now)), event, &mut self.memory, &mut actions);
        if let Some(sleeper) = actions.stand_by {
            self.standing = sleeper;
            let set = self.inbox.stand_by(sleeper).apply(&mut self.inbox);
            assert!(set, "each hold takes the inbox before the core may ask for a stand-by mark");
        }
        actions
    }

    /// What is owed after a hold. In a real-time pool it is issued within: the lock inherits priority there, so that
    /// nobody waits for its holder.
    fn debts(&mut self, rules: &Rules, reached: &Reached, actions: &Actions<u8>, owes: &mut Row) {
        for sleeper in actions.wake.iter() {
            let owed = owed(sleeper);
            if rules.keeps(RealTimeRule::WakeInHold) {
                self.pay(rules, reached, owed);
            } else {
                owes.push(owed);
            }
        }
    }

    fn take_inbox(&mut self, reached: &Reached) {
        let taken = self.inbox.take().apply(&mut self.inbox);
        let _ = self.event(Event::Taken);
        let mut items = Vec::new();
        let mut at = if let Taken::List(newest) = taken { Some(newest) } else { None };
        while let Some(item) = at {
            items.push(item);
            at = self.memory.next(item);
        }
        for item in items.into_iter().rev() {
            self.memory.set_next(item, None);
            let _ = self.event(Event::Arrive(item));
            if self.memory.is_inactive(item) {
                reached.mark(Twin::Limited);
            }
        }
    }

    // ---- a worker's hold ----

    fn look(&mut self, setup: &Setup, rules: &Rules, reached: &Reached, worker: u8) {
        self.take_inbox(reached);
        let id = WorkerId(u32::from(worker));
        let mut actions = self.event(Event::Look(id));
        let mut owes = Row::default();
        self.debts(rules, reached, &actions, &mut owes);
        let at = match actions.verdict {
            Verdict::Run => {
                let item = actions.batch.iter().next().expect("one item is claimed at a time");
                self.ledger.start(setup, item);
                At::Running(item)
            }
            Verdict::Create(WorkerId(slot)) => At::Creating(slot as u8),
            Verdict::Rest { .. } => {
                actions = self.event(Event::GoIdle(id));
                self.debts(rules, reached, &actions, &mut owes);
                At::Asleep
            }
            Verdict::Exit => self.exit(reached, worker),
            verdict => unreachable!("{verdict:?} has no place in these pools"),
        };
        self.workers[usize::from(worker)] = Thread { at, owes };
    }

    fn exit(&mut self, reached: &Reached, worker: u8) -> At {
        let _ = self.event(Event::Exited(WorkerId(u32::from(worker))));
        reached.mark(Twin::Exited);
        At::Exited
    }

    fn step_woken(&mut self, setup: &Setup, rules: &Rules, reached: &Reached, worker: u8) {
        let id = WorkerId(u32::from(worker));
        let started = std::mem::take(&mut self.started[usize::from(worker)]);
        let event = if started { Event::Started(id) } else { Event::Woken { worker: id, progress: 0 } };
        if self.event(event).verdict == Verdict::Exit {
            self.workers[usize::from(worker)].at = self.exit(reached, worker);
            return;
        }
        self.look(setup, rules, reached, worker);
    }

    fn step_worker(&mut self, setup: &Setup, rules: &Rules, reached: &Reached, worker: u8, choice: u8) {
        let index = usize::from(worker);
        if let Some(owed) = self.workers[index].owes.pop_first() {
            self.pay(rules, reached, owed);
            return;
        }
        let id = WorkerId(u32::from(worker));
        match self.workers[index].at {
            At::Woken => self.step_woken(setup, rules, reached, worker),
            At::Creating(slot) => {
                self.take_inbox(reached);
                let made = choice == 0 && slot < setup.nr_slots();
                let mut owes = self.report(rules, reached, slot, made);
                self.look(setup, rules, reached, worker);
                for debt in self.workers[index].owes.as_slice() {
                    owes.push(*debt);
                }
                self.workers[index].owes = owes;
            }
            At::Running(item) if choice == 0 => {
                self.ledger.end(item);
                reached.mark(Twin::Ran);
                let pwq = PwqId(0);
                let _ = self.event(Event::Finish { worker: id, item, pwq, owned_by_caller: false });
                self.look(setup, rules, reached, worker);
            }
            At::Running(item) => {
                self.take_inbox(reached);
                let actions = self.event(Event::Block(id));
                self.workers[index].at = At::Blocked(item);
                let mut owes = Row::default();
                self.debts(rules, reached, &actions, &mut owes);
                self.workers[index].owes = owes;
            }
            At::Blocked(item) => {
                let _ = self.event(Event::Unblock(id));
                self.workers[index].at = At::Running(item);
            }
            at => unreachable!("{at:?} takes no step"),
        }
    }

    /// A creation has ended. Answers what that makes its creator owe.
    fn report(&mut self, rules: &Rules, reached: &Reached, slot: u8, made: bool) -> Row {
        let id = WorkerId(u32::from(slot));
        let mut owes = Row::default();
        let actions = if made {
            reached.mark(Twin::Created);
            self.workers[usize::from(slot)] = Thread { at: At::Woken, owes: Row::default() };
            self.started[usize::from(slot)] = true;
            self.event(Event::Created(id))
        } else {
            self.event(Event::CreateFailed(id))
        };
        self.debts(rules, reached, &actions, &mut owes);
        owes
    }

    // ---- the other threads ----

    fn pay(&mut self, rules: &Rules, reached: &Reached, owed: u8) {
        match owed {
            // On its way to sleep it is told as well: it then does not sleep.
            MANAGER if matches!(self.manager.at, At::Asleep | At::Later) => self.manager.at = At::Woken,
            MANAGER => {}
            worker => {
                let thread = &mut self.workers[usize::from(worker)];
                match thread.at {
                    At::Asleep => thread.at = At::Woken,
                    At::Exited if !rules.reference => {
                        let what = "a wake-up is issued to a worker that has been freed";
                        self.ledger.break_promise(Property::NoWakeOfDead, what);
                    }
                    At::Exited => reached.mark(Twin::Exited),
                    _ => {}
                }
            }
        }
    }

    fn is_asleep(&self, sleeper: Sleeper) -> bool {
        let thread = match sleeper {
            Sleeper::Manager => &self.manager,
            Sleeper::Worker(worker) => &self.workers[worker.index()],
        };
        matches!(thread.at, At::Asleep | At::Later)
    }

    fn sleepers(&self) -> impl Iterator<Item = u8> + '_ {
        (0..WORKERS_MAX as u8).filter(|&w| self.workers[usize::from(w)].sleeps())
    }

    fn step_submitter(&mut self, setup: &Setup, rules: &Rules, reached: &Reached, at: u8) {
        let index = usize::from(at);
        if let Some(owed) = self.submitters[index].owes.pop_first() {
            self.pay(rules, reached, owed);
        } else {
            let item = at * setup.items + self.submitters[index].queued;
            self.submitters[index].queued += 1;
            self.ledger.queue(item);
            let pushed = self.inbox.push(item, PwqId(0)).apply(&mut self.inbox);
            self.memory.set_next(item, pushed.below);
            // In real time it does not rely on whoever owes the wake-up: the wake word tells it that the sleeper is up.
            let sleeper = match rules.keeps(RealTimeRule::Help) {
                true => {
                    Some(relied_on(pushed.wake, self.standing)).filter(|&sleeper| self.is_asleep(sleeper))
                }
                false => pushed.wake,
            };
            sleeper.into_iter().for_each(|sleeper| self.submitters[index].owes.push(owed(sleeper)));
        }
        if self.submitters[index].owes.is_empty() {
            self.ledger.returns(at * setup.items + self.submitters[index].queued - 1);
        }
    }

    fn step_manager(&mut self, setup: &Setup, rules: &Rules, reached: &Reached, choice: u8) {
        if let Some(owed) = self.manager.owes.pop_first() {
            self.pay(rules, reached, owed);
            return;
        }
        self.take_inbox(reached);
        if let At::Creating(slot) = self.manager.at {
            let made = choice == 0 && slot < setup.nr_slots();
            self.manager.owes = self.report(rules, reached, slot, made);
        } else {
            self.now = u8::from(self.now == 1 || self.manager.at == At::Later);
        }
        let inbox = matches!(self.inbox, InboxWord::List(_) | InboxWord::One(_));
        let actions = self.event(Event::ManagerLook { inbox });
        let mut owes = self.manager.owes;
        self.debts(rules, reached, &actions, &mut owes);
        self.manager.owes = owes;
        self.manager.at = match actions.verdict {
            Verdict::Create(WorkerId(slot)) => At::Creating(slot as u8),
            _ if actions.retry_at.is_some() => At::Later,
            _ => At::Asleep,
        };
    }

    fn step_culler(&mut self, rules: &Rules, reached: &Reached) {
        if let Some(owed) = self.culler.pop_first() {
            self.pay(rules, reached, owed);
            return;
        }
        let actions = self.event(Event::Cull);
        for sleeper in actions.wake.iter() {
            if let Sleeper::Worker(WorkerId(at)) = sleeper {
                self.culler.push(at as u8);
            }
        }
    }

    fn may_cull(&self) -> bool {
        let mut next = self.clone();
        !next.event(Event::Cull).wake.is_empty()
    }

    // ---- looking at it ----

    fn is_dying(&self, worker: u8) -> bool {
        self.core.workers().get(usize::from(worker)).is_some_and(|w| w.state == State::Dying)
    }

    fn is_coming(&self, worker: u8) -> bool {
        self.workers[usize::from(worker)].at == At::Woken && !self.is_dying(worker)
    }

    fn comes(&self) -> usize {
        (0..WORKERS_MAX as u8).filter(|&w| self.is_coming(w)).count()
    }

    fn acts(&self) -> bool {
        let acts = |at| matches!(at, At::Creating(_) | At::Running(_) | At::Blocked(_));
        self.workers.iter().any(|w| acts(w.at) || !w.owes.is_empty())
            || !self.manager.owes.is_empty()
            || acts(self.manager.at)
    }

    fn owed(&self) -> usize {
        self.submitters.iter().filter(|s| !s.owes.is_empty()).count()
    }

    /// Items that could start if a worker came.
    fn waiting(&self) -> impl Iterator<Item = u8> + '_ {
        self.ledger.pending().iter().copied().filter(|&item| !self.memory.is_inactive(item))
    }
}

impl World for Shipped {
    fn boot(setup: &Setup, rules: &Rules) -> Shipped {
        let config = PoolConfig {
            managed: setup.managed,
            real_time: rules.keeps(RealTimeRule::Making),
            claim: ClaimPolicy::Kicked,
            cover: CoverPolicy::Eager,
            batch_max: 1,
            workers_max: u32::from(setup.nr_slots()),
            idle_floor: u32::from(rules.floor),
            idle_ratio: rules.ratio,
            idle_timeout: Span(0),
            create_cooldown: Span(1),
        };
        let mut core = PoolCore::new(config);
        let _ = core.add_pwq(u32::from(setup.max_active));
        let mut shipped = Shipped {
            ledger: Ledger::default(),
            core,
            memory: Memory::new(),
            inbox: InboxWord::StandBy(Sleeper::Manager),
            workers: Default::default(),
            started: Default::default(),
            submitters: Default::default(),
            manager: Thread { at: At::Asleep, owes: Row::default() },
            culler: Row::default(),
            standing: Sleeper::Manager,
            now: 0,
        };
        for at in 0..setup.workers {
            let worker = WorkerId(u32::from(at));
            let _ = shipped.event(Event::ManagerLook { inbox: true });
            let _ = shipped.event(Event::Created(worker));
            let _ = shipped.event(Event::Started(worker));
        }
        for at in 0..setup.workers {
            let worker = WorkerId(u32::from(at));
            let _ = shipped.event(Event::Taken);
            let _ = shipped.event(Event::Look(worker));
            let _ = shipped.event(Event::GoIdle(worker));
            shipped.workers[usize::from(at)].at = At::Asleep;
        }
        shipped
    }

    fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    fn steps(&self, setup: &Setup, _: &Rules, steps: &mut Vec<Step>) {
        let mut pay_or = |who, owes: &Row, otherwise: u8| {
            let choices = match owes.first() {
                Some(_) => 1,
                None => otherwise,
            };
            steps.extend((0..choices).map(|choice| Step { who, choice }));
        };
        for at in 0..setup.submitters {
            let submitter = &self.submitters[usize::from(at)];
            let first = at > 0 && submitter.queued == 0 && self.submitters[usize::from(at) - 1].queued == 0;
            pay_or(Who::Submitter(at), &submitter.owes, u8::from(!first && submitter.queued < setup.items));
        }
        // A slot beyond those of the setup is asked for while others die: that creation fails.
        let creating = |slot| 1 + u8::from(setup.failures && slot < setup.nr_slots());
        for at in 0..setup.nr_slots() {
            let thread = &self.workers[usize::from(at)];
            let otherwise = match thread.at {
                At::Gone | At::Exited | At::Asleep | At::Later => 0,
                At::Woken | At::Blocked(_) => 1,
                At::Creating(slot) => creating(slot),
                At::Running(_) => 1 + u8::from(setup.managed),
            };
            pay_or(Who::Worker(at), &thread.owes, otherwise);
        }
        let otherwise = match self.manager.at {
            At::Woken | At::Later => 1,
            At::Creating(slot) => creating(slot),
            _ => 0,
        };
        pay_or(Who::Manager, &self.manager.owes, otherwise);
        let cull = u8::from(self.culler.is_empty() && self.may_cull());
        pay_or(Who::Culler, &self.culler, cull);
    }

    fn advance(&mut self, setup: &Setup, rules: &Rules, reached: &Reached, step: Step) {
        match step.who {
            Who::Submitter(at) => self.step_submitter(setup, rules, reached, at),
            Who::Worker(at) => self.step_worker(setup, rules, reached, at, step.choice),
            Who::Manager => self.step_manager(setup, rules, reached, step.choice),
            Who::Culler => self.step_culler(rules, reached),
        }
        self.note(reached);
    }

    fn living(&self) -> u8 {
        self.core.nr_workers() as u8
    }

    fn stranded(&self, _: &Setup) -> Option<&'static str> {
        let someone = self.comes() > 0 || self.acts() || self.owed() > 0;
        let manager = matches!(self.manager.at, At::Woken | At::Later);
        (self.waiting().next().is_some() && !someone && !manager)
            .then_some("an item is pending, nobody runs or has been woken, and no wake-up is owed")
    }

    fn held_back(&self, setup: &Setup) -> Option<&'static str> {
        let waits = self.waiting().any(|item| self.ledger.has_returned(item));
        // The manager does not count as coming: it is an ordinary thread, whatever the pool's policy.
        let someone = self.comes() > 0;
        let runs = self.core.nr_running() > 0;
        let sleeps = self.sleepers().any(|w| !self.is_dying(w)) && !(setup.managed && runs);
        (waits && !someone && sleeps).then_some(
            "an item waits for threads that may have stopped, while a worker sleeps that could take it",
        )
    }

    fn line(&self, setup: &Setup) -> String {
        let items = |row: &[u8]| row.iter().map(|i| format!("i{i}")).collect::<Vec<_>>().join(" ");
        let name = |owed: u8| match owed {
            MANAGER => "the manager".into(),
            worker => format!("w{worker}"),
        };
        let inbox = match self.inbox {
            InboxWord::Empty => "empty".into(),
            InboxWord::StandBy(Sleeper::Manager) => "stand-by m".into(),
            InboxWord::StandBy(Sleeper::Worker(w)) => format!("stand-by {w}"),
            _ => {
                let listed: Vec<u8> = self.core.worklist().iter(&self.memory).collect();
                let in_inbox = |i: &u8| !listed.contains(i) && !self.memory.is_inactive(*i);
                let inbox: Vec<u8> = self.ledger.pending().iter().copied().filter(in_inbox).collect();
                items(&inbox)
            }
        };
        let worklist: Vec<u8> = self.core.worklist().iter(&self.memory).collect();
        let mut line = format!("inbox [{inbox}] worklist [{}]", items(&worklist));
        let mut thread = |name_of: String, at: At, owes: &Row, dying: bool| {
            let state = match at {
                At::Gone => return,
                At::Exited => "exited".into(),
                At::Asleep => "asleep".into(),
                At::Woken => "woken".into(),
                At::Creating(slot) => format!("creates w{slot}"),
                At::Running(item) => format!("runs i{item}"),
                At::Blocked(item) => format!("blocked in i{item}"),
                At::Later => "comes again by its clock".into(),
            };
            line += &format!(" | {name_of}: {state}{}", if dying { " dying" } else { "" });
            if let Some(owed) = owes.first() {
                line += &format!(", owes {} a wake-up", name(owed));
            }
        };
        for at in 0..setup.nr_slots() {
            let Thread { at: state, owes } = self.workers[usize::from(at)];
            thread(format!("w{at}"), state, &owes, self.is_dying(at));
        }
        if self.manager.at != At::Asleep {
            thread("m".into(), self.manager.at, &self.manager.owes, false);
        }
        for (at, submitter) in self.submitters.iter().enumerate() {
            if let Some(owed) = submitter.owes.first() {
                line += &format!(" | s{at} owes {} a wake-up", name(owed));
            }
        }
        line
    }

    fn step_name(&self, setup: &Setup, _: &Rules, step: Step) -> String {
        let pay = |owes: &Row| {
            owes.first().map(|owed| match owed {
                MANAGER => "issues the wake-up of the manager".into(),
                worker => format!("issues the wake-up of w{worker}"),
            })
        };
        match step.who {
            Who::Submitter(at) => {
                let Submitter { queued, owes } = &self.submitters[usize::from(at)];
                pay(owes).unwrap_or_else(|| format!("pushes i{}", at * setup.items + queued))
            }
            Who::Worker(at) => {
                let thread = &self.workers[usize::from(at)];
                pay(&thread.owes).unwrap_or_else(|| match thread.at {
                    At::Woken if self.is_dying(at) => "wakes, exits".into(),
                    At::Woken => "locks, takes the inbox, looks".into(),
                    At::Creating(slot) if step.choice == 0 && slot < setup.nr_slots() => {
                        format!("makes w{slot}, looks")
                    }
                    At::Creating(slot) => format!("fails to make w{slot}, looks"),
                    At::Running(item) if step.choice == 0 => format!("finishes i{item}, looks"),
                    At::Running(item) => format!("i{item} blocks"),
                    At::Blocked(item) => format!("i{item} runs on"),
                    at => unreachable!("{at:?} takes no step"),
                })
            }
            Who::Manager => pay(&self.manager.owes).unwrap_or_else(|| match self.manager.at {
                At::Creating(slot) if step.choice == 0 && slot < setup.nr_slots() => format!("makes w{slot}"),
                At::Creating(slot) => format!("fails to make w{slot}"),
                _ => "locks, looks".into(),
            }),
            Who::Culler => pay(&self.culler).unwrap_or_else(|| "culls".into()),
        }
    }
}

impl Shipped {
    fn note(&self, reached: &Reached) {
        if self.ledger.pending().len() > 1 {
            reached.mark(Twin::TwoWait);
        }
        if self.waiting().next().is_none() {
            return;
        }
        if self.comes() + self.owed() == 1 && !self.acts() {
            reached.mark(Twin::OneWakeCarries);
        }
        let returned = self.waiting().any(|item| self.ledger.has_returned(item));
        if returned && self.comes() > 0 && (self.acts() || self.owed() > 0) {
            reached.mark(Twin::OthersCome);
        }
    }
}
