use super::*;
use std::collections::HashSet;

/// Every order in which the steps of a few members can follow one another: each step touches one word, the word of the
/// node, the bits, or a member's mail.
mod orders {
    use super::*;

    /// A way to break the protocol that must be found.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    enum Broken {
        No,
        /// Who waits only announces itself, and does not ask again.
        NoSecondLook,
        /// Nobody looks again when somebody has announced itself meanwhile.
        TurnIgnored,
        /// A count that meets a withdrawn member is dropped.
        NotSkipped,
        /// After one count has been passed on nobody looks for the next.
        OnlyOne,
        /// The bit is set after the second look.
        BitLate,
    }

    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
    enum At {
        Idle,
        /// Takes a count for an item that has arrived.
        Take,
        SetBit,
        Wait,
        ClearOwn,
        /// Gives back a count.
        Give,
        /// Has one in hand and looks for a member from this one on.
        Look {
            turn: u32,
        },
        Quiet {
            turn: u32,
        },
        /// Has cleared a member's bit and sends it the count.
        Send {
            to: usize,
        },
        More,
    }

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct Member {
        at: At,
        /// Items that have not arrived, that wait, that are active.
        todo: u8,
        inactive: u8,
        active: u8,
        /// Counts that no item uses.
        spare: u8,
        waits: bool,
        /// Grants in its mail.
        mail: u8,
        cancels: u8,
    }

    #[derive(Clone, PartialEq, Eq, Hash, Debug)]
    struct World {
        word: NodeWord,
        bits: u64,
        from: usize,
        members: Vec<Member>,
        /// The limit that it is changed to, if it still is to be.
        next_max: Option<u32>,
    }

    impl World {
        fn new(max: u32, next_max: Option<u32>, items: &[u8], cancels: u8) -> World {
            let member = |&todo: &u8| Member {
                at: At::Idle,
                todo,
                inactive: 0,
                active: 0,
                spare: 0,
                waits: false,
                mail: 0,
                cancels,
            };
            let members = items.iter().map(member).collect();
            World { word: NodeWord::new(max), bits: 0, from: 0, members, next_max }
        }

        /// The states after each step that member `m` can take.
        fn steps(&self, m: usize, broken: Broken, out: &mut Vec<World>) {
            if self.members[m].at != At::Idle {
                let mut next = self.clone();
                next.go_on(m, broken);
                out.push(next);
                return;
            }
            let step = |f: &dyn Fn(&mut Member)| {
                let mut next = self.clone();
                f(&mut next.members[m]);
                next
            };
            let me = &self.members[m];
            // Under its pool's lock a member first uses what it has and then gives back the rest.
            if me.inactive > 0 && me.spare > 0 {
                out.push(step(&|me| {
                    (me.inactive, me.spare, me.active) = (me.inactive - 1, me.spare - 1, me.active + 1)
                }));
                return;
            }
            if me.inactive > 0 && !me.waits {
                out.push(step(&|me| me.at = At::Take));
                return;
            }
            if me.waits && me.inactive == 0 {
                let mut next = step(&|me| me.waits = false);
                next.bits &= !(1 << m);
                out.push(next);
                return;
            }
            if me.spare > 0 {
                out.push(step(&|me| (me.spare, me.at) = (me.spare - 1, At::Give)));
                return;
            }
            if me.todo > 0 {
                out.push(step(&|me| (me.todo, me.inactive) = (me.todo - 1, me.inactive + 1)));
            }
            if me.active > 0 {
                out.push(step(&|me| (me.active, me.at) = (me.active - 1, At::Give)));
            }
            if me.cancels > 0 && me.inactive > 0 {
                out.push(step(&|me| (me.cancels, me.inactive) = (me.cancels - 1, me.inactive - 1)));
            }
            if me.mail > 0 {
                out.push(step(&|me| {
                    let dropped = broken == Broken::NotSkipped && me.inactive == 0;
                    me.spare += if dropped { 0 } else { me.mail };
                    (me.mail, me.waits) = (0, false);
                }));
            }
        }

        fn go_on(&mut self, m: usize, broken: Broken) {
            let (count, from, bits) = (self.members.len(), self.from, self.bits);
            let word = &mut self.word;
            let me = &mut self.members[m];
            let passing = |p: Passing| match p {
                Passing::Done => At::Idle,
                Passing::InHand { turn } => At::Look { turn },
            };
            me.at = match me.at {
                At::Idle => unreachable!("it has something to do"),
                At::Take => match word.take(1).apply(word) {
                    0 if broken == Broken::BitLate => At::Wait,
                    0 => At::SetBit,
                    _ => {
                        me.spare += 1;
                        At::Idle
                    }
                },
                At::SetBit => {
                    self.bits |= 1 << m;
                    me.waits = true;
                    if broken == Broken::BitLate { At::Idle } else { At::Wait }
                }
                At::Wait if broken == Broken::NoSecondLook => At::Idle,
                At::Wait => match word.wait().apply(word) {
                    Waited::Got => {
                        me.spare += 1;
                        At::ClearOwn
                    }
                    Waited::Waits { .. } if broken == Broken::BitLate => At::SetBit,
                    Waited::Waits { .. } => At::Idle,
                },
                At::ClearOwn => {
                    self.bits &= !(1 << m);
                    me.waits = false;
                    At::Idle
                }
                At::Give => passing(word.give(1).apply(word)),
                At::Look { turn } => match next_in_line(count, from, |_| bits) {
                    Some(to) => {
                        self.bits &= !(1 << to);
                        self.from = to + 1;
                        At::Send { to }
                    }
                    None => At::Quiet { turn },
                },
                At::Quiet { turn } => {
                    let turn = if broken == Broken::TurnIgnored { word.turn() } else { turn };
                    passing(word.quiet(turn).apply(word))
                }
                At::Send { to } => {
                    self.members[to].mail += 1;
                    self.members[m].at = if broken == Broken::OnlyOne { At::Idle } else { At::More };
                    return;
                }
                At::More => passing(word.more().apply(word)),
            };
        }

        /// Somebody changes the limit.
        fn change(&self, out: &mut Vec<World>) {
            let Some(max) = self.next_max else { return };
            let mut next = self.clone();
            next.next_max = None;
            next.word.set_max(max).apply(&mut next.word);
            // A thread of its own goes on with `more`: a member without items.
            let mut other = self.members[0].clone();
            (other.at, other.todo, other.inactive, other.active) = (At::More, 0, 0, 0);
            (other.spare, other.waits, other.mail, other.cancels) = (0, false, 0, 0);
            next.members.push(other);
            out.push(next);
        }

        fn check(&self) {
            let held = |me: &Member| {
                let hand = matches!(me.at, At::Look { .. } | At::Quiet { .. } | At::Send { .. } | At::Give);
                u32::from(me.active + me.spare + me.mail) + u32::from(hand)
            };
            let held: u32 = self.members.iter().map(held).sum();
            assert_eq!(held, self.word.nr(), "counts are lost or made: {self:?}");
            let is_still = |me: &Member| me.at == At::Idle && me.mail == 0 && me.spare == 0;
            if self.members.iter().all(is_still) && self.members.iter().any(|me| me.waits && me.inactive > 0)
            {
                assert!(self.word.nr() >= self.word.max(), "an item waits although there is room: {self:?}");
            }
        }

        fn check_end(&self) {
            for me in &self.members {
                assert!(me.inactive == 0 && me.todo == 0, "an item waits and nobody will come: {self:?}");
            }
            assert_eq!(self.word.nr(), 0, "counts stay behind: {self:?}");
        }
    }

    fn explore(first: World, broken: Broken) -> usize {
        let limit = first.word.max().max(first.next_max.unwrap_or(0));
        let mut seen = HashSet::from([first.clone()]);
        let mut left = vec![first];
        while let Some(world) = left.pop() {
            world.check();
            assert!(world.word.nr() <= limit, "more counts than the limit: {world:?}");
            let mut next = Vec::new();
            (0..world.members.len()).for_each(|m| world.steps(m, broken, &mut next));
            world.change(&mut next);
            if next.is_empty() {
                world.check_end();
            }
            left.extend(next.into_iter().filter(|next| seen.insert(next.clone())));
        }
        seen.len()
    }

    #[test]
    fn no_hand_over_is_lost() {
        let mut states = 0;
        for items in [&[2, 2][..], &[1, 1, 1], &[2, 1, 1]] {
            for max in [1, 2] {
                states += explore(World::new(max, None, items, 0), Broken::No);
            }
        }
        assert!(states > 1000, "{states} states are too few to have seen anything");
    }

    #[test]
    fn withdrawn_members_are_skipped() {
        assert!(explore(World::new(1, None, &[2, 2], 1), Broken::No) > 1000);
        assert!(explore(World::new(1, None, &[1, 1, 1], 1), Broken::No) > 1000);
    }

    #[test]
    fn limits_change_while_members_wait() {
        for (max, next) in [(1, 2), (2, 1), (1, 3)] {
            explore(World::new(max, Some(next), &[2, 2], 0), Broken::No);
        }
    }

    #[test]
    fn broken_protocols_are_caught() {
        use Broken::*;
        for broken in [NoSecondLook, TurnIgnored, NotSkipped, OnlyOne, BitLate] {
            let caught = [(2, None), (1, None), (1, Some(3))].into_iter().any(|(max, next)| {
                let run = move || explore(World::new(max, next, &[2, 2], 1), broken);
                std::panic::catch_unwind(run).is_err()
            });
            assert!(caught, "{broken:?} was not noticed");
        }
    }
}

