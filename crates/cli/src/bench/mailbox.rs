//! How long a cache line takes from one CPU to another and back: what no handing over of an item can be faster than.

use std::hint;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use cmwq_sys::affinity;
use cmwq_sys::topology::{CpuId, CpuSet};

/// One letter box, alone on its cache lines.
#[repr(align(128))]
#[derive(Default)]
struct Letterbox(AtomicU32);

impl Letterbox {
    /// Waits for this letter, until the deadline.
    fn expect(&self, letter: u32, until: Instant) -> bool {
        loop {
            for _ in 0..1000 {
                if self.0.load(Ordering::Acquire) == letter {
                    return true;
                }
                hint::spin_loop();
            }
            if Instant::now() >= until {
                return false;
            }
        }
    }

    fn put(&self, letter: u32) {
        self.0.store(letter, Ordering::Release);
    }
}

const ROUNDS: u32 = 20_000;
const LIMIT: Duration = Duration::from_millis(200);

/// Nanoseconds of a round trip between the first two of these CPUs, both sides spinning; `None` with a single CPU,
/// or when the
/// other side did not get to run.
pub(crate) fn round_trip_ns(cpus: &CpuSet) -> Option<f64> {
    let (first, second) = (cpus.iter().next()?, cpus.iter().nth(1)?);
    let (there, back) = (Letterbox::default(), Letterbox::default());
    let until = Instant::now() + LIMIT;
    thread::scope(|scope| {
        scope.spawn(|| {
            bound(second, || {
                (1..=ROUNDS).all(|letter| {
                    there.expect(letter, until) && {
                        back.put(letter);
                        true
                    }
                })
            })
        });
        let mine = scope.spawn(|| {
            bound(first, || {
                let start = Instant::now();
                let all = (1..=ROUNDS).all(|letter| {
                    there.put(letter);
                    back.expect(letter, until)
                });
                all.then(|| start.elapsed().as_nanos() as f64 / f64::from(ROUNDS))
            })
        });
        mine.join().ok().flatten()
    })
}

fn bound<T>(cpu: CpuId, body: impl FnOnce() -> T) -> T {
    let only: CpuSet = [cpu].into_iter().collect();
    // Where a thread may not be bound the figure is still one of this machine.
    let _ = affinity::set_current(&only);
    body()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_cpu_has_no_other_side() {
        assert_eq!(round_trip_ns(&[CpuId(0)].into_iter().collect()), None);
    }

    #[test]
    fn a_round_trip_takes_some_time() {
        let cpus = affinity::current().unwrap();
        if let Some(ns) = round_trip_ns(&cpus) {
            assert!(ns > 1.0, "{ns} ns");
        }
    }
}
