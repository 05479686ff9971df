//! What the cgroups of a process leave it: a set of CPUs and a share of their time.
//!
//! Both versions are read, also side by side. A limit on time may sit on any ancestor, so the
//! tightest up to the top of the mount counts; ancestors above a container's mount cannot be seen.
//! A set of CPUs is read from the group itself, or from the nearest ancestor that has one: the
//! kernel has already narrowed it to what the ancestors allow, and an ancestor's own effective set
//! can be the smaller one, where CPUs were handed down to a partition.
//!
//! Paths in `proc/self/cgroup` and roots in `proc/self/mountinfo` are both relative to the reader's
//! cgroup namespace and may begin with `..`; what matters is the way from one to the other.

use std::path::{Path, PathBuf};

use super::cpu_set::CpuSet;
use super::files::{Files, Spelling};
use super::quota::Quota;

const EFFECTIVE_V2: [(&str, Spelling); 1] = [("cpuset.cpus.effective", Spelling::List)];
const EFFECTIVE_V1: [(&str, Spelling); 2] =
    [("cpuset.effective_cpus", Spelling::List), ("cpuset.cpus", Spelling::List)];
/// The kernel's period where a group does not name one.
const PERIOD_US: u64 = 100_000;

/// The limits found; `None` where there is none.
#[derive(Debug, Default)]
pub(super) struct Limits {
    pub(super) cpuset: Option<(CpuSet, PathBuf)>,
    pub(super) quota: Option<Quota>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// A line of `proc/self/cgroup`.
struct Membership<'a> {
    version: Version,
    controllers: Vec<&'a str>,
    path: Steps,
}

/// A mounted hierarchy.
struct Mount {
    version: Version,
    controllers: Vec<String>,
    /// What part of the hierarchy is seen.
    root: Steps,
    /// Where, the root of the tree included.
    point: PathBuf,
}

/// A path as steps up from where it starts and names to go down from there.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Steps {
    up: usize,
    names: Vec<String>,
}

/// Reads the limits of the process that `root`'s `proc/self` describes.
pub(super) fn read(root: &Path, files: &mut Files) -> Limits {
    let proc_self = root.join("proc/self");
    let path = proc_self.join("cgroup");
    let Some(text) = files.long_text(&path) else {
        files.note(path, "not there; no limit of a cgroup is applied");
        return Limits::default();
    };
    let mounts = match files.long_text(&proc_self.join("mountinfo")) {
        Some(text) => mounts(root, &text),
        None => usual_mounts(root),
    };
    let mut limits = Limits::default();
    for membership in text.lines().filter_map(Membership::parse) {
        match membership.version {
            Version::Two => {
                let dirs = membership.dirs("", &mounts, files);
                limits.tighten(dirs.iter().filter_map(|dir| quota_v2(dir, files)));
                limits.set_cpus(&dirs, &EFFECTIVE_V2, files);
            }
            Version::One => {
                if membership.controllers.contains(&"cpu") {
                    let dirs = membership.dirs("cpu", &mounts, files);
                    limits.tighten(dirs.iter().filter_map(|dir| quota_v1(dir, files)));
                }
                if membership.controllers.contains(&"cpuset") {
                    let dirs = membership.dirs("cpuset", &mounts, files);
                    limits.set_cpus(&dirs, &EFFECTIVE_V1, files);
                }
            }
        }
    }
    limits
}

impl Limits {
    fn tighten(&mut self, quotas: impl Iterator<Item = Quota>) {
        for quota in quotas {
            self.quota = Some(self.quota.map_or(quota, |other| other.tighter(quota)));
        }
    }

    /// Takes the set of the nearest group that has one; two hierarchies with sets leave what both
    /// allow.
    fn set_cpus(&mut self, dirs: &[PathBuf], names: &[(&str, Spelling)], files: &mut Files) {
        let nearest = dirs.iter().find_map(|dir| {
            let cpus = files.cpus(dir, names).filter(|cpus| !cpus.is_empty())?;
            Some((cpus, dir.join(names[0].0)))
        });
        let Some((cpus, path)) = nearest else { return };
        let both = match &self.cpuset {
            Some((other, _)) => cpus.intersection(other),
            None => cpus,
        };
        self.cpuset = Some((both, path));
    }
}

