#![allow(missing_docs)]
use cmwq::bench::*;
use cmwq::*;
use std::ptr::NonNull;
use std::time::*;
#[repr(C, align(64))]
struct It {
    raw: RawWork,
    done: *const Completion,
}
unsafe fn f(w: NonNull<RawWork>) {
    unsafe { (*(*w.cast::<It>().as_ptr()).done).complete() }
}
fn ts() -> u64 {
    unsafe {
        core::arch::x86_64::_mm_lfence();
        core::arch::x86_64::_rdtsc()
    }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let p: usize = args[1].parse().unwrap();
    let n: usize = args[2].parse().unwrap();
    let shape = match args[3].as_str() {
        "a" => Shape::UnderLock,
        "b" => Shape::Deferred,
        _ => Shape::Inbox,
    };
    let wait = match args[4].as_str() {
        "park" => WaitPolicy::Park,
        "yield" => WaitPolicy::Yield,
        _ => WaitPolicy::Adaptive,
    };
    let cover = match args[5].as_str() {
        "eager" => CoverPolicy::Eager,
        _ => CoverPolicy::Watched,
    };
    let e = Engine::builder().shape(shape).wait(wait).cover(cover).workers_max(2).build().unwrap();
    let q = e.queue("b").scope(Scope::System).build().unwrap();
    q.spawn(|| ()).join().unwrap();
    let bar = std::sync::Barrier::new(p + 1);
    let mut all: Vec<u32> = vec![];
    let el = std::thread::scope(|s| {
        let hs: Vec<_> = (0..p)
            .map(|i| {
                let (q, bar) = (&q, &bar);
                s.spawn(move || {
                    let cpus: cmwq_sys::topology::CpuSet =
                        [cmwq_sys::topology::CpuId((i % 2) as u32)].into_iter().collect();
                    cmwq_sys::affinity::set_current(&cpus).unwrap();
                    let c = Completion::default();
                    let it = Box::into_raw(Box::new(It { raw: RawWork::new(f), done: &c }));
                    let mut lat = Vec::with_capacity(n);
                    bar.wait();
                    for i in 0..n {
                        let sample = i % 8 == 0;
                        c.reinit();
                        unsafe {
                            (&raw mut (*it).raw).write(RawWork::new(f));
                        }
                        let t = if sample { ts() } else { 0 };
                        let r = unsafe { RawWork::queue(NonNull::new(it).unwrap().cast(), q) };
                        let t2 = if sample { ts() } else { 0 };
                        assert_eq!(r, Submit::Queued);
                        if sample {
                            lat.push((t2 - t) as u32);
                        }
                        c.wait(wait);
                    }
                    lat
                })
            })
            .collect();
        bar.wait();
        let t = Instant::now();
        for h in hs {
            all.extend(h.join().unwrap());
        }
        t.elapsed()
    });
    all.sort();
    let pc = |x: usize| all[all.len() * x / 100];
    println!(
        "{:?} {:?} p={p}: {:.0} k/s  p50 {} p95 {} p99 {} cycles cpu/item {:.2}us {:?}",
        shape,
        wait,
        (p * n) as f64 / el.as_secs_f64() / 1e3,
        pc(50),
        pc(95),
        pc(99),
        cmwq_sys::clock::process_cpu_time().as_secs_f64() * 1e6 / (p * n) as f64,
        e.stats().pools[0]
    );
}
