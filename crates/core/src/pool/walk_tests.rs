//! Random walks: whatever the order of events, no invariant breaks, every item runs and every worker ends.

use super::action::Verdict;
use super::inbox_word::InboxWord;
use super::policy::{ClaimPolicy, CoverPolicy, PoolConfig};
use super::record::{self, Failed, Replay};
use super::test_driver::Driver;
use crate::id::{Sleeper, WorkerId};
use crate::testing::Random;
use crate::time::Span;
use crate::worker::State;

const STEPS: usize = 20_000;

#[derive(Clone, Copy, Debug)]
enum Move {
    Submit(u32),
    Cancel(u32),
    Manager,
    ManagerCreates(WorkerId),
    WorkerCreates(WorkerId),
    Begin(WorkerId),
    Wake(WorkerId),
    WatchTimeout(WorkerId),
    Look(WorkerId),
    Sleep(WorkerId),
    Start(WorkerId),
    End(WorkerId),
    RunAwaited(WorkerId, u32),
    EndAwaited(WorkerId),
    Block(WorkerId),
    Unblock(WorkerId),
    Intensive(WorkerId),
    Cull,
    Pass,
}

struct Walk {
    driver: Driver,
    random: Random,
    submitted: usize,
    cancelled: usize,
    /// How many were run by who waits for them.
    awaited: usize,
    blocks_once_in: usize,
    /// Nothing is submitted, blocked or failed any more.
    ends: bool,
    moves: Vec<Move>,
}

impl Walk {
    fn new(config: PoolConfig, seed: u64) -> Self {
        let mut driver = Driver::new(config, 1);
        driver.core.add_pwq(3);
        driver.core.add_pwq(100);
        for item in 0..24 {
            driver.add_item(item % 3, (item % 4 == 0).then_some(7));
        }
        driver.record(if seed.is_multiple_of(2) { 64 << 10 } else { usize::MAX });
        let random = Random::new(seed);
        Walk {
            driver,
            random,
            submitted: 0,
            cancelled: 0,
            awaited: 0,
            blocks_once_in: 1 + 29 * (seed as usize % 2),
            ends: false,
            moves: Vec::new(),
        }
    }

    fn may_submit(&self, item: u32) -> bool {
        let runs = self.driver.runners().any(|(_, run)| run.item == item);
        let is_owned_by_caller = item.is_multiple_of(4);
        !self.driver.pending[item as usize] && (!runs || is_owned_by_caller)
    }

    fn list_moves(&mut self) {
        let mut moves = core::mem::take(&mut self.moves);
        moves.clear();
        let driver = &self.driver;
        if driver.woken.contains(&Sleeper::Manager) || driver.retry_at.is_some_and(|at| driver.now >= at) {
            moves.push(Move::Manager);
        }
        moves.extend(driver.manager_creates.map(Move::ManagerCreates));
        for at in 0..driver.threads.len() as u32 {
            self.list_worker_moves(WorkerId(at), &mut moves);
        }
        let driver = &self.driver;
        if !self.ends {
            let item = self.random.below(driver.pending.len()) as u32;
            if self.may_submit(item) {
                moves.extend([Move::Submit(item); 4]);
            } else if driver.pending[item as usize] && self.random.once_in(8) {
                moves.push(Move::Cancel(item));
            }
            if driver.cull_at.is_some_and(|at| driver.now >= at) {
                moves.push(Move::Cull);
            }
            moves.push(Move::Pass);
        }
        self.moves = moves;
    }

    fn list_worker_moves(&mut self, worker: WorkerId, moves: &mut Vec<Move>) {
        let driver = &self.driver;
        let thread = &driver.threads[worker.index()];
        let state = driver.state(worker);
        if let Some(created) = thread.creates {
            moves.push(Move::WorkerCreates(created));
            return;
        }
        if thread.is_asleep {
            let spurious = !self.ends && state != State::Gone && self.random.once_in(50);
            if driver.woken.contains(&Sleeper::Worker(worker)) || spurious {
                moves.push(Move::Wake(worker));
            }
            if state == State::Watching {
                moves.push(Move::WatchTimeout(worker));
            }
            return;
        }
        match state {
            State::Starting if !driver.is_creating(worker) => moves.push(Move::Begin(worker)),
            State::Awake => moves.extend([Move::Look(worker), Move::Sleep(worker)]),
            State::Busy if driver.core.workers()[worker.index()].blocked => moves.push(Move::Unblock(worker)),
            State::Busy if thread.current.is_some() => {
                let inside = thread.awaited.is_empty();
                moves.push(if inside { Move::End(worker) } else { Move::EndAwaited(worker) });
                let item = self.random.below(driver.pending.len()) as u32;
                if !self.ends && thread.awaited.len() < 3 && driver.pending[item as usize] {
                    moves.push(Move::RunAwaited(worker, item));
                }
                if !self.ends && self.random.once_in(self.blocks_once_in) {
                    moves.extend([Move::Block(worker), Move::Intensive(worker)]);
                }
            }
            State::Busy if driver.batch(worker).is_empty() => moves.push(Move::Sleep(worker)),
            State::Busy => moves.push(Move::Start(worker)),
            _ => {}
        }
    }

