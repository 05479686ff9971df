//! What an item's function leaves behind on its worker's thread is told with its place, and taken back.

mod support;

use cmwq::{Engine, EngineEvent, Leftover, Queue, Scope};
use cmwq_sys::affinity;
use std::sync::{Arc, Mutex};
use support::{is_alone, own_status, run_alone, skip, watchdog};

type Told = Arc<Mutex<Vec<(Option<String>, String, Leftover, bool)>>>;

fn engine(check: bool) -> (Engine, Told) {
    let told = Told::default();
    let telling = Arc::clone(&told);
    let builder = Engine::builder().check_items(check).workers_max(1).on_event(move |event| {
        if let EngineEvent::ItemLeft { queue, place, what, restored, .. } = event {
            telling.lock().unwrap().push((queue.clone(), place.clone(), *what, *restored));
        }
    });
    (builder.build().unwrap(), told)
}

fn queue(engine: &Engine) -> Queue {
    engine.queue("left").scope(Scope::System).build().unwrap()
}

fn unblock() {
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset initialises the set it is given.
    unsafe { libc::sigemptyset(set.as_mut_ptr()) };
    // SAFETY: the set is initialised.
    unsafe { libc::sigaddset(set.as_mut_ptr(), libc::SIGUSR1) };
    // SAFETY: the set is valid for the call; no old set is asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_UNBLOCK, set.as_ptr(), std::ptr::null_mut()) };
}

fn be_a_batch() {
    // SAFETY: a structure of integers, for which zeros are valid.
    let parameter: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: the parameter is valid for the call; 0 is the calling thread.
    assert_eq!(unsafe { libc::sched_setscheduler(0, libc::SCHED_BATCH, &raw const parameter) }, 0);
}

fn stay_on_one_cpu() {
    affinity::set_current(&affinity::current().unwrap().first().into_iter().collect()).unwrap();
}

/// What an item sees of its thread.
fn look() -> (String, String, i32) {
    // SAFETY: takes numbers and touches no memory; 0 is the calling thread.
    let policy = unsafe { libc::sched_getscheduler(0) };
    (own_status("SigBlk"), own_status("Cpus_allowed"), policy)
}

/// Clean items, one that leaves something, and clean ones, all queued together: only that one is named, and the others
/// find the thread as it was.
fn leaves(function: fn(), what: &[Leftover]) {
    let (engine, told) = engine(true);
    let queue = queue(&engine);
    let before = queue.spawn(look).join().unwrap();
    let clean = || (0..5).map(|_| queue.spawn(look)).collect::<Vec<_>>();
    let mut items = clean();
    let line = line!() + 1;
    let leaving = queue.spawn(function);
    items.extend(clean());
    leaving.join().unwrap();
    assert!(items.into_iter().all(|item| item.join().unwrap() == before));
    queue.flush().unwrap();
    let told = told.lock().unwrap();
    assert_eq!(told.iter().map(|(_, _, what, _)| *what).collect::<Vec<_>>(), what);
    for (queue, place, _, restored) in &*told {
        assert_eq!((queue.as_deref(), *restored), (Some("left"), true));
        assert!(place.contains("leftovers.rs") && place.contains(&format!(":{line}:")), "{place}");
    }
}

#[test]
fn what_an_item_leaves_behind_is_told_with_its_place_and_taken_back() {
    let _watchdog = watchdog("what_an_item_leaves_behind_is_told_with_its_place_and_taken_back");
    leaves(|| (), &[]);
    leaves(unblock, &[Leftover::Signals]);
    leaves(be_a_batch, &[Leftover::Scheduling]);
    leaves(|| (unblock(), be_a_batch()).0, &[Leftover::Signals, Leftover::Scheduling]);
    if affinity::current().unwrap().len() > 1 {
        leaves(stay_on_one_cpu, &[Leftover::Cpus]);
    } else {
        skip("leftovers: needs two CPUs");
    }
}

#[test]
fn an_item_that_panics_is_looked_after_too() {
    let _watchdog = watchdog("an_item_that_panics_is_looked_after_too");
    let (engine, told) = engine(true);
    let queue = queue(&engine);
    let item = queue.spawn(|| {
        be_a_batch();
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(item.join().is_err());
    queue.flush().unwrap();
    assert_eq!(told.lock().unwrap().len(), 1);
}

#[test]
fn an_engine_that_does_not_look_tells_nothing() {
    let _watchdog = watchdog("an_engine_that_does_not_look_tells_nothing");
    let (engine, told) = engine(false);
    let queue = queue(&engine);
    queue.spawn(be_a_batch).join().unwrap();
    assert_eq!(queue.spawn(look).join().unwrap().2, libc::SCHED_BATCH);
    queue.flush().unwrap();
    assert!(told.lock().unwrap().is_empty());
}

/// In a process of its own, which gives up its privileges: a nice value that has been raised cannot be lowered again.
#[test]
fn what_cannot_be_taken_back_is_told_once() {
    let _watchdog = watchdog("what_cannot_be_taken_back_is_told_once");
    if !is_alone() {
        let output = run_alone("what_cannot_be_taken_back_is_told_once");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if let Some(reason) = text.lines().find_map(|line| line.strip_prefix("skipped: ")) {
            skip(reason);
        }
        assert!(output.status.success(), "{output:?}");
        return;
    }
    let limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the limit is valid for the call.
    unsafe { libc::setrlimit(libc::RLIMIT_NICE, &raw const limit) };
    // SAFETY: changes the user of this process, which exists for this test alone; without privileges it has none.
    unsafe { libc::setresuid(54_321, 54_321, 54_321) };
    let nicer = |by| {
        // SAFETY: takes a number and touches no memory.
        unsafe { libc::nice(by) }
    };
    let may_go_back = std::thread::spawn(move || (nicer(1), nicer(-1)).1 != -1).join().unwrap();
    if may_go_back {
        let _ = std::io::Write::write_all(
            &mut std::io::stderr(),
            b"skipped: leftovers: nice values can be lowered\n",
        );
        return;
    }
    let (engine, told) = engine(true);
    let queue = queue(&engine);
    queue.spawn(move || nicer(3)).join().unwrap();
    (0..5).for_each(|_| assert!(queue.spawn(look).join().is_ok()));
    queue.flush().unwrap();
    let told = told.lock().unwrap();
    assert_eq!(told.iter().map(|told| (told.2, told.3)).collect::<Vec<_>>(), [(Leftover::Scheduling, false)]);
}
