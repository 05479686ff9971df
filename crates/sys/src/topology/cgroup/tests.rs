use super::*;

fn names(path: &str) -> Vec<String> {
    path.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

#[test]
fn the_way_from_a_mount_to_a_group() {
    for (mount, group, way) in [
        ("/", "/", Way::Names(vec![])),
        ("/", "/a/b", Way::Names(names("a/b"))),
        ("/docker/x", "/docker/x", Way::Names(vec![])),
        ("/docker/x", "/docker/x/inner", Way::Names(names("inner"))),
        ("/docker/x", "/docker/xy", Way::Elsewhere),
        ("/docker/x", "/", Way::Elsewhere),
        ("/../..", "/../../a/b", Way::Names(names("a/b"))),
        ("/../..", "/../a", Way::Unnamed),
        ("/..", "/", Way::Unnamed),
        ("/", "/../sibling", Way::Elsewhere),
        ("/../sibling", "/", Way::Elsewhere),
        ("/a/../b", "/b/c", Way::Names(names("c"))),
    ] {
        let found = Steps::parse(mount).way_to(&Steps::parse(group));
        assert_eq!(found, way, "from {mount} to {group}");
    }
}

#[test]
fn names_in_mountinfo_are_unescaped() {
    for (text, plain) in [
        ("/plain", "/plain"),
        (r"/with\040space", "/with space"),
        (r"/back\134slash", r"/back\slash"),
        (r"/end\", r"/end\"),
        (r"/odd\9zz", r"/odd\9zz"),
        ("/odd\\04é", "/odd\\04é"),
    ] {
        assert_eq!(unescape(text), plain);
    }
}

#[test]
fn memberships_of_both_versions() {
    let two = Membership::parse("0::/user.slice/a:b").expect("version 2");
    assert!(two.version == Version::Two);
    assert_eq!(two.path.names, ["user.slice", "a:b"]);
    let one = Membership::parse("4:cpu,cpuacct:/x").expect("version 1");
    assert!(one.version == Version::One);
    assert_eq!(one.controllers, ["cpu", "cpuacct"]);
    assert!(Membership::parse("9:name=systemd").is_none());
}

#[test]
fn mounts_stay_below_the_root_of_the_tree() {
    let line = "30 25 0:26 / /../../sys/fs/cgroup rw - cgroup2 cgroup rw\n7 1 - cgroup2\nnonsense";
    let mounts = mounts(Path::new("/tree"), line);
    let points: Vec<&Path> = mounts.iter().map(|mount| mount.point.as_path()).collect();
    assert_eq!(points, [Path::new("/tree/sys/fs/cgroup")]);
}
