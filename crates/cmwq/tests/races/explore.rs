//! Programs under shuttle's schedulers.

use cmwq::{Engine, Topology};
use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, FailurePersistence, MaxSteps, Runner};
use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{set_hook, take_hook};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Instant;

/// Schedules of each program under each scheduler, unless `CMWQ_SCHEDULES` says otherwise.
const SCHEDULES: usize = 10_000;
/// A schedule that is longer goes round in circles.
const STEPS_MAX: usize = 200_000;
/// Changes of priority in a schedule of PCT, and one. With a few, some broken variants were missed: several
/// threads must stop, and each wait in between is a sleep and a wake-up.
const DEPTH: usize = 16;
const STACK_BYTES: usize = 1 << 18;

/// A program's engine, on a synthetic machine.
pub(crate) fn engine(machine: &str) -> Engine {
    Engine::builder().topology(Topology::synthetic(machine).unwrap()).build().unwrap()
}

/// Yes or no, as the scheduler likes.
pub(crate) fn toss() -> bool {
    thread_rng().r#gen()
}

/// Explores a program. The schedules are the same each time unless `CMWQ_SEED` has another seed than 1.
pub(crate) fn race(name: &str, program: impl Fn() + Send + Sync + Copy + 'static) {
    // Numbers and hints that one process shares are no business of two explorations at a time.
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    seen().clear();
    say_which();
    let (schedules, seed) = (number("CMWQ_SCHEDULES", SCHEDULES), number("CMWQ_SEED", 1) as u64);
    explore(name, "random", RandomScheduler::new_from_seed(seed, schedules), program);
    explore(name, "PCT", PctScheduler::new_from_seed(seed, DEPTH, schedules), program);
    for (what, (yes, no)) in std::mem::take(&mut *seen()) {
        println!("{name}: {what} in {yes} of {} schedules", yes + no);
        assert!(yes > 0 && no > 0, "{name}: always or never: {what}");
    }
}

/// How often something held and did not.
type Seen = BTreeMap<&'static str, (u64, u64)>;

fn seen() -> MutexGuard<'static, Seen> {
    static SEEN: Mutex<Seen> = Mutex::new(BTreeMap::new());
    SEEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The exploration must see this hold, and not hold: else there was no race.
pub(crate) fn sometimes(what: &'static str, holds: bool) {
    let mut seen = seen();
    let (yes, no) = seen.entry(what).or_default();
    *if holds { yes } else { no } += 1;
}

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).map_or(default, |text| text.parse().expect("a number"))
}

fn explore(
    name: &str,
    kind: &str,
    scheduler: impl Scheduler + 'static,
    program: impl Fn() + Send + Sync + Copy + 'static,
) {
    let mut config = Config::new();
    config.stack_size = STACK_BYTES;
    config.max_steps = MaxSteps::FailAfter(STEPS_MAX);
    config.failure_persistence = FailurePersistence::None;
    config.silence_warnings = true;
    let (begin, steps) = (Instant::now(), Arc::<AtomicUsize>::default());
    let sum = Arc::clone(&steps);
    *under_way() = Some((format!("{name}: noticed in schedule"), 0, kind.to_owned()));
    let run = move || {
        if let Some((_, nth, _)) = &mut *under_way() {
            *nth += 1;
        }
        cmwq_sys::model::with_time(program);
        sum.fetch_add(shuttle::current::context_switches(), SeqCst);
    };
    let schedules = Runner::new(scheduler, config).run(run);
    *under_way() = None;
    let (steps, took) = (steps.load(SeqCst) / schedules.max(1), begin.elapsed().as_secs_f32());
    println!("{name}: {schedules} schedules of {steps} steps, {kind}, {took:.1} s");
}

/// What is explored, which schedule, and how.
type UnderWay = Option<(String, usize, String)>;

fn under_way() -> MutexGuard<'static, UnderWay> {
    static UNDER_WAY: Mutex<UnderWay> = Mutex::new(None);
    UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first panic says which schedule it is in: what unwinds after it may abort.
fn say_which() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if let Some((what, nth, kind)) = under_way().take() {
                // Not by `eprintln`, which the test harness captures.
                let _ = writeln!(std::io::stderr(), "{what} {nth}, {kind}");
            }
            before(panic);
        }));
    });
}
