//! What is explored: how many posters, what they post, and how many messages the waiter wants.

/// Messages of the largest scenario.
pub(super) const MESSAGES_MAX: usize = 6;
/// Posters of the largest scenario.
pub(super) const POSTERS_MAX: usize = 3;

/// One call of a poster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Post {
    /// Whether the waiter is to wake for it at once.
    pub(super) forced: bool,
    /// How many messages it posts in one step; none: it closes the ring.
    pub(super) length: u8,
}

impl Post {
    /// Whether it closes the ring instead.
    pub(super) const fn closes(self) -> bool {
        self.length == 0
    }
}

/// Scenarios of one shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Group {
    /// Two posters with two posts each.
    TwoByTwo,
    /// Three posters with one post each.
    ThreeByOne,
    /// Two posters, one of which posts two messages at once.
    Chain,
    /// Two posters, one of which closes the ring after its post.
    Close,
}

impl Group {
    /// Every shape.
    pub const ALL: [Group; 4] = [Group::TwoByTwo, Group::ThreeByOne, Group::Chain, Group::Close];

    /// Its name on command lines.
    pub const fn name(self) -> &'static str {
        match self {
            Group::TwoByTwo => "2x2",
            Group::ThreeByOne => "3x1",
            Group::Chain => "chain",
            Group::Close => "close",
        }
    }

    /// The shape with this name.
    pub fn named(name: &str) -> Option<Group> {
        Group::ALL.into_iter().find(|g| g.name() == name)
    }

    /// How many messages each call posts, poster by poster.
    const fn lengths(self) -> &'static [&'static [u8]] {
        match self {
            Group::TwoByTwo => &[&[1, 1], &[1, 1]],
            Group::ThreeByOne => &[&[1], &[1], &[1]],
            Group::Chain => &[&[2], &[1, 1]],
            Group::Close => &[&[1, 0], &[1]],
        }
    }

    /// Every scenario of the shape: each mix of forced and lazy posts (posters that do the same are alike), each need,
    /// without a deadline and with one that may pass once.
    pub fn scenarios(self) -> Vec<Scenario> {
        let lengths = self.lengths();
        let calls: u32 = lengths.iter().map(|p| p.len() as u32).sum();
        let mut mixes: Vec<Vec<Vec<Post>>> = Vec::new();
        for bits in 0..1u32 << calls {
            let mut call = 0;
            let mut post = |&length: &u8| {
                call += 1;
                Post { forced: bits >> (call - 1) & 1 == 1, length }
            };
            let mix: Vec<Vec<Post>> = lengths.iter().map(|p| p.iter().map(&mut post).collect()).collect();
            let key = |p: &Vec<Post>| p.iter().map(|p| (p.length, p.forced)).collect::<Vec<_>>();
            // Of mixes that differ only in which poster does what, the one whose posters are in order.
            let closes_by_force = mix.iter().flatten().any(|p| p.closes() && p.forced);
            let alike = mix.windows(2).any(|two| two[0].len() == two[1].len() && key(&two[0]) > key(&two[1]));
            if !alike && !closes_by_force {
                mixes.push(mix);
            }
        }
        let mut scenarios = Vec::new();
        for timeouts in 0..=1 {
            for need in 1..=3 {
                scenarios.extend(mixes.iter().map(|mix| Scenario { need, timeouts, posters: mix.clone() }));
            }
        }
        scenarios
    }
}

/// One scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// How many messages the waiter waits for.
    pub(super) need: u8,
    /// How often the waiter's deadline may pass.
    pub(super) timeouts: u8,
    /// What each poster posts.
    pub(super) posters: Vec<Vec<Post>>,
}

impl Scenario {
    /// Its name: what each poster posts (`F` forced, `l` lazy, a digit for several at once, `C` closes), the need
    /// and the deadline.
    pub fn name(&self) -> String {
        let post = |p: &Post| {
            let letter = match (p.closes(), p.forced) {
                (true, _) => return "C".to_owned(),
                (_, true) => "F",
                _ => "l",
            };
            if p.length > 1 { format!("{}{letter}", p.length) } else { letter.to_owned() }
        };
        let posters: Vec<String> = self.posters.iter().map(|p| p.iter().map(post).collect()).collect();
        let deadline = if self.timeouts > 0 { "+deadline" } else { "" };
        format!("{}/{}{deadline}", posters.join("-"), self.need)
    }

    /// The number of the first message of a call.
    pub(super) fn message(&self, poster: usize, call: usize) -> u8 {
        let before = self.posters[..poster].iter().flatten().chain(&self.posters[poster][..call]);
        before.map(|p| p.length).sum()
    }

    /// Who posts a message.
    pub(super) fn poster_of(&self, message: u8) -> usize {
        (0..self.posters.len())
            .rev()
            .find(|&p| self.message(p, 0) <= message)
            .expect("messages begin at zero")
    }

    /// Messages altogether.
    pub(super) fn messages(&self) -> u8 {
        self.posters.iter().flatten().map(|p| p.length).sum()
    }

    /// Whether the waiter is to wake for this message at once.
    pub(super) fn is_forced(&self, message: u8) -> bool {
        let poster = self.poster_of(message);
        let calls = &self.posters[poster];
        let call = (0..calls.len()).rev().find(|&c| self.message(poster, c) <= message);
        calls[call.expect("the poster posts it")].forced
    }
}
