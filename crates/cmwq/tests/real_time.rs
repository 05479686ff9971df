//! Queues in real time: what the system gives, and that no stopped thread holds back an item for which a worker sleeps.
//! Where a thread stops is chosen, so that nothing depends on privileges; an ordinary queue is the control.

mod support;

use cmwq::bench::{At, Step, Stop, Stops, Who};
use cmwq::{CoverPolicy, Engine, EngineEvent, JoinHandle, Queue, RealTime, SchedPolicy, Scope};
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use support::{Gate, HANG, Random, held, is_alone, rounds, run_alone, skip, until, watchdog};

const LOW: SchedPolicy = SchedPolicy::Fifo(1);
/// How long nothing is seen to happen.
const QUIET: Duration = Duration::from_millis(50);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Ordinary,
    RealTime,
}

/// A queue whose two workers sleep.
struct World {
    engine: Engine,
    queue: Queue,
    stops: Stops,
    kind: Kind,
}

fn world(kind: Kind) -> World {
    let stops = Stops::default();
    let parked = Arc::new(Mutex::new(HashSet::new()));
    let hook = {
        let (stop, parked) = (stops.hook(), Arc::clone(&parked));
        move |at: &At<'_>| {
            if let (Who::Worker(worker), Step::Parking) = (at.who, at.step) {
                parked.lock().unwrap().insert(worker);
            }
            stop(at);
        }
    };
    let engine = Engine::builder().cover(CoverPolicy::Eager).on_step(hook).build().unwrap();
    let builder = engine.queue("world").scope(Scope::System);
    let queue = match kind {
        Kind::Ordinary => builder.build(),
        Kind::RealTime => builder.real_time(LOW).build(),
    };
    let world = World { engine, queue: queue.unwrap(), stops, kind };
    until("two workers sleep", || {
        let pool = &world.engine.stats().pools[0];
        if pool.workers < 2 {
            world.queue.spawn(|| ()).join().unwrap();
        }
        // One whose thread has still to start is none that sleeps.
        pool.workers == 2 && pool.active == 0 && pool.queued == 0 && parked.lock().unwrap().len() == 2
    });
    world
}

/// A thread that queues an item, and the stop at which it stands.
struct Stopped {
    stop: Stop,
    thread: std::thread::JoinHandle<JoinHandle<()>>,
}

impl Stopped {
    fn goes_on(self) {
        self.stop.let_go();
        self.thread.join().unwrap().join().unwrap();
    }
}

impl World {
    /// Stops a thread of the program that queues an item.
    fn stop_submitter(&self, step: Step) -> Stopped {
        let stop = self.stops.stop_next(move |at| at.who == Who::Other && at.step == step);
        let queue = self.queue.clone();
        let thread = std::thread::spawn(move || queue.spawn(|| ()));
        assert!(stop.wait(HANG / 2), "{step:?} is reached");
        Stopped { stop, thread }
    }

    fn stop_worker(&self, step: Step) -> Stop {
        self.stops.stop_next(move |at| matches!(at.who, Who::Worker(_)) && at.step == step)
    }

    /// Whether the item waits for the stopped thread. It must not in real time, and does in an ordinary queue.
    fn check(&self, item: &JoinHandle<()>, what: &str) {
        match self.kind {
            Kind::RealTime => until(what, || item.is_finished()),
            Kind::Ordinary => {
                std::thread::sleep(QUIET);
                assert!(!item.is_finished(), "{what}: the control is held back");
            }
        }
    }
}

const BOTH: [Kind; 2] = [Kind::Ordinary, Kind::RealTime];

#[test]
fn a_submitter_that_stops_before_its_wake_up_holds_back_no_other() {
    let _watchdog = watchdog("a_submitter_that_stops_before_its_wake_up_holds_back_no_other");
    for kind in BOTH {
        for step in [Step::Pushed, Step::Claimed] {
            let world = world(kind);
            // The manager thread, which would help, is an ordinary thread, and may be stopped as well.
            let manager = world.stops.stop_next(|at| at.who == Who::Manager && at.step == Step::Looking);
            let first = world.stop_submitter(step);
            let second = world.queue.spawn(|| ());
            world.check(&second, "the second item");
            assert!(!manager.is_reached(), "nobody called it");
            first.goes_on();
            second.join().unwrap();
        }
    }
}

