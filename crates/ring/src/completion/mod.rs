//! The completion ring: many posters, one receiver, and wake-ups that a stopped poster cannot hold back.

mod bell;
mod free_list;
mod post_ring;
mod poster;
mod receiver;
mod shared;

pub use bell::Bell;
pub use free_list::FreeList;
pub use post_ring::{Chain, PostRing, Taken};
pub use poster::{Place, PostError, PostRefusal, Poster, Ring};
pub use receiver::{Receiver, Waited};
pub use shared::{Capacity, ring};
