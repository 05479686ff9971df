//! The rules by which posters wake the receiver.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use cmwq_ring::sync::AtomicU32;
use cmwq_ring::{Bell, Futex, Rester};
use cmwq_sys::clock;
use cmwq_sys::eventfd::EventFd;
use cmwq_sys::futex::LinuxFutex;
use serde::{Deserialize, Serialize};

/// Who wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Rule {
    /// Every poster that finds the wake-up due and not issued issues it.
    Cmwq,
    /// A poster claims the wake-up, and others rely on it.
    Credit,
    /// As `cmwq`, but by a futex.
    HelpedFutex,
    /// What io_uring does.
    MsgRing,
}

impl Rule {
    pub(super) const ALL: [Rule; 4] = [Rule::Cmwq, Rule::Credit, Rule::HelpedFutex, Rule::MsgRing];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Rule::Cmwq => "cmwq",
            Rule::Credit => "credit",
            Rule::HelpedFutex => "helped-futex",
            Rule::MsgRing => "msg-ring",
        }
    }
}

thread_local! {
    static WINDOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static ISSUED: Cell<bool> = const { Cell::new(false) };
}

/// From now on, this thread's posts last so much longer between taking on a wake-up and issuing it.
pub(super) fn stretch(window: Duration) {
    WINDOW.set(window);
}

/// Whether this thread has issued a wake-up since it last asked.
pub(super) fn has_issued() -> bool {
    ISSUED.replace(false)
}

fn window() {
    let window = WINDOW.get();
    if !window.is_zero() {
        let until = clock::now() + window;
        while clock::now() < until {
            std::hint::spin_loop();
        }
    }
}

struct Inner {
    rule: Rule,
    eventfd: EventFd,
    /// Whether somebody has taken on the wake-up of this rest.
    claimed: AtomicBool,
    token: AtomicU32,
}

/// A bell that is rung by a rule.
#[derive(Clone)]
pub(super) struct RuleBell(Arc<Inner>);

impl RuleBell {
    pub(super) fn new(rule: Rule) -> Result<RuleBell, String> {
        let eventfd = EventFd::new().map_err(|error| format!("no eventfd: {error}"))?;
        let (claimed, token) = (AtomicBool::new(false), AtomicU32::new(0));
        Ok(RuleBell(Arc::new(Inner { rule, eventfd, claimed, token })))
    }
}

impl Bell for RuleBell {
    fn ring(&self, rester: Rester) {
        let Inner { rule, eventfd, claimed, token } = &*self.0;
        if *rule == Rule::Credit && claimed.swap(true, Ordering::SeqCst) {
            return;
        }
        window();
        match rule {
            Rule::HelpedFutex => {
                token.store(1, Ordering::SeqCst);
                LinuxFutex::wake_one(token);
            }
            Rule::Cmwq | Rule::Credit | Rule::MsgRing => eventfd.ring(rester),
        }
        ISSUED.set(true);
    }

    fn wait(&self, left: Option<Duration>) {
        let Inner { rule, eventfd, claimed, token } = &*self.0;
        if *rule == Rule::HelpedFutex {
            if token.swap(0, Ordering::SeqCst) == 0 {
                LinuxFutex::wait(token, 0, left);
                token.store(0, Ordering::SeqCst);
            }
            return;
        }
        // A claim of an earlier rest, in which the receiver did not come to wait, is not this one's.
        claimed.store(false, Ordering::SeqCst);
        eventfd.wait(left);
        // The claimed wake-up has come; the next rest's is to be had.
        claimed.store(false, Ordering::SeqCst);
    }

    fn clear(&self) {
        self.0.token.store(0, Ordering::SeqCst);
        self.0.eventfd.clear();
        self.0.claimed.store(false, Ordering::SeqCst);
    }
}
