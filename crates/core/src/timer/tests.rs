use super::*;
use crate::testing::Random;
use std::collections::BTreeMap;

/// What a wheel should hold, in the plainest form.
#[derive(Default)]
struct Model {
    armed: BTreeMap<(u64, u64), TimerKey>,
}

#[derive(Clone, Debug)]
enum Move {
    Arm(u64),
    TakeBack(usize),
    Look { after: u64, work: u32 },
}

/// A length of any size up to so many bits: some within a grain, some beyond every level but the last.
fn distance(random: &mut Random, bits: usize) -> u64 {
    let value = (random.below(1 << 31) as u64) << 32 | random.below(1 << 32) as u64;
    value & ((1 << random.below(bits)) - 1)
}

fn a_move(random: &mut Random) -> Move {
    match random.below(8) {
        0..4 => Move::Arm(distance(random, 63)),
        4 | 5 => Move::TakeBack(random.below(1 << 16)),
        _ => Move::Look { after: distance(random, 45), work: 1 + random.below(20) as u32 },
    }
}

struct Run {
    wheel: Wheel<(u64, u64)>,
    model: Model,
    now: u64,
    number: u64,
    taken: usize,
}

impl Run {
    fn new(now: u64) -> Run {
        Run { wheel: Wheel::new(), model: Model::default(), now, number: 0, taken: 0 }
    }

    fn make(&mut self, step: &Move) {
        match step {
            Move::Arm(distance) => {
                let name = (self.now.saturating_add(*distance), self.number);
                self.number += 1;
                let key = self.wheel.arm(Tick(name.0), name);
                assert_eq!(self.wheel.get(key), Some(&name));
                assert!(self.model.armed.insert(name, key).is_none());
            }
            Move::TakeBack(which) if !self.model.armed.is_empty() => {
                let which = which % self.model.armed.len();
                let (&name, &key) = self.model.armed.iter().nth(which).unwrap();
                assert_eq!(self.wheel.take_back(key), Some(name));
                assert_eq!(self.wheel.take_back(key), None, "a key takes back once");
                assert_eq!(self.wheel.get(key), None);
                self.model.armed.remove(&name);
                self.taken += 1;
            }
            Move::TakeBack(_) => {}
            Move::Look { after, work } => self.look(*after, *work),
        }
        self.check();
    }

    /// Fires in portions until nothing is due.
    fn look(&mut self, after: u64, portion: u32) {
        self.now = self.now.saturating_add(after);
        let mut last = 0;
        for _ in 0..10_000 {
            let mut work = portion;
            while let Some(name) = self.wheel.fire(Tick(self.now), &mut work) {
                let key = self
                    .model
                    .armed
                    .remove(&name)
                    .expect("a timer fires once, and not after it was taken back");
                assert!(name.0 <= self.now, "{name:?} fires early at {}", self.now);
                assert_eq!(self.wheel.take_back(key), None, "what has fired is not taken back");
                assert!(name.0.div_ceil(GRAIN.0) >= last, "in the order of the grains");
                last = name.0.div_ceil(GRAIN.0);
            }
            if work > 0 {
                let left = self
                    .model
                    .armed
                    .keys()
                    .find(|name| Wheel::<()>::fires_at(Tick(name.0)) <= Tick(self.now));
                assert_eq!(left, None, "nothing that is due is left at {}", self.now);
                return;
            }
        }
        panic!("work without end");
    }

    fn check(&self) {
        assert_eq!(self.wheel.len(), self.model.armed.len());
        let earliest = self.model.armed.keys().next().map(|name| Wheel::<()>::fires_at(Tick(name.0)));
        match (self.wheel.next(), earliest) {
            (Some(next), Some(earliest)) if self.taken == 0 => {
                let passed = earliest < Tick(self.now);
                assert!(next == earliest || passed, "{next:?} is not {earliest:?}");
            }
            (Some(next), Some(earliest)) => {
                assert!(next <= earliest.max(Tick(self.now)), "{next:?} {earliest:?}")
            }
            (next, earliest) => assert_eq!(next, earliest),
        }
    }
}

#[test]
fn a_wheel_fires_what_a_sorted_list_would() {
    for seed in 0..if cfg!(miri) { 3 } else { 2_000 } {
        let mut random = Random::new(seed);
        let mut run = Run::new(distance(&mut random, 63));
        for _ in 0..random.below(200) {
            run.make(&a_move(&mut random));
        }
    }
}

/// How many timers are moved to fire one, at every distance: at most once a level.
#[test]
fn a_timer_is_moved_at_most_once_a_level() {
    for bits in 0..60 {
        let mut wheel = Wheel::new();
        wheel.arm(Tick(1 << bits), ());
        let mut work = 100;
        let at = Wheel::<()>::fires_at(Tick(1 << bits));
        assert_eq!(wheel.next(), Some(at));
        assert_eq!(wheel.fire(Tick(at.0 - 1), &mut work), None, "not a moment early");
        assert_eq!(wheel.fire(at, &mut work), Some(()));
        assert!(work >= 100 - LEVELS as u32, "{bits}: {work}");
    }
}

#[test]
fn an_empty_wheel_has_no_next_time() {
    let mut wheel = Wheel::new();
    assert_eq!(wheel.next(), None);
    let key = wheel.arm(Tick(1 << 40), 1);
    assert!(wheel.next().is_some());
    assert_eq!(wheel.take_back(key), Some(1));
    assert_eq!(wheel.next(), None, "taking back the last timer leaves nothing to wake for");
    assert!(wheel.is_empty());
}

#[test]
fn the_timers_of_one_owner_can_be_taken_back_together() {
    let mut wheel = Wheel::new();
    let keys: Vec<_> = (0..1000u64).map(|n| wheel.arm(Tick(n << 20), n)).collect();
    let odd = wheel.take_back_all(|n| n % 2 == 1);
    assert_eq!(odd.len(), 500);
    assert!(keys.iter().skip(1).step_by(2).all(|&key| wheel.get(key).is_none()));
    assert_eq!(wheel.len(), 500);
}

#[test]
fn places_are_used_again() {
    let mut wheel = Wheel::new();
    for round in 0..10 * BLOCK as u64 {
        let key = wheel.arm(Tick(round << 30), round);
        assert_eq!(wheel.take_back(key), Some(round));
    }
    assert_eq!(wheel.blocks.len(), 1);
}
