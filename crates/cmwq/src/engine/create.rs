//! Creating worker threads.

use super::{EngineEvent, Shared};
use crate::pool::Pool;
use crate::steps::Step;
use crate::worker;
use cmwq_core::id::{Sleeper, WorkerId};
use cmwq_core::pool::{Event, Verdict};
use std::io;
use std::sync::Arc;

impl Pool {
    /// Makes the thread of a worker. Blocks for the time of the system calls. `false`: it could not be made; the
    /// caller
    /// reports that to the core, and nothing is lost.
    pub(crate) fn create_worker(&self, worker: WorkerId) -> bool {
        self.create_or_say_why(worker).is_ok()
    }

    fn create_or_say_why(&self, worker: WorkerId) -> io::Result<()> {
        let Some(engine) = self.engine.upgrade() else { return Err(io::ErrorKind::NotFound.into()) };
        self.at(Step::Making, Some(Sleeper::Worker(worker)));
        let made = self.try_create(&engine, worker);
        self.at(Step::Made, Some(Sleeper::Worker(worker)));
        match &made {
            Ok(()) => {
                self.created.add(1);
                engine.tell(&EngineEvent::WorkerCreated { pool: self.setup.name.clone() });
            }
            Err(error) => {
                self.create_failures.add(1);
                let error = error.to_string();
                engine.tell(&EngineEvent::WorkerCreationFailed { pool: self.setup.name.clone(), error });
            }
        }
        made
    }

    /// Makes the first worker of a pool that has none, although nothing is queued. Blocks for the time of the system
    /// calls. `false`: none could be made a moment ago, and it is too early to try again.
    pub(crate) fn make_first(&self) -> io::Result<bool> {
        let mut hold = self.hold(worker::clock::now());
        if hold.core().nr_workers() > 0 {
            hold.release();
            return Ok(true);
        }
        hold.step(Event::ManagerLook { inbox: true });
        let verdict = hold.verdict();
        hold.release();
        let Verdict::Create(worker) = verdict else { return Ok(false) };
        let made = self.create_or_say_why(worker);
        let mut hold = self.hold(worker::clock::now());
        hold.step(if made.is_ok() { Event::Created(worker) } else { Event::CreateFailed(worker) });
        hold.release();
        made.map(|()| true)
    }

    fn try_create(&self, engine: &Arc<Shared>, worker: WorkerId) -> io::Result<()> {
        #[cfg(feature = "bench")]
        if crate::bench::creation_is_refused() {
            return Err(io::Error::from(io::ErrorKind::OutOfMemory));
        }
        self.make_cell(worker)?;
        let pool = engine.find_pool(self).expect("a pool is in its engine's registry");
        let engine_of_thread = Arc::clone(engine);
        let name = format!("{}:{}", self.setup.thread_name, worker.0);
        engine.spawn(name, move || {
            if !pool.setup.affinity.is_empty() {
                // A CPU may have gone since the machine was read; then the worker runs where the system puts it.
                let _ = cmwq_sys::affinity::set_current(&pool.setup.affinity);
            }
            pool.enter_real_time();
            worker::run(&pool, worker);
            drop(pool);
            engine_of_thread.reap_threads();
        })
    }
}

impl Shared {
    fn find_pool(&self, pool: &Pool) -> Option<Arc<Pool>> {
        self.all_pools().into_iter().find(|p| std::ptr::eq(&**p, pool))
    }

    /// A thread of this engine. It is listed so that shutdown can wait for its end.
    pub(crate) fn spawn(
        self: &Arc<Self>,
        name: String,
        body: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        let engine = Arc::as_ptr(self) as usize;
        let mut threads = self.threads.lock();
        threads.reserve(1);
        let handle = cmwq_sys::thread::spawn(name, move || {
            worker::set_engine_thread(engine);
            body();
        })?;
        threads.push(handle);
        Ok(())
    }

    /// For a thread that is about to end: lets go of those that have. Its own handle stays listed: whoever ends the
    /// engine waits until the thread is gone, and with it what it still holds of the engine and of the program's
    /// code.
    fn reap_threads(&self) {
        let ended: Vec<_> = self.threads.lock().extract_if(.., |thread| thread.is_finished()).collect();
        for thread in ended {
            let _ = thread.join();
        }
    }
}