#[test]
fn submitters_that_stop_one_after_the_other_hold_back_no_other() {
    let _watchdog = watchdog("submitters_that_stop_one_after_the_other_hold_back_no_other");
    let world = world(Kind::RealTime);
    // Each of them owes, or helps with, a wake-up of its own: the workers go back to sleep in between.
    for nr in 1..=4 {
        let stopped: Vec<Stopped> = (0..nr)
            .map(|at| {
                let stopped = world.stop_submitter(if at % 2 == 0 { Step::Claimed } else { Step::Pushed });
                world.queue.spawn(|| ()).join().unwrap();
                until("the workers sleep", || world.engine.stats().pools[0].active == 0);
                stopped
            })
            .collect();
        stopped.into_iter().for_each(Stopped::goes_on);
    }
}

#[test]
fn a_worker_that_stops_with_what_it_has_claimed_holds_back_nothing_else() {
    let _watchdog = watchdog("a_worker_that_stops_with_what_it_has_claimed_holds_back_nothing_else");
    for kind in BOTH {
        let world = world(kind);
        let woken = world.stop_worker(Step::Woken);
        let first = world.queue.spawn(|| ());
        assert!(woken.wait(HANG / 2));
        // It is found by the same hold of the woken worker.
        let second = world.queue.spawn(|| ());
        // There an ordinary worker owes the wake-up of the one that is to help; in real time it owes nothing by then.
        let starting = world.stop_worker(if kind == Kind::RealTime { Step::Starting } else { Step::Decided });
        woken.let_go();
        assert!(starting.wait(HANG / 2));
        world.check(&second, "the second item");
        assert!(!first.is_finished(), "it is the stopped worker's own");
        starting.let_go();
        first.join().unwrap();
        second.join().unwrap();
    }
}

#[test]
fn a_worker_that_stops_after_its_item_holds_back_nothing() {
    let _watchdog = watchdog("a_worker_that_stops_after_its_item_holds_back_nothing");
    let world = world(Kind::RealTime);
    for nr in [1, 3] {
        let ran = world.stop_worker(Step::Ran);
        world.queue.spawn(|| ()).join().unwrap();
        assert!(ran.wait(HANG / 2));
        for _ in 0..nr {
            let item = world.queue.spawn(|| ());
            until("another worker's item", || item.is_finished());
            item.join().unwrap();
        }
        // A flush waits for the items, not for their workers' reports.
        world.queue.flush().unwrap();
        ran.let_go();
    }
}

#[test]
fn nobody_waits_for_the_making_of_a_worker_while_another_sleeps() {
    let _watchdog = watchdog("nobody_waits_for_the_making_of_a_worker_while_another_sleeps");
    let world = world(Kind::RealTime);
    let first: Gate = held(&world.queue);
    // The other worker finds nobody who would be left, and makes one before it runs its item.
    let making = world.stop_worker(Step::Making);
    let second = world.queue.spawn(|| ());
    assert!(making.wait(HANG / 2));
    first.open();
    until("the first worker sleeps", || world.engine.stats().pools[0].active == 1);
    for _ in 0..3 {
        let item = world.queue.spawn(|| ());
        until("an item of the worker that sleeps", || item.is_finished());
        item.join().unwrap();
    }
    making.let_go();
    second.join().unwrap();
}

