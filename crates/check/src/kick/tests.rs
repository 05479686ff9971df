use super::shipped::Shipped;
use super::world::World;
use super::*;

/// Every design with every floor, where all of them are small.
fn reports(setup: Setup) -> Vec<Report> {
    let each =
        Variant::ALL.into_iter().flat_map(|variant| (0..3).map(move |floor| Rules::new(variant, floor)));
    each.map(|rules| explore(setup, rules, Bounds::default())).collect()
}

#[test]
fn every_cell_of_the_small_setups_comes_out_as_written_down() {
    for report in [Setup::PAIR, Setup::ORDERED].into_iter().flat_map(reports) {
        let Report { setup, rules, .. } = &report;
        assert!(report.complete, "{setup:?} {rules:?}");
        for property in Property::ALL {
            let expected = expected(setup, rules, property).expect("both setups are of the table");
            let holds = report.violation(property).is_none();
            assert_eq!(
                holds,
                expected.holds,
                "{} {rules:?}: {}: {}",
                setup.name,
                property.id(),
                expected.reason
            );
        }
    }
}

#[test]
fn real_time_pools_hold_nothing_back_and_others_do() {
    let small = |variant| explore(Setup::SMALL, Rules::new(variant, 2), Bounds::default());
    assert_eq!(small(Variant::CmwqRt).violations, []);
    let coalesce = small(Variant::CmwqCoalesce);
    assert_eq!(coalesce.violations.iter().map(|v| v.property).collect::<Vec<_>>(), [Property::NotHeldBack]);
}

#[test]
fn a_worker_is_woken_after_it_was_freed_only_where_nobody_holds_a_reference() {
    let rules = Rules { reference: false, ..Rules::new(Variant::DeferredOwn, 1) };
    let report = explore(Setup::SMALL, rules, Bounds::default());
    assert!(report.violation(Property::NoWakeOfDead).is_some());
    assert_eq!(report.violation(Property::NoStranded), None);
}

#[test]
fn every_situation_is_reached_by_every_design() {
    for variant in Variant::ALL {
        let mut reached = Vec::new();
        for setup in [Setup::PAIR, Setup::ORDERED] {
            for floor in 0..3 {
                reached.extend(explore(setup, Rules::new(variant, floor), Bounds::default()).reached);
            }
        }
        let missed: Vec<Twin> = Twin::ALL.into_iter().filter(|twin| !reached.contains(twin)).collect();
        assert_eq!(missed, [], "{}", variant.id());
    }
}

#[test]
fn a_setup_without_the_situation_is_told_from_one_in_which_the_promise_holds() {
    // One item and nothing to wait for: two promises hold for want of a case.
    let report = explore(Setup::LONELY, Rules::new(Variant::CmwqCoalesce, 2), Bounds::default());
    assert_eq!(report.violations, []);
    for twin in [Twin::TwoWait, Twin::Limited] {
        assert!(!report.reached.contains(&twin), "{}", twin.name());
    }
}

#[test]
fn too_little_memory_ends_an_exploration_without_a_verdict() {
    let bounds = Bounds { memory: 1 << 16, ..Bounds::default() };
    assert!(!explore(Setup::SMALL, Rules::new(Variant::DeferredOwn, 2), bounds).complete);
}

#[test]
fn equal_explorations_are_equal() {
    let explore = || explore(Setup::ORDERED, Rules::new(Variant::KickedDedup, 0), Bounds::default());
    let (first, second) = (explore(), explore());
    assert_eq!(
        (first.states, first.depth, first.violations),
        (second.states, second.depth, second.violations)
    );
}

/// Takes every way of this many steps, in search of one that breaks the promise.
fn broken_within<W: World>(setup: &Setup, rules: &Rules, property: Property, steps: usize) -> bool {
    let model = super::model::KickModel::<W>::new(*setup, *rules);
    let mut level = vec![W::boot(setup, rules)];
    for _ in 0..=steps {
        if level.iter().any(|world| model.check(property, world).is_some()) {
            return true;
        }
        let mut next = Vec::new();
        for world in &level {
            let mut choices = Vec::new();
            world.steps(setup, rules, &mut choices);
            for step in choices {
                let mut after = world.clone();
                after.advance(setup, rules, &model.reached, step);
                next.push(after);
            }
        }
        level = next;
    }
    false
}

/// Follows a trace by the names of its steps, and answers whether each led where the trace says and the end is broken.
fn replays<W: World>(setup: &Setup, rules: &Rules, trace: &Trace) -> bool {
    let model = super::model::KickModel::<W>::new(*setup, *rules);
    let mut world = W::boot(setup, rules);
    if world.line(setup) != trace.first {
        return false;
    }
    for told in &trace.steps {
        let mut choices = Vec::new();
        world.steps(setup, rules, &mut choices);
        let named = |s: &&Step| s.who == told.who && world.step_name(setup, rules, **s) == told.did;
        let Some(&step) = choices.iter().find(named) else { return false };
        world.advance(setup, rules, &model.reached, step);
        if world.line(setup) != told.state {
            return false;
        }
    }
    model.check(trace.property, &world) == Some(trace.what)
}

#[test]
fn the_ways_to_broken_promises_can_be_followed_and_none_is_shorter() {
    let mut nr_traces = 0;
    for report in [Setup::PAIR, Setup::ORDERED].into_iter().flat_map(reports) {
        let Report { setup, rules, .. } = &report;
        for trace in &report.violations {
            nr_traces += 1;
            let steps = trace.steps.len();
            let (followed, shorter) = if rules.variant.is_ours() {
                let followed = replays::<Shipped>(setup, rules, trace);
                (followed, broken_within::<Shipped>(setup, rules, trace.property, steps.min(6) - 1))
            } else {
                let followed = replays::<super::kernel::Kernel>(setup, rules, trace);
                (
                    followed,
                    broken_within::<super::kernel::Kernel>(setup, rules, trace.property, steps.min(6) - 1),
                )
            };
            assert!(followed, "{rules:?}\n{}", trace.text());
            assert!(!shorter, "{rules:?}\n{}", trace.text());
        }
    }
    assert!(nr_traces > 40, "{nr_traces}");
}

#[test]
fn a_promise_that_can_never_break_is_found_out_by_its_situation() {
    // The mutant: nobody ever queues, so that nothing can go wrong.
    let idle = Setup { submitters: 0, ..Setup::SMALL };
    for variant in [Variant::DeferredOwn, Variant::CmwqCoalesce] {
        let report = explore(idle, Rules::new(variant, 0), Bounds::default());
        assert_eq!(report.violations, []);
        for property in [Property::NoStranded, Property::NotHeldBack, Property::NoDoubleRun, Property::Order]
        {
            assert!(!report.reached.contains(&property.twin()), "{}", property.id());
        }
    }
}

#[test]
fn ids_lead_back_to_what_they_name() {
    for variant in Variant::ALL {
        assert_eq!(Variant::parse(variant.id()), Some(variant));
    }
    for property in Property::ALL {
        assert_eq!(Property::parse(property.id()), Some(property));
    }
    for setup in Setup::ALL {
        assert_eq!(Setup::named(setup.name), Some(setup));
    }
}

#[test]
fn each_rule_of_real_time_pools_is_missed_when_it_is_left_out() {
    for rule in RealTimeRule::ALL {
        let rules = Rules { without: Some(rule), ..Rules::new(Variant::CmwqRt, 2) };
        let report = explore(Setup::SMALL, rules, Bounds::default());
        let broken: Vec<Property> = report.violations.iter().map(|trace| trace.property).collect();
        assert_eq!(broken, [Property::NotHeldBack], "{rule:?}");
    }
}
