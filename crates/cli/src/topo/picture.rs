//! The picture of a machine in text.

use std::collections::BTreeSet;
use std::fmt::Write;

use cmwq_sys::topology::{CpuId, CpuSet, NodeId, Pod, Scope, Topology};

/// Lines are broken so as not to be longer, where they can be.
const COLUMNS: usize = 100;
/// Cores of a cache on one line, at most.
const CORES_PER_LINE: usize = 8;
/// Notes shown; the JSON document has all of them.
const NOTES_SHOWN: usize = 20;

/// Draws the machine, then lists the pods of every scope and what was ignored.
pub(crate) fn of(topology: &Topology) -> String {
    let mut text = summary(topology);
    text.push('\n');
    draw_machine(&mut text, topology);
    text.push('\n');
    list_pods(&mut text, topology);
    list_ignored(&mut text, topology);
    text
}

fn summary(topology: &Topology) -> String {
    let whole = topology.unlimited();
    let mut text = format!(
        "{}, {}, {}, {} online",
        counted(topology.nodes().len(), "node"),
        counted(whole.pods(Scope::Cache).len(), "cache"),
        counted(whole.pods(Scope::Smt).len(), "core"),
        counted(topology.online().len(), "CPU"),
    );
    if topology.cpus() != topology.online() {
        _ = write!(text, ", {} usable", topology.cpus().len());
    }
    if let Some(quota) = topology.quota() {
        _ = write!(text, ", quota {}", quota);
    }
    text.push('\n');
    text
}

fn counted(count: usize, noun: &str) -> String {
    match (count, noun) {
        (1, noun) => format!("1 {noun}"),
        (count, noun) => format!("{count} {noun}s"),
    }
}

fn draw_machine(text: &mut String, topology: &Topology) {
    let whole = topology.unlimited();
    let width = whole.online().last().map_or(1, |last| last.to_string().len());
    let pen = Pen { topology, width };
    for pod in whole.pods(Scope::Numa) {
        text.push_str(&node_title(pod.node));
        for cache in pods_within(&whole, Scope::Cache, &pod.cpus) {
            let cpus = cache.cpus.intersection(&pod.cpus);
            let cores = pods_within(&whole, Scope::Smt, &cpus);
            let cores = cores.map(|core| core.cpus.intersection(&cpus)).collect();
            pen.draw_cache(text, &cache.cpus, cores);
        }
    }
    for node in topology.nodes().iter().filter(|node| node.cpus.is_empty()) {
        _ = writeln!(text, "node {}  no CPU online (memory only)", node.id);
    }
    pen.explain(text);
}

/// The pods of a scope that have some of these CPUs, in the order of those.
fn pods_within<'a>(topology: &'a Topology, scope: Scope, cpus: &CpuSet) -> impl Iterator<Item = &'a Pod> {
    let indexes = cpus.iter().filter_map(|cpu| topology.pod_of(scope, cpu));
    let indexes: BTreeSet<usize> = indexes.collect();
    indexes.into_iter().map(move |index| &topology.pods(scope)[index])
}

fn node_title(node: Option<NodeId>) -> String {
    node.map_or_else(|| "no node\n".to_owned(), |id| format!("node {id}\n"))
}

struct Pen<'a> {
    topology: &'a Topology,
    /// Digits of the highest CPU.
    width: usize,
}

impl Pen<'_> {
    fn draw_cache(&self, text: &mut String, cache: &CpuSet, cores: Vec<CpuSet>) {
        let title = format!("  cache {cache}  ");
        let is_short = title.len() <= COLUMNS / 3;
        let indent = if is_short { " ".repeat(title.len()) } else { " ".repeat(4) };
        let mut lead = indent.clone();
        if is_short {
            lead = title;
        } else {
            _ = writeln!(text, "{}", title.trim_end());
        }
        for line in cores.chunks(CORES_PER_LINE) {
            let drawn: Vec<String> = line.iter().map(|core| self.core(core)).collect();
            _ = writeln!(text, "{lead}{}", drawn.join(" "));
            lead.clone_from(&indent);
        }
    }

    fn core(&self, core: &CpuSet) -> String {
        let threads: Vec<String> = core.iter().map(|cpu| self.cpu(cpu)).collect();
        format!("[{}]", threads.join(" "))
    }

    fn cpu(&self, cpu: CpuId) -> String {
        let mark = match () {
            () if !self.topology.cpus().contains(cpu) => "x",
            () if self.topology.isolated().contains(cpu) => "i",
            () => "",
        };
        format!("{:>width$}{mark}", cpu.0, width = self.width)
    }

    /// Says what the marks mean, where one was drawn, and lists who is not in the drawing.
    fn explain(&self, text: &mut String) {
        let barred = self.topology.online().difference(self.topology.cpus());
        let lists = [
            ("not allowed (x)", barred),
            ("isolated (i)", self.topology.isolated().clone()),
            ("offline", self.topology.offline().clone()),
        ];
        for (what, cpus) in lists.iter().filter(|(_, cpus)| !cpus.is_empty()) {
            _ = writeln!(text, "{what}: {cpus}");
        }
    }
}

fn list_pods(text: &mut String, topology: &Topology) {
    let lead = " ".repeat(21);
    _ = writeln!(text, "{:<13} {:>5}  CPUs of each", "scope", "pods");
    for scope in Scope::ALL {
        let pods = topology.pods(scope);
        let mark = if scope == Scope::default() { "*" } else { "" };
        let name = format!("{scope}{mark}");
        _ = write!(text, "{name:<13} {:>5}  ", pods.len());
        text.push_str(&wrapped(&pod_names(pods), &lead));
    }
    text.push_str("* the default\n");
}

fn pod_names(pods: &[Pod]) -> Vec<String> {
    if pods.len() > 1 && pods.iter().all(|pod| pod.cpus.len() == 1) {
        let all: CpuSet = pods.iter().filter_map(|pod| pod.cpus.first()).collect();
        return vec![format!("each of {all}")];
    }
    let separators = std::iter::repeat_n(" |", pods.len().saturating_sub(1)).chain([""]);
    pods.iter().zip(separators).map(|(pod, separator)| format!("{}{separator}", pod.cpus)).collect()
}

/// Words on lines that start at the column after `lead`.
fn wrapped(words: &[String], lead: &str) -> String {
    let mut text = String::new();
    let mut column = lead.len();
    for (index, word) in words.iter().enumerate() {
        if index > 0 && column + 1 + word.len() > COLUMNS {
            text.push('\n');
            text.push_str(lead);
            column = lead.len();
        } else if index > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += word.len();
    }
    text.push('\n');
    text
}

fn list_ignored(text: &mut String, topology: &Topology) {
    let notes = topology.ignored();
    if notes.is_empty() {
        return;
    }
    text.push_str("\nignored\n");
    for note in notes.iter().take(NOTES_SHOWN) {
        _ = writeln!(text, "  {note}");
    }
    if notes.len() > NOTES_SHOWN {
        _ = writeln!(text, "  and {} more; --json lists all", notes.len() - NOTES_SHOWN);
    }
}
