//! No descriptor is to be had. Alone in its process, whose limit it changes.

use cmwq::completion::{Capacity, ring};
use std::io::ErrorKind;

#[test]
fn without_a_descriptor_there_is_an_error() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the place is valid.
    assert_eq!(unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) }, 0);
    let none = libc::rlimit { rlim_cur: 0, rlim_max: limit.rlim_max };
    // SAFETY: as above.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const none) }, 0);
    let refused = ring::<u32>(Capacity::Bounded(1));
    // SAFETY: as above.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) }, 0);
    let error = refused.expect_err("no descriptor");
    assert_ne!(error.kind(), ErrorKind::Interrupted);
    let text = error.to_string();
    assert!(text.contains("eventfd") && text.contains("open files"), "{text}");
    let (ring, mut receiver) = ring(Capacity::Bounded(1)).expect("now there is one");
    ring.post(1).unwrap();
    assert_eq!(receiver.take_blocking(), Some(1));
}