#[test]
fn the_line_is_a_circle() {
    let bits = |set: &'static [usize]| {
        move |at: usize| set.iter().filter(|&&m| m / 64 == at).fold(0, |b, &m| b | 1u64 << (m % 64))
    };
    assert_eq!(next_in_line(3, 0, bits(&[])), None);
    assert_eq!(next_in_line(3, 2, bits(&[0, 1])), Some(0));
    assert_eq!(next_in_line(3, 1, bits(&[0, 1])), Some(1));
    assert_eq!(next_in_line(3, 3, bits(&[1])), Some(1), "past the last one is the first one");
    assert_eq!(next_in_line(200, 100, bits(&[3, 99])), Some(3));
    assert_eq!(next_in_line(200, 100, bits(&[99, 130])), Some(130));
    assert_eq!(next_in_line(200, 100, bits(&[99])), Some(99), "behind the start in its own word");
}

#[test]
fn nobody_jumps_the_line_and_a_lowered_limit_is_kept() {
    let mut word = NodeWord::new(2);
    assert_eq!(word.take(5).apply(&mut word), 2, "as many as there are");
    assert_eq!(word.wait().apply(&mut word), Waited::Waits { first: true });
    assert_eq!(word.wait().apply(&mut word), Waited::Waits { first: false });
    word.set_max(1).apply(&mut word);
    assert_eq!(word.give(1).apply(&mut word), Passing::Done, "two were given out, one may be");
    assert!(matches!(word.give(1).apply(&mut word), Passing::InHand { .. }));
    assert_eq!(word.take(1).apply(&mut word), 0);
    word.set_max(8).apply(&mut word);
    assert_eq!(word.take(1).apply(&mut word), 0, "somebody waits");
    assert!(matches!(word.more().apply(&mut word), Passing::InHand { .. }), "and is to be served");
}
