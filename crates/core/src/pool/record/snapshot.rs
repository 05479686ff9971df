//! A core as words, with the links of the items that are in its lists.

use super::tape::Replayed;
use super::words::{Reader, Words, fields};
use crate::list::{Fifo, Items};
use crate::pool::PoolCore;
use crate::pool::busy::{BusySet, Entry};
use crate::pool::manage::{Manage, Watch};
use core::fmt::Debug;
use core::hash::Hash;

fields!([] Watch { worker, interval, progress, idle_looks });
fields!([] Manage {
    manager, manager_thread_creates, manager_thread_comes, manager_thread_waits, not_before, cull_armed
});
fields!([I: Words] Entry<I> { item, function, worker });
fields!([I: Words + Copy + Eq + Hash] PoolCore<I> {
    config, workers, idle, kicked, worklist, gates, touched, nr_wanted, busy, nr_scheduled, nr_inactive, nr_workers,
    nr_starting, nr_awake, nr_busy, nr_blocked, nr_intensive, batches, nr_leaving, standby, watch, manage,
    last_claim, closing
});

/// In the order of the buckets: what has one handle stays in its order, wherever a reader's hash puts it.
impl<I: Words + Copy + Eq + Hash> Words for BusySet<I> {
    fn put(&self, out: &mut Vec<u64>) {
        self.len.put(out);
        self.buckets.iter().flatten().for_each(|entry| entry.put(out));
    }
    fn get(input: &mut Reader<'_>) -> Option<Self> {
        let mut set = BusySet::new();
        for _ in 0..usize::get(input)? {
            let Entry { item, function, worker } = Words::get(input)?;
            set.insert(item, function, worker);
        }
        Some(set)
    }
}

/// Writes the core and its lists. Walks all workers, pwqs and queued items.
pub(super) fn put<I, S>(core: &PoolCore<I>, items: &S, out: &mut Vec<u64>)
where
    I: Words + Copy + Eq + Hash + Debug,
    S: Items<Item = I>,
{
    core.put(out);
    for list in lists(core) {
        let listed: Vec<(I, bool)> = list.iter(items).map(|item| (item, items.is_inactive(item))).collect();
        listed.put(out);
    }
}

/// Reads a core and its lists back; the handles are numbers. `None`: the words are none.
pub(super) fn get(input: &mut Reader<'_>) -> Option<(PoolCore<u64>, Replayed)> {
    let core = PoolCore::<u64>::get(input)?;
    let mut items = Replayed::default();
    for list in lists(&core) {
        let listed = Vec::<(u64, bool)>::get(input)?;
        let mut again = Fifo::new();
        for (item, inactive) in listed {
            again.push_back(&mut items, item);
            items.set_inactive(item, inactive);
        }
        if again != *list {
            return None;
        }
    }
    Some((core, items))
}

fn lists<I: Copy + Eq + Hash>(core: &PoolCore<I>) -> impl Iterator<Item = &Fifo<I>> {
    let own = core.workers.iter().map(|worker| &worker.scheduled);
    let waiting = core.gates.iter().map(|gate| gate.list());
    core::iter::once(&core.worklist).chain(own).chain(waiting)
}