/// Nobody can come between what a hold decides and the wake-ups: a worker that stops there stands in the hold, where it
/// is lent priority.
#[test]
fn what_a_hold_decides_to_wake_is_woken_within_the_hold() {
    let _watchdog = watchdog("what_a_hold_decides_to_wake_is_woken_within_the_hold");
    for kind in BOTH {
        let world = world(kind);
        let woken = world.stop_worker(Step::Woken);
        let first = world.queue.spawn(|| ());
        assert!(woken.wait(HANG / 2));
        let second = world.queue.spawn(|| ());
        let decided = world.stop_worker(Step::Decided);
        woken.let_go();
        assert!(decided.wait(HANG / 2));
        let engine = world.engine.clone();
        // It takes the pool's lock.
        let look = std::thread::spawn(move || engine.stats().pools.len());
        std::thread::sleep(QUIET);
        assert_eq!(look.is_finished(), kind == Kind::Ordinary, "{kind:?}");
        decided.let_go();
        assert_eq!(look.join().unwrap(), 1);
        first.join().unwrap();
        second.join().unwrap();
    }
}

fn spin(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// The same by the time that the thread has had of its CPU.
fn burn(time: Duration) {
    let spent = || {
        let clock = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(clock.tv_sec as u64, clock.tv_nsec as u32)
    };
    let until = spent() + time;
    while spent() < until {
        std::hint::spin_loop();
    }
}

fn set_policy(policy: i32, priority: i32) -> bool {
    let parameter = libc::sched_param { sched_priority: priority };
    // SAFETY: the parameter is valid for the call; 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, policy, &raw const parameter) == 0 }
}

fn policy() -> (i32, i32) {
    let mut parameter = libc::sched_param { sched_priority: 0 };
    // SAFETY: the parameter is valid for the call.
    unsafe { libc::sched_getparam(0, &raw mut parameter) };
    // SAFETY: 0 is the calling thread.
    (unsafe { libc::sched_getscheduler(0) }, parameter.sched_priority)
}

fn pin(cpu: usize) {
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu);
    rustix::thread::sched_setaffinity(None, &set).unwrap();
}

/// Two usable CPUs.
fn two_cpus() -> Option<[usize; 2]> {
    let set = rustix::thread::sched_getaffinity(None).unwrap();
    let mut cpus = (0..rustix::thread::CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu));
    Some([cpus.next()?, cpus.next()?])
}

/// Longer than a burst of the spinner: whoever is held back by it is held back for this long.
const BURST: Duration = Duration::from_secs(3);
/// What the holder of the lock needs of the CPU: more than the system leaves to ordinary threads during the burst.
const NEEDS: Duration = Duration::from_millis(300);

