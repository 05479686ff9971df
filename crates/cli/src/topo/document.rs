//! The JSON document of `cmwq topo`.

use cmwq_sys::topology::{CpuSet, Scope, Topology};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

/// Changes whenever a reader of older documents would go wrong.
const SCHEMA: &str = "cmwq-topo/1";

/// The form of the document, for the help text.
pub(crate) const DOCUMENT_FORM: &str = "\
The JSON document holds
  schema   \"cmwq-topo/1\"
  cpus     the CPUs that may be used
  scopes   for each of cpu, smt, cache_shard, cache, numa, system its pods, each a list of CPUs
  quota    the limit on CPU time as a number of CPUs, such as 1.5, or null
  ignored  what was passed over while reading: path and why";

/// What is written, in this order.
#[derive(Serialize)]
pub(crate) struct Document<'a> {
    schema: &'static str,
    /// The usable CPUs.
    cpus: Vec<u32>,
    scopes: Scopes<'a>,
    /// CPUs' worth of time, or null without a limit.
    quota: Option<f64>,
    ignored: Vec<Ignored>,
}

struct Scopes<'a>(&'a Topology);

#[derive(Serialize)]
struct Ignored {
    path: String,
    why: String,
}

/// The document that describes a topology.
pub(crate) fn of(topology: &Topology) -> Document<'_> {
    let ignored = topology.ignored().iter();
    Document {
        schema: SCHEMA,
        cpus: numbers(topology.cpus()),
        scopes: Scopes(topology),
        quota: topology.quota().map(|quota| quota.cpus()),
        ignored: ignored
            .map(|note| Ignored { path: note.path.display().to_string(), why: note.why.clone() })
            .collect(),
    }
}

impl Serialize for Scopes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(Scope::ALL.len()))?;
        for scope in Scope::ALL {
            let pods: Vec<Vec<u32>> = self.0.pods(scope).iter().map(|pod| numbers(&pod.cpus)).collect();
            map.serialize_entry(scope.name(), &pods)?;
        }
        map.end()
    }
}

fn numbers(cpus: &CpuSet) -> Vec<u32> {
    cpus.iter().map(|cpu| cpu.0).collect()
}
