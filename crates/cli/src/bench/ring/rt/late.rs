//! Which messages were late, and whose fault it was.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Messages that took longer are late.
pub(super) const LATE: Duration = Duration::from_micros(100);
const VERY_LATE: Duration = Duration::from_millis(1);

/// A message of the sender, on the clock of all threads.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Message {
    pub(super) sent: Duration,
    /// `None`: it never came.
    pub(super) handled: Option<Duration>,
    /// Whether its post issued no wake-up of its own.
    pub(super) skipped: bool,
}

/// A post of a low poster, from before its first step until it returned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) from: Duration,
    pub(super) to: Duration,
}

/// What became of the messages.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Lateness {
    pub(super) messages: u64,
    pub(super) late_100us: u64,
    pub(super) late_1ms: u64,
    /// Of those late by 100 us or more: left to a low poster that was stopped in its post.
    pub(super) attributed: u64,
    pub(super) p999_us: f64,
    pub(super) max_us: f64,
    /// Never handled.
    pub(super) lost: u64,
}

impl Lateness {
    /// Counts. The spans are those of all low posters, in any order.
    pub(super) fn of(messages: &[Message], mut spans: Vec<Span>) -> Lateness {
        // Few posts last long enough to hold anything back.
        spans.retain(|span| span.to.saturating_sub(span.from) >= LATE / 2);
        let mut delays: Vec<Duration> = messages.iter().filter_map(delay).collect();
        delays.sort_unstable();
        let late = |limit| delays.iter().filter(|&&delay| delay > limit).count() as u64;
        let us = |delay: Option<&Duration>| delay.map_or(0.0, |delay| delay.as_nanos() as f64 / 1e3);
        Lateness {
            messages: messages.len() as u64,
            late_100us: late(LATE),
            late_1ms: late(VERY_LATE),
            attributed: messages.iter().filter(|message| is_held_back(message, &spans)).count() as u64,
            p999_us: us(delays.get(delays.len() * 999 / 1000)),
            max_us: us(delays.last()),
            lost: (messages.len() - delays.len()) as u64,
        }
    }
}

fn delay(message: &Message) -> Option<Duration> {
    Some(message.handled?.saturating_sub(message.sent))
}

/// Late, its post skipped its own wake-up, and one low post had begun before it and went on for the delay: of which the
/// last part, until the receiver runs after the wake-up, is not counted, up to half of what makes a message late.
fn is_held_back(message: &Message, spans: &[Span]) -> bool {
    let Some(handled) = message.handled else { return false };
    let is_late = handled.saturating_sub(message.sent) > LATE;
    let spans_it = |span: &Span| span.from <= message.sent && span.to + LATE / 2 >= handled;
    message.skipped && is_late && spans.iter().any(spans_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    fn attributed(sent: u64, handled: u64, skipped: bool, span: (u64, u64)) -> u64 {
        let message = Message { sent: us(sent), handled: Some(us(handled)), skipped };
        Lateness::of(&[message], vec![Span { from: us(span.0), to: us(span.1) }]).attributed
    }

    #[test]
    fn a_late_message_is_attributed_to_a_post_that_spans_its_delay() {
        assert_eq!(attributed(1000, 1500, true, (990, 1495)), 1);
        assert_eq!(attributed(1000, 1500, false, (990, 1495)), 0, "it woke the receiver itself");
        assert_eq!(attributed(1000, 1500, true, (1010, 1495)), 0, "the post began later");
        assert_eq!(attributed(1000, 1500, true, (990, 1300)), 0, "the post was over long before");
        assert_eq!(attributed(1000, 1090, true, (990, 1090)), 0, "it was not late");
    }

    #[test]
    fn thresholds_and_losses_are_counted() {
        let all = [Some(50), Some(150), Some(1500), None];
        let messages = all.map(|handled| Message { sent: us(0), handled: handled.map(us), skipped: true });
        let lateness = Lateness::of(&messages, Vec::new());
        assert_eq!((lateness.messages, lateness.lost), (4, 1));
        assert_eq!((lateness.late_100us, lateness.late_1ms, lateness.attributed), (2, 1, 0));
        assert_eq!(lateness.max_us, 1500.0);
    }
}
