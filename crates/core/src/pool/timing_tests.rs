//! The kernel's documented example of concurrency management, in virtual time on one CPU, exactly.
//!
//! Three items: the first burns 5 ms, sleeps 10, burns 5; the two others burn 5 and sleep 10. The CPU runs ready
//! threads in order and interrupts none, but lets others that are ready do their momentary work before a burn begins.

use super::action::Verdict;
use super::policy::PoolConfig;
use super::test_driver::Driver;
use crate::id::{Sleeper, WorkerId};
use crate::time::{Span, Tick};
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    Burn(u64),
    Sleep(u64),
}

use Part::{Burn, Sleep};

/// What the CPU did: an item and the milliseconds from and to which it burned.
type Burned = (u32, u64, u64);

struct Machine {
    driver: Driver,
    scripts: Vec<Vec<Part>>,
    is_intensive: Vec<bool>,
    /// By worker: what is left of its item.
    left: Vec<VecDeque<Part>>,
    /// By worker: it has let the others go first before its next burn.
    has_yielded: Vec<bool>,
    ready: VecDeque<WorkerId>,
    sleeping: Vec<(Tick, WorkerId)>,
    burned: Vec<Burned>,
    /// Items and the millisecond in which they started, or were done.
    started: Vec<(u32, u64)>,
    done: Vec<(u32, u64)>,
}

impl Machine {
    fn new(max_active: u32) -> Self {
        let config = PoolConfig { managed: true, ..PoolConfig::default() };
        let mut driver = Driver::with_idle(config, max_active, 4);
        driver.core.add_pwq(max_active);
        Machine {
            driver,
            scripts: Vec::new(),
            is_intensive: Vec::new(),
            left: vec![VecDeque::new(); 4],
            has_yielded: vec![false; 4],
            ready: VecDeque::new(),
            sleeping: Vec::new(),
            burned: Vec::new(),
            started: Vec::new(),
            done: Vec::new(),
        }
    }

    fn add(&mut self, pwq: u32, is_intensive: bool, script: &[Part]) {
        let item = self.driver.add_item(pwq, None);
        self.scripts.push(script.to_vec());
        self.is_intensive.push(is_intensive);
        self.driver.submit(item);
    }

    fn now_ms(&self) -> u64 {
        self.driver.now.0 / 1_000_000
    }

    /// Threads that have been woken, or whose sleep is over, become ready.
    fn rouse(&mut self) {
        let now = self.driver.now;
        self.sleeping.sort();
        let due = self.sleeping.partition_point(|&(at, _)| at <= now);
        self.ready.extend(self.sleeping.drain(..due).map(|(_, worker)| worker));
        for sleeper in core::mem::take(&mut self.driver.woken) {
            let Sleeper::Worker(worker) = sleeper else { panic!("there are workers enough") };
            self.ready.push_back(worker);
        }
    }

    fn run(&mut self) {
        loop {
            self.rouse();
            if let Some(worker) = self.ready.pop_front() {
                self.run_thread(worker);
            } else if let Some(&(at, _)) = self.sleeping.first() {
                self.driver.now = at;
            } else {
                return;
            }
        }
    }

    /// Runs a thread until it sleeps or has burned.
    fn run_thread(&mut self, worker: WorkerId) {
        if self.driver.threads[worker.index()].is_asleep {
            let verdict = self.driver.wake(worker);
            self.obey(worker, verdict);
        } else if self.driver.core.workers()[worker.index()].blocked {
            self.driver.unblock(worker);
        }
        self.rouse();
        while let Some(current) = self.driver.threads[worker.index()].current {
            match self.left[worker.index()].pop_front() {
                Some(Burn(ms)) if self.ready.is_empty() || self.has_yielded[worker.index()] => {
                    self.has_yielded[worker.index()] = false;
                    let from = self.now_ms();
                    self.driver.pass(Span::from_ms(ms));
                    self.burned.push((current.item, from, from + ms));
                    self.rouse();
                }
                Some(Burn(ms)) => return self.let_others_first(worker, ms),
                Some(Sleep(ms)) => {
                    self.sleeping.push((self.driver.now + Span::from_ms(ms), worker));
                    return self.driver.block(worker);
                }
                None => self.end(worker, current.item),
            }
        }
    }

