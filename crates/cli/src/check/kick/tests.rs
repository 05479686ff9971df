use super::*;

fn kick(arguments: &[&str]) -> KickArguments {
    use clap::Parser;
    #[derive(Parser)]
    struct Whole {
        #[command(flatten)]
        kick: KickArguments,
    }
    let all = std::iter::once("kick").chain(arguments.iter().copied());
    Whole::try_parse_from(all).expect("the arguments are right").kick
}

#[test]
fn an_unknown_name_is_answered_with_those_there_are() {
    for (option, name) in [("--variant", "deferred-own"), ("--setup", "2+1"), ("--property", "no-stranded")] {
        let failure = run(&kick(&[option, "nonsense"])).err().expect("there is none of that name");
        let text = failure.to_string();
        assert!(text.contains("nonsense") && text.contains(name) && text.lines().count() == 1, "{text}");
        assert_eq!(failure.status(), 2);
    }
}

#[test]
fn too_little_memory_is_no_verdict() {
    let outcome =
        run(&kick(&["--setup", "2+1", "--variant", "deferred-own", "--floor", "2", "--memory", "1"]));
    assert!(matches!(outcome, Ok(Outcome::Unexpected)));
}

#[test]
fn the_document_has_a_row_for_each_cell_and_the_picture_a_lane_for_each_thread() {
    let directory = tempfile::tempdir().expect("a directory for files");
    let (json, picture) = (directory.path().join("rows.json"), directory.path().join("trace.svg"));
    let mut arguments = kick(&["--setup", "2+1", "--variant", "deferred-dedup", "--floor", "2"]);
    arguments.json = Some(json.clone());
    arguments.picture = Some(picture.clone());
    assert!(matches!(run(&arguments), Ok(Outcome::Expected)));
    let text = std::fs::read_to_string(json).expect("it was written");
    let document: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let rows = document["rows"].as_array().expect("rows are a list");
    assert_eq!(rows.len(), Property::ALL.len());
    let held = rows.iter().find(|row| row["property"] == "not-held-back").expect("it is one of the rows");
    assert_eq!((&held["verdict"], &held["expected"]), (&"violated".into(), &"violated".into()));
    assert_eq!(held["trace"]["steps"].as_array().map(Vec::len), Some(2));
    let svg = std::fs::read_to_string(picture).expect("it was drawn");
    for lane in [">s0<", ">s1<"] {
        assert!(svg.contains(lane), "{svg}");
    }
}
