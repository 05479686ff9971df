//! What recording costs: closures spawned in bursts and joined, with a recorder and without, in turn.

use std::time::Instant;

use cmwq::{Engine, Scope};

const BURST: usize = 64;
const ROUNDS: usize = 2000;

/// Nanoseconds an item.
fn run(record: Option<usize>) -> Result<f64, Box<dyn std::error::Error>> {
    let mut builder = Engine::builder();
    if let Some(bytes) = record {
        builder = builder.record(bytes);
    }
    let engine = builder.build()?;
    let queue = engine.queue("cost").scope(Scope::System).build()?;
    let begin = Instant::now();
    for _ in 0..ROUNDS {
        let handles: Vec<_> = (0..BURST).map(|_| queue.spawn(|| ())).collect();
        for handle in handles {
            handle.join().map_err(|_| "an item was lost")?;
        }
    }
    Ok(begin.elapsed().as_nanos() as f64 / (BURST * ROUNDS) as f64)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("ns an item: off, on with 1 MiB a pool");
    for _ in 0..5 {
        println!("{:8.0} {:8.0}", run(None)?, run(Some(1 << 20))?);
    }
    Ok(())
}
