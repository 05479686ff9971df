//! Machines that need not exist, from a line of text.

use super::cpu_set::{CpuId, CpuSet};
use super::error::TopologyError;
use super::machine::{Groups, Machine};
use super::{Node, NodeId};

/// The grammar of the specs that [`Topology::synthetic`](super::Topology::synthetic) reads, for a
/// help text.
pub const SPEC_GRAMMAR: &str = "\
A spec is fields `key:value`, separated by spaces or `/`, in any order, each at most once:
  node:N          NUMA nodes with CPUs
  cache:COUNTS    last-level caches in each node
  core:COUNTS     cores in each cache
  thread:COUNTS   hardware threads in each core
  memory:N        further nodes, with memory only (otherwise 0)
  order:cores     CPU numbers go through a core before the next core (otherwise this)
  order:threads   CPU numbers go through the first threads of all cores, then the second
  order:nodes     CPU numbers are dealt out to the nodes in turn
  offline:LIST    CPUs that are present and not online
  absent:LIST     CPUs that are not there, which leaves gaps in the numbers
  isolated:LIST   CPUs the scheduler leaves alone
N is a number, 1 where the field is missing. COUNTS is a number for all, or several joined by `+`
that are used in turn, from the start again at the end; `2x6` stands for six times 2. LIST is CPU
numbers and ranges: 0-3,8. A machine has at most 8192 CPUs.
Examples:
  node:2/cache:4/core:8/thread:2            128 CPUs
  core:14/thread:2x6+1x8                    six cores of two threads, eight of one
  node:4/core:8/offline:3,9/memory:1        two CPUs offline, a fifth node without CPUs";

/// As many as the kernel is built for; keeps a slip of the finger from filling the memory.
const CPUS_MAX: usize = 1 << 13;

/// Where a hardware thread sits; all numbers count through the machine, `thread` through its core.
struct Place {
    node: usize,
    cache: usize,
    core: usize,
    thread: usize,
    /// Its place among the threads of the node.
    in_node: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Cores,
    Threads,
    Nodes,
}

/// A CPU list of the spec, and the byte it starts at.
#[derive(Default)]
struct Listed {
    cpus: CpuSet,
    at: usize,
}

/// The spec, understood but not yet built.
struct Plan<'a> {
    spec: &'a str,
    nodes: usize,
    memory_nodes: usize,
    caches: Vec<usize>,
    cores: Vec<usize>,
    threads: Vec<usize>,
    order: Order,
    offline: Listed,
    absent: Listed,
    isolated: Listed,
}

/// Reads a spec and builds its machine.
pub(super) fn machine(spec: &str) -> Result<Machine, TopologyError> {
    parse(spec)?.build()
}

/// The fields with the bytes they start at.
fn fields(spec: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_separator = |c: char| c == '/' || c.is_ascii_whitespace();
    let mut at = 0;
    spec.split(is_separator).filter_map(move |field| {
        let start = at;
        at += field.len() + 1;
        (!field.is_empty()).then_some((start, field))
    })
}

fn parse(spec: &str) -> Result<Plan<'_>, TopologyError> {
    let mut plan = Plan {
        spec,
        nodes: 1,
        memory_nodes: 0,
        caches: vec![1],
        cores: vec![1],
        threads: vec![1],
        order: Order::Cores,
        offline: Listed::default(),
        absent: Listed::default(),
        isolated: Listed::default(),
    };
    let mut seen: Vec<&str> = Vec::new();
    for (at, field) in fields(spec) {
        let Some((key, value)) = field.split_once(':') else {
            return Err(TopologyError::spec(spec, at, "a field is written key:value, such as core:8"));
        };
        if seen.contains(&key) {
            return Err(TopologyError::spec(spec, at, &format!("{key} is given twice")));
        }
        seen.push(key);
        plan.field(at, key, at + key.len() + 1, value)?;
    }
    if seen.is_empty() {
        return Err(TopologyError::spec(spec, 0, "nothing is given; write for example core:8/thread:2"));
    }
    Ok(plan)
}

