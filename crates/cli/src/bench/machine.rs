//! The machine that the figures are of.

use std::fs;

use cmwq_sys::affinity;
use cmwq_sys::topology::{CpuSet, Scope, Topology};
use serde::Serialize;

use super::mailbox;
use crate::source::Source;

/// What a reader of figures wants to know of the machine.
#[derive(Debug, Serialize)]
pub(crate) struct Machine {
    /// The processor's name.
    cpu: String,
    /// The kernel's release.
    kernel: String,
    /// Where the topology is from.
    topology: String,
    /// The CPUs that threads are bound to.
    cpus: String,
    /// How many.
    cpu_count: usize,
    /// Nanoseconds of a cache line's round trip between the first two CPUs, before and after the runs: hypervisors
    /// move
    /// virtual CPUs.
    pub(crate) line_round_trip_ns: [Option<f64>; 2],
    /// Of the topology, for each scope its pods.
    scopes: Vec<ScopePods>,
}

#[derive(Debug, Serialize)]
struct ScopePods {
    scope: &'static str,
    pods: Vec<String>,
}

impl Machine {
    /// Looks at it.
    pub(crate) fn look(source: &Source, topology: &Topology) -> Machine {
        let cpus = cpus_here(topology);
        let scopes = Scope::ALL.map(|scope| ScopePods {
            scope: scope.name(),
            pods: topology.pods(scope).iter().map(|pod| pod.cpus.to_string()).collect(),
        });
        Machine {
            cpu: processor(),
            kernel: line("/proc/sys/kernel/osrelease"),
            topology: source.name(),
            cpu_count: cpus.len(),
            cpus: cpus.to_string(),
            line_round_trip_ns: [mailbox::round_trip_ns(&cpus), None],
            scopes: scopes.into(),
        }
    }

    /// After the runs: looks again at what may have changed.
    pub(crate) fn look_again(&mut self, topology: &Topology) {
        self.line_round_trip_ns[1] = mailbox::round_trip_ns(&cpus_here(topology));
    }

    /// It in a few words, and how far its CPUs are apart.
    pub(crate) fn headline(&self) -> String {
        let Machine { cpu, kernel, topology, cpus, .. } = self;
        let trips: Vec<String> =
            self.line_round_trip_ns.iter().flatten().map(|ns| format!("{ns:.0}")).collect();
        let far = match trips.as_slice() {
            [] => String::new(),
            trips => format!(
                "\na cache line from one CPU to another and back, before and after: {} ns",
                trips.join(", ")
            ),
        };
        format!("{cpu}, Linux {kernel}, CPUs {cpus}, topology of {topology}{far}")
    }
}

/// The CPUs that threads can be bound to: those of the topology if it is this machine's, else those this process may
/// use.
pub(crate) fn cpus_here(topology: &Topology) -> CpuSet {
    if topology.is_host() {
        return topology.cpus().clone();
    }
    affinity::current().unwrap_or_default()
}

fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let names = ["model name", "Model", "uarch", "CPU part"];
    let value = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_once(':').map(|(_, value)| value.trim().to_owned())
    };
    names.into_iter().find_map(value).unwrap_or_else(|| format!("unknown {}", std::env::consts::ARCH))
}

fn line(path: &str) -> String {
    fs::read_to_string(path).map_or_else(|_| "unknown".to_owned(), |text| text.trim().to_owned())
}
