//! Which rows there are, and in which order their cells are measured.

use cmwq::{Scope, Topology};

use super::Runs;
use super::args::{Arguments, Producers};
use super::cell::{Cell, Mode, Policy, Shape};
use crate::bench::machine;

/// All cells of one run of every row should take about this long, without the caller's `--items`.
const BUDGET_MS: u64 = 66_000;
/// What a cell takes beside its measured part: a process, calibration, warm-up, sorting.
const OVERHEAD_MS: u64 = 90;
const TIME_MS_MIN: u64 = 60;
const TIME_MS_MAX: u64 = 400;
/// All producers together queue no more, without the caller's `--items`: a second's worth.
const ITEMS_MAX: u64 = 4_000_000;
/// The absolute figure is judged with this many workers, and with each of these numbers of producers.
pub(super) const FEW_WORKERS: u32 = 2;
pub(super) const FEW_WORKERS_PRODUCERS: [u32; 2] = [1, 8];

/// What is measured.
pub(super) struct Plan {
    pub(super) rows: Vec<RowPlan>,
    pub(super) runs: usize,
    /// Every scope asked for in the kernel's order, with the first one that has the same pods.
    pub(super) scopes: Vec<ScopePlan>,
}

/// One row.
#[derive(Clone, Debug)]
pub(super) struct RowPlan {
    pub(super) cell: Cell,
    /// Rows of one group are measured one after another in each run, and compared.
    pub(super) group: usize,
    /// The pods of its scope.
    pub(super) pods: usize,
    /// Whether no pod holds two CPUs.
    pub(super) is_unshared: bool,
}

/// One scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScopePlan {
    pub(super) scope: Scope,
    pub(super) same_pods_as: Option<Scope>,
}

impl Plan {
    pub(super) fn new(arguments: &Arguments, topology: &Topology) -> Plan {
        let scopes = scopes(topology, &arguments.scopes);
        let mut builder = Builder { arguments, topology, rows: Vec::new(), group: 0 };
        builder.regular_rows(&scopes);
        builder.rows_with_few_workers(&scopes);
        let mut plan = Plan { rows: builder.rows, runs: arguments.runs as usize, scopes };
        let time = plan.time_ms();
        for row in plan.rows.iter_mut().filter(|_| arguments.items.is_none()) {
            row.cell.time_ms = Some(time);
        }
        plan
    }

    /// How many processes.
    pub(super) fn cells(&self) -> usize {
        self.rows.len() * self.runs
    }

    fn time_ms(&self) -> u64 {
        let each = BUDGET_MS / (self.cells() as u64).max(1);
        each.saturating_sub(OVERHEAD_MS).clamp(TIME_MS_MIN, TIME_MS_MAX)
    }

    /// The rows in the order in which a run measures them: group by group, another shape first in each run. What is
    /// not the engine comes last in its group, as the plain queue is given as many workers as the engine used.
    pub(super) fn order(&self, run: usize) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.rows.len());
        let groups = self.rows.chunk_by(|a, b| a.group == b.group);
        for group in groups {
            let first = order.len();
            let shapes = group.iter().filter(|row| row.cell.shape.is_of_engine()).count();
            order.extend((0..shapes).map(|index| first + (index + run) % shapes));
            order.extend(first + shapes..first + group.len());
        }
        order
    }

    /// How many workers the engine used in the row and run that the plain queue's row is compared with.
    pub(super) fn engine_workers(&self, index: usize, run: usize, runs: &Runs) -> Option<u32> {
        let group = self.rows[index].group;
        let is_baseline = |row: &RowPlan| row.group == group && row.cell.shape == Shape::UnderLock;
        let baseline = self.rows.iter().position(is_baseline)?;
        runs[baseline][run].as_ref().map(|measured| measured.workers.max(1))
    }
}

/// What stands beside the engine's shapes: where threads sleep a plain queue, where they spin no queue at all.
const fn beside(policy: Policy) -> Shape {
    match policy {
        Policy::Spin => Shape::HandOver,
        Policy::Park => Shape::Condvar,
    }
}