impl Plan<'_> {
    fn field(&mut self, key_at: usize, key: &str, at: usize, value: &str) -> Result<(), TopologyError> {
        match key {
            "node" => self.nodes = self.number(at, value, 1)?,
            "memory" => self.memory_nodes = self.number(at, value, 0)?,
            "cache" => self.caches = self.counts(at, value)?,
            "core" => self.cores = self.counts(at, value)?,
            "thread" => self.threads = self.counts(at, value)?,
            "order" => self.order = self.order(at, value)?,
            "offline" => self.offline = self.listed(at, value)?,
            "absent" => self.absent = self.listed(at, value)?,
            "isolated" => self.isolated = self.listed(at, value)?,
            _ => {
                let keys = "node, cache, core, thread, memory, order, offline, absent, isolated";
                return Err(self.wrong(key_at, &format!("{key:?} is no key; use {keys}")));
            }
        }
        Ok(())
    }

    fn wrong(&self, at: usize, why: &str) -> TopologyError {
        TopologyError::spec(self.spec, at, why)
    }

    fn number(&self, at: usize, text: &str, min: usize) -> Result<usize, TopologyError> {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = if is_number { text.parse().ok() } else { None };
        number
            .filter(|number| (min..=CPUS_MAX).contains(number))
            .ok_or_else(|| self.wrong(at, &format!("{text:?} is not a number from {min} to {CPUS_MAX}")))
    }

    fn counts(&self, at: usize, text: &str) -> Result<Vec<usize>, TopologyError> {
        let mut counts = Vec::new();
        let mut at = at;
        for item in text.split('+') {
            let (count, times) = match item.split_once('x') {
                Some((count, times)) => (count, self.number(at + count.len() + 1, times, 1)?),
                None => (item, 1),
            };
            let count = self.number(at, count, 1)?;
            if counts.len() + times > CPUS_MAX {
                return Err(self.wrong(at, &format!("more than {CPUS_MAX} counts")));
            }
            counts.extend(std::iter::repeat_n(count, times));
            at += item.len() + 1;
        }
        Ok(counts)
    }

    fn order(&self, at: usize, text: &str) -> Result<Order, TopologyError> {
        match text {
            "cores" => Ok(Order::Cores),
            "threads" => Ok(Order::Threads),
            "nodes" => Ok(Order::Nodes),
            _ => Err(self.wrong(at, &format!("{text:?} is no order; use cores, threads or nodes"))),
        }
    }

    fn listed(&self, at: usize, text: &str) -> Result<Listed, TopologyError> {
        let cpus = CpuSet::parse_list(text);
        let cpus = cpus.map_err(|error| TopologyError::spec_cpus(self.spec, at, error))?;
        Ok(Listed { cpus, at })
    }

    fn build(&self) -> Result<Machine, TopologyError> {
        let places = self.places()?;
        let all = CpuSet::first_n(places.len() as u32);
        for listed in [&self.offline, &self.absent, &self.isolated] {
            let strange = listed.cpus.difference(&all);
            if !strange.is_empty() {
                let why = format!("CPU {strange} is not in a machine of {} CPUs", places.len());
                return Err(self.wrong(listed.at, &why));
            }
        }
        let present = all.difference(&self.absent.cpus);
        let online = present.difference(&self.offline.cpus);
        if online.is_empty() {
            let at = self.offline.at.max(self.absent.at);
            return Err(self.wrong(at, "no CPU is left online; leave one out of offline and absent"));
        }
        let mut nodes = grouped(&places, |place| place.node);
        nodes.resize(self.nodes + self.memory_nodes, CpuSet::new());
        let nodes = nodes
            .into_iter()
            .zip(0..)
            .map(|(cpus, id)| Node { id: NodeId(id), cpus: cpus.intersection(&online) });
        Ok(Machine {
            offline: present.difference(&online),
            isolated: self.isolated.cpus.intersection(&online),
            nodes: nodes.collect(),
            cores: online_groups(&grouped(&places, |place| place.core), &online),
            caches: online_groups(&grouped(&places, |place| place.cache), &online),
            online,
        })
    }

    /// Every hardware thread, in the order of CPU numbers.
    fn places(&self) -> Result<Vec<Place>, TopologyError> {
        let mut places = Vec::new();
        let (mut cache, mut core) = (0, 0);
        for node in 0..self.nodes {
            let node_start = places.len();
            for _ in 0..in_turn(&self.caches, node) {
                for _ in 0..in_turn(&self.cores, cache) {
                    for thread in 0..in_turn(&self.threads, core) {
                        let in_node = places.len() - node_start;
                        places.push(Place { node, cache, core, thread, in_node });
                        if places.len() > CPUS_MAX {
                            return Err(self.wrong(0, &format!("more than {CPUS_MAX} CPUs")));
                        }
                    }
                    core += 1;
                }
                cache += 1;
            }
        }
        match self.order {
            Order::Cores => {}
            Order::Threads => places.sort_by_key(|place| place.thread),
            Order::Nodes => places.sort_by_key(|place| place.in_node),
        }
        Ok(places)
    }
}

fn in_turn(counts: &[usize], index: usize) -> usize {
    counts.get(index % counts.len().max(1)).copied().unwrap_or(1)
}

/// CPU sets by the number that `group` gives each place.
fn grouped(places: &[Place], group: impl Fn(&Place) -> usize) -> Vec<CpuSet> {
    let count = places.iter().map(|place| group(place) + 1).max().unwrap_or(0);
    let mut sets = vec![CpuSet::new(); count];
    for (cpu, place) in (0..).zip(places) {
        sets[group(place)].insert(CpuId(cpu));
    }
    sets
}

fn online_groups(sets: &[CpuSet], online: &CpuSet) -> Vec<CpuSet> {
    let mut groups = Groups::default();
    for set in sets {
        groups.claim(&set.intersection(online));
    }
    groups.finish(online)
}

#[cfg(test)]
mod tests;
