//! What a worker thread is: its name, its CPUs, its signals - none of it inherited from whoever caused its creation.

mod support;

use cmwq::{Engine, Queue, Scope, Submit, Topology, Work};
use cmwq_sys::affinity;
use cmwq_sys::topology::{CpuId, CpuSet};
use std::sync::{Arc, Mutex};
use support::{own_status, skip, threads_named, watchdog};

/// What an item sees of its thread: its CPUs, its blocked signals, its name.
fn look(queue: &Queue, cpu: u32) -> (CpuSet, u64, String) {
    let seen = Arc::new(Mutex::new(None));
    let seen2 = Arc::clone(&seen);
    let work = Work::new(move |_| {
        let name = std::fs::read_to_string("/proc/thread-self/comm").unwrap().trim_end().to_owned();
        let blocked = u64::from_str_radix(&own_status("SigBlk"), 16).unwrap();
        *seen2.lock().unwrap() = Some((affinity::current().unwrap(), blocked, name));
    });
    assert_eq!(queue.queue_on(cpu, &work), Submit::Queued);
    work.flush().unwrap();
    seen.lock().unwrap().take().unwrap()
}

/// Runs a body on a thread that is bound to one CPU.
fn pinned(cpu: CpuId, body: impl FnOnce() + Send) {
    std::thread::scope(|threads| {
        threads.spawn(|| {
            affinity::set_current(&[cpu].into_iter().collect()).unwrap();
            body();
        });
    });
}

#[test]
fn workers_are_named_after_engine_and_pod() {
    let _watchdog = watchdog("workers_are_named_after_engine_and_pod");
    let engine = Engine::builder().name("nm").build().unwrap();
    let cpu = engine.topology().cpus().first().unwrap().0;
    let per_cpu = engine.queue("one").per_cpu().build().unwrap();
    let name = look(&per_cpu, cpu).2;
    assert!(name.starts_with(&format!("nm/cpu{cpu}:")), "{name}");
    let unbound = engine.queue("pod").scope(Scope::System).build().unwrap();
    let pod = engine.topology().pods(Scope::System)[0].cpus.to_string();
    let expected: String = format!("nm/{pod}:").chars().take(15).collect();
    let name = look(&unbound, cpu).2;
    assert!(name.starts_with(&expected), "{name}");
    assert!(threads_named("nm/").contains(&"nm/manager".to_owned()));
}

#[test]
fn workers_block_every_signal_that_can_be_blocked() {
    let _watchdog = watchdog("workers_block_every_signal_that_can_be_blocked");
    let engine = Engine::builder().name("sig").build().unwrap();
    let cpu = engine.topology().cpus().first().unwrap().0;
    // KILL and STOP cannot be; 32 and 33 are the C library's.
    let spared = 1 << (libc::SIGKILL - 1) | 1 << (libc::SIGSTOP - 1) | 1 << 31 | 1 << 32;
    for builder in [engine.queue("a").per_cpu(), engine.queue("b"), engine.queue("c").strict(true)] {
        let blocked = look(&builder.build().unwrap(), cpu).1;
        assert_eq!(blocked | spared, u64::MAX, "{blocked:x}");
    }
    let own = u64::from_str_radix(&own_status("SigBlk"), 16).unwrap();
    assert_eq!(own & !spared, 0, "the creator's own signals are as before");
}

#[test]
fn affinity_is_the_pools_own_and_never_the_creators() {
    let _watchdog = watchdog("affinity_is_the_pools_own_and_never_the_creators");
    let all = Topology::detect().unwrap();
    let cpus: Vec<CpuId> = all.cpus().iter().collect();
    let (first, last) = (cpus[0], cpus[cpus.len() - 1]);
    if first == last {
        skip("affinity: needs two CPUs");
        return;
    }
    let engine = Engine::builder().name("aff").build().unwrap();
    let queues = [
        engine.queue("cpu").per_cpu().build().unwrap(),
        engine.queue("strict").scope(Scope::Cpu).strict(true).build().unwrap(),
        engine.queue("loose").scope(Scope::Cpu).build().unwrap(),
        engine.queue("system").scope(Scope::System).strict(true).build().unwrap(),
    ];
    // The submitter is bound to the one CPU, and the items are to run on the other.
    pinned(first, || {
        let only: CpuSet = [last].into_iter().collect();
        let expected = [only.clone(), only, all.cpus().clone(), all.pods(Scope::System)[0].cpus.clone()];
        for (queue, expected) in queues.iter().zip(expected) {
            assert_eq!(look(queue, last.0).0, expected, "{queue:?}");
            // Also of workers that other workers have made.
            let handles: Vec<_> = (0..8)
                .map(|_| {
                    queue.spawn(|| {
                        cmwq::blocking(|| std::thread::sleep(std::time::Duration::from_millis(2)));
                        affinity::current().unwrap()
                    })
                })
                .collect();
            let seen: Vec<CpuSet> = handles.into_iter().map(|handle| handle.join().unwrap()).collect();
            assert!(seen.iter().all(|set| set.len() != 1 || expected.len() == 1), "{queue:?}: {seen:?}");
        }
    });
}

/// The machine is what the process may use; an engine built by a bound thread sees no more.
#[test]
fn an_engine_built_by_a_bound_thread_still_makes_its_workers_alike() {
    let _watchdog = watchdog("an_engine_built_by_a_bound_thread_still_makes_its_workers_alike");
    let cpu = Topology::detect().unwrap().cpus().last().unwrap();
    pinned(cpu, || {
        let engine = Engine::builder().name("bound").build().unwrap();
        let queue = engine.queue("bound").build().unwrap();
        let seen = look(&queue, engine.topology().cpus().first().unwrap().0).0;
        assert_eq!(seen, *engine.topology().cpus());
    });
}

#[test]
fn on_a_described_machine_workers_are_not_bound() {
    let _watchdog = watchdog("on_a_described_machine_workers_are_not_bound");
    let topology = Topology::synthetic("core:128").unwrap();
    let engine = Engine::builder().topology(topology).build().unwrap();
    let queue = engine.queue("described").per_cpu().build().unwrap();
    assert_eq!(look(&queue, 100).0, affinity::current().unwrap());
}
