//! The item word under threads.

#[cfg(not(any(cmwq_loom, cmwq_shuttle)))]
use crate::sync::AtomicU32;
use crate::sync::{AtomicU64, Ordering};
use cmwq_core::step::Step;
use cmwq_core::work::{Enable, Ended, FlushTarget, HandOver, Submit, WorkWord};

/// The driver of [`WorkWord`]. One word of 64 bits; sleepers wait on its upper half.
#[derive(Debug)]
pub struct WorkCell {
    word: AtomicU64,
}

impl WorkCell {
    /// A cell with this word.
    pub fn new(word: WorkWord) -> Self {
        WorkCell { word: AtomicU64::new(word.bits()) }
    }

    #[cfg_attr(cmwq_loom, track_caller)]
    fn update<A>(&self, mut bits: u64, transition: impl Fn(WorkWord) -> Step<WorkWord, A>) -> A {
        loop {
            match transition(WorkWord::from_bits(bits)) {
                Step::Keep(answer) => return answer,
                Step::Write(next, answer) => {
                    // Ordering: every transition that others rely on is one read-modify-write with acquire and
                    // release, a refusal included: either the claimer sees that the item is idle, or the start of the
                    // pending run reads from the refusal's write and sees every store made before it. A plain load
                    // for the refusal would lose them.
                    match self.word.compare_exchange(bits, next.bits(), Ordering::AcqRel, Ordering::Acquire) {
                        Ok(_) => return answer,
                        Err(seen) => bits = seen,
                    }
                }
            }
        }
    }

    #[cfg_attr(cmwq_loom, track_caller)]
    fn read_bits(&self) -> u64 {
        // Ordering: acquire pairs with every transition's release: who sees that an instance has ended sees its work.
        self.word.load(Ordering::Acquire)
    }

    /// The word as it is now.
    pub fn read(&self) -> WorkWord {
        WorkWord::from_bits(self.read_bits())
    }

    /// Claims the item. Never blocks.
    #[inline]
    pub fn submit(&self) -> Submit {
        // Ordering: relaxed: only what to expect; the exchange acquires and releases, also for a refusal; see `update`.
        self.update(self.word.load(Ordering::Relaxed), WorkWord::submit)
    }

    /// Refuses a submission if the item is pending; see [`WorkWord::confirm_pending`]. Never blocks.
    pub fn confirm_pending(&self) -> bool {
        self.update(self.read_bits(), WorkWord::confirm_pending)
    }

    /// Leaves the claimed next instance to the finisher, if there still is one. Never blocks.
    pub fn hand_over(&self) -> HandOver {
        self.update(self.read_bits(), WorkWord::hand_over)
    }

    /// Keeps the place of a claimed next instance in the ordered queue where the item runs: the caller pushes it. Never
    /// blocks.
    pub fn stay_behind(&self) {
        self.update(self.read_bits(), WorkWord::stay_behind);
    }

    /// Starts the instance. For the worker that claimed it. Never blocks.
    pub fn start(&self) {
        self.update(self.read_bits(), WorkWord::start);
    }

    /// Starts an instance of a caller-owned item; the word is not touched afterwards. Never blocks.
    pub fn let_go(&self) {
        // Ordering: acquire and release, as in `update`.
        self.word.fetch_and(WorkWord::KEPT, Ordering::AcqRel);
    }

    /// Ends the running instance. For the worker that ran it. Never blocks.
    pub fn finish(&self) -> Ended {
        self.update(self.read_bits(), WorkWord::finish)
    }

    /// Ends a pending instance that is linked nowhere. For the holder of its pool's lock. Never blocks.
    pub fn cancel(&self) -> Ended {
        self.update(self.read_bits(), WorkWord::cancel)
    }

    /// Takes an instance that was left to the finisher back from it. Never blocks.
    pub fn take_back(&self) -> bool {
        self.update(self.read_bits(), WorkWord::take_back)
    }

    /// Ends a pending instance that is linked nowhere, and keeps the claim for the next one. For its owner. Never
    /// blocks.
    pub fn renew(&self) -> Ended {
        self.update(self.read_bits(), WorkWord::renew)
    }

    /// Refuses submissions until it is taken back; `false`: the depth is full. Never blocks.
    pub fn disable(&self) -> bool {
        self.update(self.read_bits(), WorkWord::disable)
    }

    /// Takes back one disable. Never blocks.
    pub fn enable(&self) -> Enable {
        self.update(self.read_bits(), WorkWord::enable)
    }

    /// Which instance a flush has to wait for. Never blocks.
    pub fn flush_target(&self) -> FlushTarget {
        self.read().flush_target()
    }

    /// Announces a sleeper on [`WorkCell::futex_address`]; `None` when the instance has ended. Never blocks.
    /// Otherwise the value to sleep on.
    pub fn announce_waiter(&self, target: u32) -> Option<u32> {
        self.update(self.read_bits(), |w| match w.announce_waiter(target) {
            Step::Keep(_) => Step::Keep(None),
            Step::Write(next, _) => Step::Write(next, Some(next.ended())),
        })
    }

    /// The half of the word that counts ended instances, for the system call that sleeps on it. Only ever given to
    /// the kernel; never accessed as an atomic of its own.
    #[cfg(not(any(cmwq_loom, cmwq_shuttle)))]
    pub fn futex_address(&self) -> *const AtomicU32 {
        let halves = core::ptr::from_ref(&self.word).cast::<AtomicU32>();
        halves.wrapping_add(if cfg!(target_endian = "little") { 1 } else { 0 })
    }

    /// The whole word: the model's futexes look at its upper half.
    #[cfg(cmwq_shuttle)]
    pub fn futex_address(&self) -> *const AtomicU64 {
        &raw const self.word
    }

    /// The word, for the model's sleep on its upper half.
    #[cfg(cmwq_loom)]
    pub fn sleep_word(&self) -> &AtomicU64 {
        &self.word
    }
}