    fn make(&mut self, step: Move) {
        let driver = &mut self.driver;
        match step {
            Move::Submit(item) => {
                self.submitted += 1;
                driver.submit(item);
            }
            Move::Cancel(item) => self.cancelled += usize::from(driver.cancel(item)),
            Move::Manager => {
                let _ = driver.manager_look();
            }
            Move::ManagerCreates(worker) | Move::WorkerCreates(worker) => {
                if !self.ends && self.random.once_in(3) {
                    driver.create_failed(worker);
                } else {
                    driver.created(worker);
                }
            }
            Move::Begin(worker) => driver.start_thread(worker),
            Move::Wake(worker) => {
                let _ = driver.wake(worker);
            }
            Move::WatchTimeout(worker) => {
                driver.pass(Span::from_us(50));
                let _ = driver.watch_look(worker);
            }
            Move::Look(worker) => {
                let verdict = driver.look(worker);
                assert_ne!(verdict, Verdict::None);
            }
            Move::Sleep(worker) => {
                let _ = driver.sleep(worker);
            }
            Move::Start(worker) => {
                let _ = driver.start(worker).expect("its batch is not empty");
            }
            Move::End(worker) => driver.end(worker),
            Move::RunAwaited(worker, item) => self.awaited += usize::from(driver.run_awaited(worker, item)),
            Move::EndAwaited(worker) => driver.end_awaited(worker),
            Move::Block(worker) => driver.block(worker),
            Move::Unblock(worker) => driver.unblock(worker),
            Move::Intensive(worker) => driver.cpu_intensive(worker),
            Move::Cull => driver.cull(),
            Move::Pass => driver.pass(Span::from_us(1 << self.random.below(12))),
        }
    }

    /// Runs until nobody has anything to do, without help from outside except the clock.
    fn run_dry(&mut self) {
        self.ends = true;
        for _ in 0..100_000 {
            self.list_moves();
            if self.moves.is_empty() {
                let Some(at) = self.driver.retry_at else { return };
                self.driver.now = self.driver.now.max(at);
                continue;
            }
            let at = self.random.below(self.moves.len());
            self.make(self.moves[at]);
        }
        panic!("it never comes to rest");
    }

    fn run(mut self) {
        for _ in 0..STEPS {
            self.list_moves();
            let at = self.random.below(self.moves.len());
            self.make(self.moves[at]);
        }
        if self.random.once_in(2) {
            self.run_dry();
            assert!(!self.driver.pending.contains(&true), "an item is left behind");
        }
        self.driver.close();
        self.run_dry();
        let driver = &self.driver;
        assert_eq!(driver.started.len(), self.submitted - self.cancelled, "every item runs once");
        assert!(self.awaited > 100, "some are run by who waits for them: {}", self.awaited);
        assert!(!matches!(driver.inbox, InboxWord::List(_)) && driver.worklist().is_empty());
        assert!(driver.core.workers().iter().all(|w| w.state == State::Gone), "every worker ends");
        assert!(driver.core.busy_set_is_empty() && !driver.core.has_batches());
        assert_eq!(driver.core.nr_workers(), 0);
        self.replay();
    }

    /// What was recorded of the walk plays again, decision by decision, and ends in the same core. Of the policies that
    /// let culling take a worker which is owed a wake-up, that is found.
    fn replay(&self) {
        let recording = self.driver.recorder().recording("walk");
        let bytes = record::write(&vec![recording.clone()]);
        assert_eq!(record::read(&bytes), Ok(vec![recording.clone()]));
        let mut replay = Replay::new(&recording).expect("a snapshot");
        for played in &mut replay {
            match played {
                Ok(_) => {}
                Err((_, Failed::Invariant(broken)))
                    if broken.label.starts_with("B3")
                        && self.driver.core.config().claim != ClaimPolicy::Kicked =>
                {
                    return;
                }
                Err((step, failed)) => panic!("{failed} at {step:?}"),
            }
        }
        assert_eq!(format!("{:?}", replay.core()), format!("{:?}", self.driver.core));
    }
}

fn walk(config: PoolConfig) {
    for seed in 0..6 {
        let batch_max = [1, 4, 16][seed as usize % 3];
        let timeout = Span::from_us([0, 300, 20_000][seed as usize % 3]);
        let config = PoolConfig {
            batch_max,
            workers_max: 6,
            idle_timeout: timeout,
            idle_ratio: seed % 2 == 0,
            create_cooldown: Span::from_us(500),
            ..config
        };
        Walk::new(config, seed).run();
    }
}

#[test]
fn eager_pools_hold_their_invariants() {
    walk(PoolConfig { cover: CoverPolicy::Eager, ..PoolConfig::default() });
}

#[test]
fn watched_pools_hold_their_invariants() {
    walk(PoolConfig::default());
}

#[test]
fn backlog_pools_hold_their_invariants() {
    walk(PoolConfig { cover: CoverPolicy::Backlog(3), ..PoolConfig::default() });
}

#[test]
fn managed_pools_hold_their_invariants() {
    walk(PoolConfig { managed: true, ..PoolConfig::default() });
}

#[test]
fn every_claim_policy_holds_the_invariants() {
    for (_, claim) in ClaimPolicy::ALL {
        for managed in [false, true] {
            walk(PoolConfig { claim, managed, cover: CoverPolicy::Eager, ..PoolConfig::default() });
        }
    }
}

#[test]
fn a_pool_of_one_worker_holds_its_invariants() {
    for cover in [CoverPolicy::Eager, CoverPolicy::Watched] {
        let config = PoolConfig { workers_max: 1, cover, batch_max: 4, ..PoolConfig::default() };
        Walk::new(config, 11).run();
    }
}
