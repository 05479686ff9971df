use super::*;

fn seam(arguments: &[&str]) -> SeamArguments {
    use clap::Parser;
    #[derive(Parser)]
    struct Whole {
        #[command(flatten)]
        seam: SeamArguments,
    }
    let all = std::iter::once("seam").chain(arguments.iter().copied());
    Whole::try_parse_from(all).expect("the arguments are right").seam
}

#[test]
fn an_unknown_name_is_answered_with_those_there_are() {
    let text = |e: Failure| e.to_string();
    let config = configs(&seam(&["--config", "nowhere"])).map_err(text).expect_err("there is none");
    assert!(config.contains("two-on-one") && config.lines().count() == 1, "{config}");
    let variant = variants(&seam(&["--variant", "nothing"])).map_err(text).expect_err("there is none");
    assert!(variant.contains("no-recheck") && variant.lines().count() == 1, "{variant}");
    let claim = claims(&seam(&["--claim", "nobody"])).map_err(text).expect_err("there is none");
    assert!(claim.contains("kicked"), "{claim}");
}

#[test]
fn a_sound_configuration_and_a_broken_driver_are_both_expected() {
    assert!(matches!(run_seam(&seam(&["--config", "two-on-one"])), Ok(Outcome::Expected)));
    assert!(matches!(run_seam(&seam(&["--variant", "no-recheck", "--trace"])), Ok(Outcome::Expected)));
}

#[test]
fn a_broken_driver_that_is_not_found_is_unexpected() {
    let arguments = seam(&["--variant", "recall-reversed", "--config", "two-on-one"]);
    assert!(matches!(run_seam(&arguments), Ok(Outcome::Unexpected)));
}