/// The scopes asked for (all if none is named) in the kernel's order, each with the first one before it that groups
/// the CPUs in the same way.
pub(super) fn scopes(topology: &Topology, asked: &[Scope]) -> Vec<ScopePlan> {
    let mut plans: Vec<ScopePlan> = Vec::new();
    for scope in Scope::ALL.into_iter().filter(|scope| asked.is_empty() || asked.contains(scope)) {
        let is_same = |other: Scope| {
            let cpus = |scope| topology.pods(scope).iter().map(|pod| &pod.cpus);
            cpus(scope).eq(cpus(other))
        };
        let firsts = plans.iter().filter(|plan| plan.same_pods_as.is_none());
        let same_pods_as = firsts.map(|plan| plan.scope).find(|other| is_same(*other));
        plans.push(ScopePlan { scope, same_pods_as });
    }
    plans
}

struct Builder<'a> {
    arguments: &'a Arguments,
    topology: &'a Topology,
    rows: Vec<RowPlan>,
    group: usize,
}

impl Builder<'_> {
    fn regular_rows(&mut self, scopes: &[ScopePlan]) {
        let distinct: Vec<Scope> =
            scopes.iter().filter(|plan| plan.same_pods_as.is_none()).map(|plan| plan.scope).collect();
        for policy in Policy::ALL {
            for producers in self.producers() {
                for (index, scope) in distinct.iter().enumerate() {
                    for shape in Shape::ENGINE {
                        self.push(*scope, shape, policy, producers, self.arguments.workers);
                    }
                    let is_last = index + 1 == distinct.len();
                    if is_last && self.arguments.mode() == Mode::One {
                        self.push(*scope, beside(policy), policy, producers, self.arguments.workers);
                    }
                    self.group += 1;
                }
            }
        }
    }

    /// The rows of the absolute figure, unless others were asked for or they are there.
    fn rows_with_few_workers(&mut self, scopes: &[ScopePlan]) {
        let is_wanted = self.arguments.judge || !self.arguments.is_narrowed();
        let widest = scopes.iter().rfind(|plan| plan.same_pods_as.is_none());
        let Some(widest) = widest.filter(|_| is_wanted && self.arguments.mode() == Mode::One) else { return };
        for producers in FEW_WORKERS_PRODUCERS {
            let is_there =
                self.arguments.workers == Some(FEW_WORKERS) && self.producers().contains(&producers);
            if !is_there {
                for shape in [Shape::Inbox, Shape::HandOver] {
                    self.push(widest.scope, shape, Policy::Spin, producers, Some(FEW_WORKERS));
                }
                self.group += 1;
            }
        }
    }

    /// Each number once.
    fn producers(&self) -> Vec<u32> {
        let here = machine::cpus_here(self.topology).len().max(1) as u32;
        let mut numbers = Vec::new();
        for producers in &self.arguments.producers {
            let number = match producers {
                Producers::Count(count) => *count,
                Producers::PerCpu => here,
            };
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        numbers
    }

    fn push(&mut self, scope: Scope, shape: Shape, policy: Policy, producers: u32, workers: Option<u32>) {
        let arguments = self.arguments;
        let pods = self.topology.pods(scope);
        let cell = Cell {
            source: arguments.source.clone(),
            scope: scope.name().to_owned(),
            shape,
            mode: arguments.mode(),
            policy,
            cover: arguments.cover,
            claim: arguments.claim.to_owned(),
            producers,
            items: arguments.items.unwrap_or(ITEMS_MAX / u64::from(producers)),
            time_ms: None,
            workers,
        };
        let is_unshared = pods.iter().all(|pod| pod.cpus.len() == 1);
        self.rows.push(RowPlan { cell, group: self.group, pods: pods.len(), is_unshared });
    }
}

#[cfg(test)]
mod tests;