    /// Those that are ready run to their own burn or sleep; then this thread burns, before they do.
    fn let_others_first(&mut self, worker: WorkerId, ms: u64) {
        self.has_yielded[worker.index()] = true;
        self.left[worker.index()].push_front(Burn(ms));
        self.ready.push_back(worker);
    }

    fn end(&mut self, worker: WorkerId, item: u32) {
        self.driver.end(worker);
        self.done.push((item, self.now_ms()));
        let verdict = self.driver.sleep(worker);
        self.obey(worker, verdict);
    }

    fn obey(&mut self, worker: WorkerId, verdict: Verdict) {
        match verdict {
            Verdict::Run => {
                let item = self.driver.start(worker).expect("it has claimed one");
                self.started.push((item, self.now_ms()));
                self.left[worker.index()] = self.scripts[item as usize].iter().copied().collect();
                if self.is_intensive[item as usize] {
                    self.driver.cpu_intensive(worker);
                }
            }
            Verdict::Rest { .. } if self.driver.threads[worker.index()].is_asleep => {}
            Verdict::Rest { .. } => {
                let verdict = self.driver.sleep(worker);
                self.obey(worker, verdict);
            }
            other => panic!("{other:?} in a pool with workers enough"),
        }
    }
}

/// The three items; the two short ones perhaps on a queue for CPU-intensive items.
fn machine(max_active: u32, is_intensive: bool) -> Machine {
    let mut machine = Machine::new(max_active);
    machine.add(0, false, &[Burn(5), Sleep(10), Burn(5)]);
    for _ in 0..2 {
        machine.add(u32::from(is_intensive), is_intensive, &[Burn(5), Sleep(10)]);
    }
    machine.run();
    machine
}

/// What burned when, what started when, what was done when: all of it, in milliseconds.
fn assert_times(machine: &Machine, burned: &[Burned], started: &[(u32, u64)], done: &[(u32, u64)]) {
    assert_eq!(machine.burned, burned, "burned");
    assert_eq!(machine.started, started, "started");
    assert_eq!(machine.done, done, "done");
}

#[test]
fn with_max_active_three_or_more_each_starts_when_the_one_before_sleeps() {
    for max_active in [3, 4, 1024] {
        assert_times(
            &machine(max_active, false),
            &[(0, 0, 5), (1, 5, 10), (2, 10, 15), (0, 15, 20)],
            &[(0, 0), (1, 5), (2, 10)],
            &[(0, 20), (1, 20), (2, 25)],
        );
    }
}

#[test]
fn with_max_active_two_the_third_starts_when_the_first_is_done() {
    assert_times(
        &machine(2, false),
        &[(0, 0, 5), (1, 5, 10), (0, 15, 20), (2, 20, 25)],
        &[(0, 0), (1, 5), (2, 20)],
        &[(0, 20), (1, 20), (2, 35)],
    );
}

/// Not among the documented lines; follows from the same rules.
#[test]
fn with_max_active_one_they_follow_one_another_through_their_sleeps() {
    assert_times(
        &machine(1, false),
        &[(0, 0, 5), (0, 15, 20), (1, 20, 25), (2, 35, 40)],
        &[(0, 0), (1, 20), (2, 35)],
        &[(0, 20), (1, 35), (2, 50)],
    );
}

/// Their start is regulated, not their running.
#[test]
fn cpu_intensive_items_start_together_once_the_managed_one_sleeps() {
    assert_times(
        &machine(3, true),
        &[(0, 0, 5), (1, 5, 10), (2, 10, 15), (0, 15, 20)],
        &[(0, 0), (1, 5), (2, 5)],
        &[(0, 20), (1, 20), (2, 25)],
    );
}
