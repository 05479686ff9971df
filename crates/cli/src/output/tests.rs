use super::*;

fn entries(dir: &Path) -> Vec<String> {
    let names = fs::read_dir(dir).expect("a listing").map(|entry| entry.expect("an entry").file_name());
    names.map(|name| name.to_string_lossy().into_owned()).collect()
}

#[test]
fn a_document_replaces_a_file_and_leaves_nothing_else() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("out.json");
    fs::write(&path, "old").expect("an old file");
    write_json(&JsonTarget::from(path.as_path()), &[1, 2]).expect("written");
    assert_eq!(fs::read_to_string(&path).expect("the file"), "[\n  1,\n  2\n]\n");
    assert_eq!(entries(dir.path()), ["out.json"]);
}

#[test]
fn a_path_that_cannot_be_written_is_named_and_nothing_is_left() {
    let dir = tempfile::tempdir().expect("a directory");
    for path in [dir.path().join("missing/out.json"), dir.path().to_owned(), dir.path().join("..")] {
        let failure = write_json(&JsonTarget::from(path.as_path()), &0).expect_err("not writable");
        assert!(failure.to_string().contains(&path.display().to_string()), "{failure}");
        assert_eq!(failure.to_string().lines().count(), 1);
        assert_eq!(failure.status(), 2);
    }
    assert!(entries(dir.path()).is_empty());
}

#[test]
fn devices_are_written_to_and_stay_devices() {
    write_json(&JsonTarget::from(Path::new("/dev/null")), &0).expect("written");
    assert!(!fs::metadata("/dev/null").expect("still there").is_file());
}

#[test]
fn a_link_keeps_pointing_at_the_file_that_was_replaced() {
    let dir = tempfile::tempdir().expect("a directory");
    let (real, link) = (dir.path().join("real"), dir.path().join("link"));
    fs::write(&real, "old").expect("an old file");
    std::os::unix::fs::symlink("real", &link).expect("a link");
    write_json(&JsonTarget::from(link.as_path()), &7).expect("written");
    assert_eq!(fs::read_to_string(&real).expect("the file"), "7\n");
    assert!(fs::symlink_metadata(&link).expect("the link").is_symlink());
}
