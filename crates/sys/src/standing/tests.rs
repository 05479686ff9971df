use super::*;

fn on_a_thread(body: impl FnOnce() + Send) {
    std::thread::scope(|threads| {
        threads.spawn(body);
    });
}

#[test]
fn nothing_changes_by_itself() {
    on_a_thread(|| {
        let before = Standing::current();
        assert!(before.signals.is_some() && before.cpus.is_some() && before.scheduling.is_some());
        assert_eq!(before.changes(&Standing::current()).count(), 0);
    });
}

#[test]
fn each_change_is_seen_and_taken_back() {
    on_a_thread(|| {
        let before = Standing::current();
        let changed = |what| {
            assert_eq!(before.changes(&Standing::current()).collect::<Vec<_>>(), [what]);
            before.restore(what).unwrap();
            assert_eq!(before.changes(&Standing::current()).count(), 0, "{what}");
        };
        set_signals(before.signals.unwrap() | 1 << (libc::SIGUSR1 - 1)).unwrap();
        changed(Leftover::Signals);
        let batch = Scheduling { policy: libc::SCHED_BATCH as u32, ..before.scheduling.unwrap() };
        batch.set_current().unwrap();
        changed(Leftover::Scheduling);
        let cpus = before.cpus.clone().unwrap();
        if cpus.len() > 1 {
            affinity::set_current(&cpus.first().into_iter().collect()).unwrap();
            changed(Leftover::Cpus);
        }
    });
}

#[test]
fn what_is_not_told_counts_as_unchanged() {
    let before = Standing::current();
    let nothing = Standing { signals: None, cpus: None, scheduling: None };
    assert_eq!(before.changes(&nothing).count() + nothing.changes(&before).count(), 0);
    assert!(Leftover::ALL.iter().all(|what| nothing.restore(*what).is_ok()));
}
