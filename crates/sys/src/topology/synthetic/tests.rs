use super::*;

fn lists(sets: &[CpuSet]) -> String {
    let lists: Vec<String> = sets.iter().map(CpuSet::to_string).collect();
    lists.join("|")
}

#[test]
fn counts_are_used_in_turn_and_from_the_start_again() {
    let hybrid = machine("core:5/thread:2x2+1x3").expect("a machine");
    assert_eq!(lists(&hybrid.cores), "0-1|2-3|4|5|6");
    let uneven = machine("node:2 cache:1+2 core:2+1").expect("a machine");
    assert_eq!(lists(&uneven.caches), "0-1|2|3-4");
    let nodes: Vec<String> = uneven.nodes.iter().map(|node| node.cpus.to_string()).collect();
    assert_eq!(nodes, ["0-1", "2-4"]);
}

#[test]
fn cpu_numbers_follow_the_order_asked_for() {
    for (order, cores, nodes) in [
        ("cores", "0-1|2-3|4-5|6-7", "0-3|4-7"),
        ("threads", "0,4|1,5|2,6|3,7", "0-1,4-5|2-3,6-7"),
        ("nodes", "0,2|1,3|4,6|5,7", "0,2,4,6|1,3,5,7"),
    ] {
        let machine = machine(&format!("node:2/core:2/thread:2/order:{order}")).expect(order);
        assert_eq!(lists(&machine.cores), cores, "{order}");
        let sets: Vec<CpuSet> = machine.nodes.iter().map(|node| node.cpus.clone()).collect();
        assert_eq!(lists(&sets), nodes, "{order}");
    }
}

#[test]
fn cpus_can_be_offline_absent_or_isolated() {
    let machine = machine("core:4/thread:2/offline:1,3/absent:4-5/isolated:1,7/memory:2").expect("a machine");
    assert_eq!(machine.online.to_string(), "0,2,6-7");
    assert_eq!(machine.offline.to_string(), "1,3");
    assert_eq!(machine.isolated.to_string(), "7");
    assert_eq!(lists(&machine.cores), "0|2|6-7");
    let ids: Vec<u32> = machine.nodes.iter().map(|node| node.id.0).collect();
    assert_eq!(ids, [0, 1, 2]);
    assert!(machine.nodes[1].cpus.is_empty() && machine.nodes[2].cpus.is_empty());
}

#[test]
fn a_bad_spec_is_refused_with_the_byte_and_the_remedy() {
    for (spec, at, remedy) in [
        ("", 0, "core:8"),
        (" / ", 0, "core:8"),
        ("core", 0, "key:value"),
        ("node:2/cores:8", 7, "use node, cache, core"),
        ("core:2/core:3", 7, "twice"),
        ("node:0", 5, "from 1 to"),
        ("node:2+2", 5, "from 1 to"),
        ("memory:-1", 7, "from 0 to"),
        ("core:2+x3", 7, "from 1 to"),
        ("core:2x0", 7, "from 1 to"),
        ("core:2/order:sideways", 13, "cores, threads or nodes"),
        ("core:4/offline:2-", 17, "write CPUs as"),
        ("core:4/offline:4", 15, "machine of 4 CPUs"),
        ("core:1/offline:0", 15, "leave one out"),
        ("node:8192/core:8192", 0, "more than 8192 CPUs"),
        ("core:1x8192+1x8192", 12, "more than 8192 counts"),
        ("thread:99999999999999999999", 7, "from 1 to"),
    ] {
        let error = machine(spec).expect_err(spec).to_string();
        assert!(error.contains(&format!("byte {at}:")), "{spec:?}: {error}");
        assert!(error.contains(remedy) && error.lines().count() == 1, "{spec:?}: {error}");
    }
}