impl<'a> Membership<'a> {
    /// Reads `4:cpu,cpuacct:/path` or, of version 2, `0::/path`.
    fn parse(line: &'a str) -> Option<Self> {
        let mut parts = line.splitn(3, ':');
        let (id, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        let version = if id == "0" && controllers.is_empty() { Version::Two } else { Version::One };
        Some(Membership { version, controllers: controllers.split(',').collect(), path: Steps::parse(path) })
    }

    /// The directories of the group and its ancestors, the group first, as far as a mount shows
    /// them.
    fn dirs(&self, controller: &str, mounts: &[Mount], files: &mut Files) -> Vec<PathBuf> {
        let is_same = |mount: &&Mount| {
            mount.version == self.version
                && (self.version == Version::Two || mount.controllers.iter().any(|name| name == controller))
        };
        let mut ways = mounts.iter().filter(is_same).map(|mount| (mount, mount.root.way_to(&self.path)));
        let Some(first) = ways.next() else {
            return Vec::new();
        };
        // The longest way shows the most ancestors.
        let (mount, way) = ways.fold(first, |best, other| {
            let length = |way: &Way| match way {
                Way::Names(names) => names.len() + 2,
                Way::Unnamed => 1,
                Way::Elsewhere => 0,
            };
            if length(&other.1) > length(&best.1) { other } else { best }
        });
        match way {
            Way::Names(names) => {
                let leaf = names.iter().fold(mount.point.clone(), |dir, name| dir.join(name));
                leaf.ancestors().take(names.len() + 1).map(Path::to_owned).collect()
            }
            Way::Unnamed => {
                let why = "mounted from outside the cgroup namespace";
                files.note(&mount.point, format!("{why}; only the limits of its top are applied"));
                vec![mount.point.clone()]
            }
            Way::Elsewhere => {
                files.note(
                    &mount.point,
                    "does not hold the cgroup of the process; its limits are not applied",
                );
                Vec::new()
            }
        }
    }
}

/// How to get from the top of a mount to a group.
#[derive(Debug, PartialEq, Eq)]
enum Way {
    /// Down through these names.
    Names(Vec<String>),
    /// Down, but by names that the namespace hides.
    Unnamed,
    /// Not by going down.
    Elsewhere,
}

impl Steps {
    fn parse(path: &str) -> Steps {
        let mut steps = Steps { up: 0, names: Vec::new() };
        for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
            match part {
                ".." if steps.names.pop().is_none() => steps.up += 1,
                ".." => {}
                name => steps.names.push(name.to_owned()),
            }
        }
        steps
    }

    fn way_to(&self, group: &Steps) -> Way {
        if self.up > group.up && self.names.is_empty() {
            return Way::Unnamed;
        }
        match group.names.strip_prefix(self.names.as_slice()) {
            Some(names) if self.up == group.up => Way::Names(names.to_vec()),
            _ => Way::Elsewhere,
        }
    }
}

/// Reads `36 25 0:31 /root /point rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct` and its
/// like.
fn mounts(root: &Path, mountinfo: &str) -> Vec<Mount> {
    let of_line = |line: &str| {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let (seen, point) = (unescape(place.next()?), unescape(place.next()?));
        let mut kind = kind.split(' ');
        let version = match kind.next()? {
            "cgroup" => Version::One,
            "cgroup2" => Version::Two,
            _ => return None,
        };
        let options = kind.nth(1).unwrap_or_default();
        Some(Mount {
            version,
            controllers: options.split(',').map(str::to_owned).collect(),
            root: Steps::parse(&seen),
            point: below(root, &point),
        })
    };
    mountinfo.lines().filter_map(of_line).collect()
}

/// Where hierarchies are mounted by custom; for trees that hold no `mountinfo`.
fn usual_mounts(root: &Path) -> Vec<Mount> {
    let top = Steps { up: 0, names: Vec::new() };
    let mount = |version, controller: &str, point: &str| Mount {
        version,
        controllers: vec![controller.to_owned()],
        root: top.clone(),
        point: root.join(point),
    };
    vec![
        mount(Version::Two, "", "sys/fs/cgroup"),
        mount(Version::One, "cpu", "sys/fs/cgroup/cpu"),
        mount(Version::One, "cpuset", "sys/fs/cgroup/cpuset"),
    ]
}

/// An absolute path taken below another root, which it cannot leave.
fn below(root: &Path, path: &str) -> PathBuf {
    let names = Steps::parse(path).names;
    names.iter().fold(root.to_owned(), |dir, name| dir.join(name))
}

/// Undoes `\040`, the kernel's spelling of bytes that would break a line of `mountinfo` apart.
fn unescape(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match (code, part.get(3..)) {
            (Some(code), Some(rest)) if code.is_ascii() => {
                plain.push(char::from(code));
                plain.push_str(rest);
            }
            _ => {
                plain.push('\\');
                plain.push_str(part);
            }
        }
    }
    plain
}

/// Reads `150000 100000` or `max 100000`.
fn quota_v2(dir: &Path, files: &mut Files) -> Option<Quota> {
    let path = dir.join("cpu.max");
    let text = files.text(&path)?;
    let mut words = text.split(is_padding).filter(|word| !word.is_empty());
    let time = words.next();
    if time == Some("max") {
        return None;
    }
    let period = words.next().map_or(Some(PERIOD_US), |word| word.parse().ok());
    let quota = time
        .and_then(|time| time.parse().ok())
        .zip(period)
        .and_then(|(time, period)| Quota::new(time, period));
    if quota.is_none() {
        files.note(path, "neither max nor two numbers above zero; no quota is taken from it");
    }
    quota
}

/// Reads the pair of files of version 1; -1 is no limit.
fn quota_v1(dir: &Path, files: &mut Files) -> Option<Quota> {
    let path = dir.join("cpu.cfs_quota_us");
    let text = files.text(&path)?;
    let time = text.trim_matches(is_padding).parse::<i64>();
    if time == Ok(-1) {
        return None;
    }
    let period = match files.text(&dir.join("cpu.cfs_period_us")) {
        Some(text) => text.trim_matches(is_padding).parse().ok(),
        None => Some(PERIOD_US),
    };
    let time = time.ok().and_then(|time| u64::try_from(time).ok());
    let quota = time.zip(period).and_then(|(time, period)| Quota::new(time, period));
    if quota.is_none() {
        files.note(path, "this and the period are not two numbers above zero; no quota is taken from them");
    }
    quota
}

fn is_padding(c: char) -> bool {
    c.is_ascii_whitespace() || c == '\0'
}

#[cfg(test)]
mod tests;
