//! Creating the engine's threads.

use std::cell::Cell;
use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::thread::{Builder, JoinHandle};

/// Creates a named thread that starts with every signal blocked, so that the program's handlers run on the
/// program's own
/// threads. Blocks for the time of the system call (20-30 us). The name is cut to 15 bytes by the system.
///
/// # Errors
/// The system's, when no thread can be created; `body` has then not run and is dropped.
pub fn spawn(name: String, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    // An interpreter has no signals.
    let old = (!cfg!(miri)).then(block_signals);
    let result = Builder::new().name(name).spawn(body);
    if let Some(old) = old {
        restore_signals(&old);
    }
    result
}

fn block_signals() -> libc::sigset_t {
    let mut all = MaybeUninit::<libc::sigset_t>::uninit();
    let mut old = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigfillset initialises the set it is given.
    unsafe { libc::sigfillset(all.as_mut_ptr()) };
    // SAFETY: both sets are valid for the call; it cannot fail with these arguments.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), old.as_mut_ptr()) };
    // SAFETY: pthread_sigmask has filled the old set.
    unsafe { old.assume_init() }
}

fn restore_signals(old: &libc::sigset_t) {
    // SAFETY: the set is valid for the call; no old set is asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, old, std::ptr::null_mut()) };
}

/// Lets the calling thread's timed sleeps end as exactly as the system can (the default is up to 50 us late). Never
/// blocks.
pub fn sleep_exactly() {
    // An interpreter does not know the call.
    if !cfg!(miri) {
        // SAFETY: the call takes a number and changes nothing but the calling thread's slack.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    }
}

/// The number by which the system knows the calling thread; the first call of a thread is a system call. In a child
/// of a fork it is that of the thread in the parent that forked.
pub fn number() -> u32 {
    thread_local! {
        static NUMBER: Cell<u32> = const { Cell::new(0) };
    }
    let mut number = NUMBER.get();
    if number == 0 {
        number = rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned();
        NUMBER.set(number);
    }
    number
}

/// How the system schedules a thread in real time, and its priority: it runs before every thread of the normal policy
/// and before those of a lower priority. On Linux 1 is the lowest priority and 99 the highest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchedPolicy {
    /// SCHED_FIFO: it runs until it sleeps.
    Fifo(u8),
    /// SCHED_RR: those of one priority take turns.
    RoundRobin(u8),
}

impl SchedPolicy {
    /// The priority.
    pub const fn priority(self) -> u8 {
        let (SchedPolicy::Fifo(priority) | SchedPolicy::RoundRobin(priority)) = self;
        priority
    }
}

impl fmt::Display for SchedPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SchedPolicy::Fifo(priority) => write!(f, "SCHED_FIFO {priority}"),
            SchedPolicy::RoundRobin(priority) => write!(f, "SCHED_RR {priority}"),
        }
    }
}

/// Puts the calling thread under this policy. Threads that it creates inherit it. Never blocks.
///
/// # Errors
/// The system's: that it is not permitted, or that the priority is out of [`priorities`].
pub fn set_policy(policy: SchedPolicy) -> io::Result<()> {
    match policy {
        SchedPolicy::Fifo(priority) => set_scheduler(libc::SCHED_FIFO, priority),
        SchedPolicy::RoundRobin(priority) => set_scheduler(libc::SCHED_RR, priority),
    }
}

/// The policy of the calling thread, if it is one in real time. Never blocks.
pub fn policy() -> Option<SchedPolicy> {
    // SAFETY: a structure of integers, for which zeros are valid.
    let mut parameter: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: the parameter is valid for the call; 0 is the calling thread.
    unsafe { libc::sched_getparam(0, &mut parameter) };
    let priority = parameter.sched_priority as u8;
    // SAFETY: the call takes a number.
    match unsafe { libc::sched_getscheduler(0) } & !libc::SCHED_RESET_ON_FORK {
        libc::SCHED_FIFO => Some(SchedPolicy::Fifo(priority)),
        libc::SCHED_RR => Some(SchedPolicy::RoundRobin(priority)),
        _ => None,
    }
}

/// The priorities that the system knows for real time: on Linux 1 to 99.
pub fn priorities() -> std::ops::RangeInclusive<u8> {
    // SAFETY: the call takes a number.
    let least = unsafe { libc::sched_get_priority_min(libc::SCHED_FIFO) };
    // SAFETY: as above.
    let most = unsafe { libc::sched_get_priority_max(libc::SCHED_FIFO) };
    least as u8..=most as u8
}

/// Puts the calling thread under SCHED_FIFO with this priority, or back under the normal policy with 0. Threads that it
/// creates inherit the policy. Never blocks.
///
/// # Errors
/// The system's: mostly that it is not permitted.
pub fn set_fifo(priority: u8) -> io::Result<()> {
    set_scheduler(if priority == 0 { libc::SCHED_OTHER } else { libc::SCHED_FIFO }, priority)
}

fn set_scheduler(policy: libc::c_int, priority: u8) -> io::Result<()> {
    // SAFETY: a structure of integers, for which zeros are valid.
    let mut parameter: libc::sched_param = unsafe { std::mem::zeroed() };
    parameter.sched_priority = priority.into();
    // SAFETY: the parameter is valid for the call; 0 is the calling thread.
    match unsafe { libc::sched_setscheduler(0, policy, &parameter) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
