use super::*;

#[test]
fn a_thread_can_be_bound_to_one_cpu_and_released() {
    std::thread::spawn(|| {
        let before = current().expect("affinity of this thread");
        let cpu = before.last().expect("at least one CPU");
        set_current(&CpuSet::from_iter([cpu])).expect("binding to an allowed CPU");
        assert_eq!(current().expect("affinity").to_string(), cpu.to_string());
        assert_eq!(current_cpu(), cpu.0);
        set_current(&before).expect("back to the old mask");
        assert_eq!(current().expect("affinity"), before);
    })
    .join()
    .expect("the thread ends well");
}

#[test]
fn binding_to_nothing_or_to_absent_cpus_is_an_error() {
    let absent = CpuSet::from_iter([CpuId(CpuSet::LIMIT - 1)]);
    for cpus in [CpuSet::new(), absent] {
        let error = set_current(&cpus).expect_err("no such CPU");
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}

#[test]
fn masks_of_more_than_1024_cpus_are_spelled_out_and_read_back() {
    let cpus: CpuSet = [0, 31, 32, 63, 64, 1023, 1024, 5000].map(CpuId).into_iter().collect();
    assert_eq!(cpus_of(&words_of(&cpus)), cpus);
    assert_eq!(words_of(&CpuSet::new()), [0]);
}