/// A worker that its own item has made an ordinary thread, on the first CPU, comes to the pool's lock, and a thread of
/// a higher priority keeps that CPU busy. Two workers sleep. An item that is queued on the other CPU wakes one, who
/// waits for the lock, and lends the holder a priority that is higher yet.
#[test]
fn a_holder_of_the_lock_that_is_preempted_is_lent_the_priority_of_those_who_wait() {
    let _watchdog = watchdog("a_holder_of_the_lock_that_is_preempted_is_lent_the_priority_of_those_who_wait");
    let Some([here, there]) = two_cpus() else { return skip("lent priority: one CPU") };
    if !std::thread::spawn(|| set_policy(libc::SCHED_FIFO, 1)).join().unwrap() {
        return skip("lent priority: no SCHED_FIFO");
    }
    // The holder is in the middle of its hold, and needs the CPU to get on.
    let holds = Arc::new(Mutex::new(None::<std::thread::ThreadId>));
    let reached = Arc::new(AtomicU64::new(0));
    let hook = {
        let (holds, reached) = (Arc::clone(&holds), Arc::clone(&reached));
        move |at: &At<'_>| {
            if at.step == Step::Taken && *holds.lock().unwrap() == Some(std::thread::current().id()) {
                *holds.lock().unwrap() = None;
                reached.store(1, Ordering::SeqCst);
                burn(NEEDS);
                reached.store(2, Ordering::SeqCst);
            }
        }
    };
    let engine = Engine::builder().on_step(hook).build().unwrap();
    let queue = engine.queue("lent").scope(Scope::System).real_time(SchedPolicy::Fifo(30)).build().unwrap();
    // A third worker, so that two sleep while the first is at the lock.
    let gates: Vec<Gate> = (0..2).map(|_| held(&queue)).collect();
    until("a third worker", || engine.stats().pools[0].workers >= 3);
    gates.into_iter().for_each(Gate::open);
    until("all sleep", || engine.stats().pools[0].active == 0);

    let until_it_holds = Arc::clone(&reached);
    let spinner = std::thread::spawn(move || {
        pin(here);
        assert!(set_policy(libc::SCHED_FIFO, 20));
        // By its clock: it must not run before the holder has come so far.
        while until_it_holds.load(Ordering::SeqCst) == 0 {
            std::thread::sleep(Duration::from_micros(200));
        }
        let begun = Instant::now();
        spin(BURST);
        begun
    });
    let whom = Arc::clone(&holds);
    let lowered = queue.spawn(move || {
        pin(here);
        *whom.lock().unwrap() = Some(std::thread::current().id());
        assert!(set_policy(libc::SCHED_OTHER, 0));
    });
    pin(there);
    until("it holds the lock", || reached.load(Ordering::SeqCst) == 1);
    // The spinner has the CPU by now.
    std::thread::sleep(Duration::from_millis(20));
    let begun = Instant::now();
    let item = queue.spawn(move || begun.elapsed());
    let waited = item.join().unwrap();
    lowered.join().unwrap();
    let burst = spinner.join().unwrap();
    println!("with the holder preempted the item waited for {waited:?}");
    assert!(begun > burst, "the spinner was there before the item");
    assert!(waited < BURST / 2, "it waited for the spinner: {waited:?}");
    // The test's own thread.
    let mut all = rustix::thread::CpuSet::new();
    [here, there].into_iter().for_each(|cpu| all.set(cpu));
    rustix::thread::sched_setaffinity(None, &all).unwrap();
}

fn may_be_in_real_time() -> bool {
    std::thread::spawn(|| set_policy(libc::SCHED_FIFO, 1)).join().unwrap()
}

#[test]
fn threads_have_the_policy_that_was_asked_for() {
    let _watchdog = watchdog("threads_have_the_policy_that_was_asked_for");
    if !may_be_in_real_time() {
        return skip("the policy of threads: no SCHED_FIFO");
    }
    let engine = Engine::new().unwrap();
    for (asked, is) in
        [(SchedPolicy::Fifo(3), (libc::SCHED_FIFO, 3)), (SchedPolicy::RoundRobin(2), (libc::SCHED_RR, 2))]
    {
        let queue = engine.queue("asked").real_time(asked).build().unwrap();
        let RealTime { asked: told, got, refused, .. } = queue.real_time().unwrap();
        assert_eq!((told, got, refused), (asked, Some(asked), None));
        assert_eq!(queue.spawn(policy).join().unwrap(), is);
        // Threads that are made later, by such threads, as well.
        let gates: Vec<Gate> = (0..4).map(|_| held(&queue)).collect();
        assert_eq!(queue.spawn(policy).join().unwrap(), is);
        gates.into_iter().for_each(Gate::open);
    }
    let ordinary = engine.queue("ordinary").build().unwrap();
    assert_eq!(ordinary.real_time(), None);
    assert_eq!(ordinary.spawn(policy).join().unwrap(), (libc::SCHED_OTHER, 0));
    let pools = engine.stats().pools;
    assert_eq!(pools.len(), 3, "one for each policy: {pools:?}");
}

/// In a process of its own that may not have real-time threads.
#[test]
fn what_the_system_refuses_is_told_and_the_queue_works() {
    let _watchdog = watchdog("what_the_system_refuses_is_told_and_the_queue_works");
    if !is_alone() {
        let output = run_alone("what_the_system_refuses_is_told_and_the_queue_works");
        assert!(output.status.success(), "{output:?}");
        return;
    }
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: a plain call on this process's own limit.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_RTPRIO, &raw const none) }, 0);
    // SAFETY: a plain call. Whoever is not the superuser has nothing to give up.
    let _ = unsafe { libc::setresuid(65534, 65534, 65534) };
    assert!(!may_be_in_real_time(), "it has been given up");
    let refused = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&refused);
    let engine = Engine::builder()
        .on_event(move |event| {
            if let EngineEvent::RealTimeRefused { pool, asked, error } = event {
                assert!(!pool.is_empty() && *asked == LOW && !error.is_empty());
                counter.fetch_add(1, Ordering::SeqCst);
            }
        })
        .build()
        .unwrap();
    let queue = engine.queue("refused").real_time(LOW).build().unwrap();
    let told = queue.real_time().unwrap();
    assert_eq!((told.asked, told.got), (LOW, None));
    assert!(told.refused.unwrap().contains("not permitted"));
    assert!(refused.load(Ordering::SeqCst) >= 1);
    assert_eq!(queue.spawn(policy).join().unwrap(), (libc::SCHED_OTHER, 0));
}

#[test]
fn bad_settings_are_refused_by_name() {
    let engine = Engine::new().unwrap();
    for policy in [SchedPolicy::Fifo(0), SchedPolicy::Fifo(100), SchedPolicy::RoundRobin(255)] {
        let text = engine.queue("bad").real_time(policy).build().unwrap_err().to_string();
        assert!(text.contains("\"bad\"") && text.contains("1..=99"), "{text}");
        assert!(text.contains(&policy.priority().to_string()), "{text}");
    }
    let text = engine.queue("bad").per_cpu().real_time(LOW).build().unwrap_err().to_string();
    assert!(text.contains("\"bad\"") && text.contains("Scope::Cpu"), "{text}");
}

/// Everything a queue promises, with threads that pause at random steps and workers that come and go.
#[test]
fn nothing_is_lost_while_threads_stop_at_random_and_workers_come_and_go() {
    let _watchdog = watchdog("nothing_is_lost_while_threads_stop_at_random_and_workers_come_and_go");
    for floor in 0..3 {
        let random = Mutex::new(Random::new(7 + u64::from(floor)));
        let engine = Engine::builder()
            .idle_timeout(Duration::from_micros(300))
            .idle_floor(floor)
            .on_step(move |at| {
                let draw = random.lock().unwrap().below(256);
                if draw < 4 && at.step != Step::Locked {
                    std::thread::sleep(Duration::from_micros(50 * draw));
                }
            })
            .build()
            .unwrap();
        let queue = engine.queue("storm").scope(Scope::System).real_time(LOW).build().unwrap();
        let ordered = engine.queue("order").ordered().real_time(LOW).build().unwrap();
        let ran = Arc::new(AtomicU64::new(0));
        let last = Arc::new(AtomicU64::new(0));
        let each = rounds(1000) as u64;
        std::thread::scope(|scope| {
            for thread in 0..4u64 {
                let (queue, ordered, ran, last) = (&queue, &ordered, &ran, &last);
                scope.spawn(move || {
                    let mut random = Random::new(thread);
                    for at in 0..each {
                        let ran = Arc::clone(ran);
                        let item = queue.spawn(move || ran.fetch_add(1, Ordering::SeqCst));
                        if random.below(8) == 0 {
                            item.join().unwrap();
                        }
                        if random.below(64) == 0 {
                            queue.flush().unwrap();
                        }
                        if thread == 0 {
                            let last = Arc::clone(last);
                            let _ = ordered.try_spawn(move || {
                                assert_eq!(last.swap(at + 1, Ordering::SeqCst), at, "in order");
                            });
                        }
                        if random.below(32) == 0 {
                            std::thread::sleep(Duration::from_micros(500));
                        }
                    }
                });
            }
        });
        queue.flush().unwrap();
        ordered.flush().unwrap();
        assert_eq!(ran.load(Ordering::SeqCst), 4 * each);
        assert_eq!(last.load(Ordering::SeqCst), each);
        assert_eq!(engine.stats().panics, 0);
    }
}
